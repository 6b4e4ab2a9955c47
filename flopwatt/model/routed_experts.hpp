#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "flopwatt/model/architecture.hpp"
#include "flopwatt/model/config_reader.hpp"
#include "flopwatt/model/module.hpp"

namespace flopwatt::model {

/// A router that sends each token to `top_k` gated feed-forwards out of `experts` (arXiv 2101.03961, 2401.04088).
struct RoutedExperts {
  std::int64_t experts = 1, top_k = 1;
  std::int64_t width = 1;  ///< of one expert
  Activation activation = Activation::silu;
  std::string_view router = "gate";         ///< the product that scores the experts
  bool router_bias = false;                 ///< added to the scores
  std::string_view selection_bias;          ///< name of the bias that only the choice of experts sees; empty: none
  std::string_view container = "experts.";  ///< where the experts' tensors stand, below the mixture's own module
  std::string_view gate = "gate_proj", up = "up_proj", down = "down_proj";  ///< no gate: two products an expert
  std::optional<std::int64_t> input;  ///< width of the experts' inputs and outputs; absent: the model's
};

/// ROUTER.weight [experts, hidden], and three tensors for each expert: CONTAINER{expert}.gate.weight, …
void routed_experts(Layer& layer, std::string_view name, const RoutedExperts& mixture);

/// How all experts stand together in two tensors.
struct FusedExperts {
  std::string_view gate_up = "experts.gate_up_proj", down = "experts.down_proj";  ///< full names below the module
  /// out_in: [experts, 2·width, hidden] and [experts, hidden, width]; in_out: the last two axes the other way round.
  Layout layout = Layout::out_in;
  bool bias = false;  ///< GATE_UP_bias [experts, 2·width] and DOWN_bias [experts, hidden]
};
void fused_routed_experts(Layer& layer, std::string_view name, const RoutedExperts& mixture, const FusedExperts& form);

/// The router alone, and the block's routing, for a layer that lists its experts itself.
void route(Layer& layer, Module& mixture_module, const RoutedExperts& mixture);

/// One weight of all experts in one tensor; k and n are those of one expert.
void expert_product(Module& module, std::string_view name, std::string_view label,
                    std::initializer_list<std::int64_t> dims, std::int64_t k, std::int64_t n);

/// Names and class defaults of a mixture's shape.
struct ExpertKeys {
  Keys experts, top_k, width;
  std::optional<std::int64_t> default_experts, default_top_k, default_width;
};
/// The shape of a mixture; fails where top_k is more than the experts.
[[nodiscard]] RoutedExperts read_routed_experts(const ConfigReader& config, const ExpertKeys& keys);

/// A feed-forward that every token goes through beside the routed ones.
void shared_expert(Layer& layer, std::string_view name, std::int64_t width, Activation activation);

/// The same weighted by a gate of its own, NAME_gate.weight [1, hidden].
void gated_shared_expert(Layer& layer, std::string_view name, std::int64_t width, Activation activation);

/// DeepSeek's rule: `mlp_layer_types`, or experts from layer `first_k_dense_replace` on in every `moe_layer_freq`-th.
[[nodiscard]] std::vector<bool> experts_behind_dense_layers(const ConfigReader& config, std::int64_t layers,
                                                            std::int64_t default_dense);
/// Qwen's rule: experts in every `decoder_sparse_step`-th layer that is not in `mlp_only_layers`.
[[nodiscard]] std::vector<bool> experts_in_sparse_steps(const ConfigReader& config, std::int64_t layers);

}  // namespace flopwatt::model
