#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "flopwatt/libtorch/decoder.hpp"
#include "flopwatt/workload/job.hpp"

namespace flopwatt::libtorch {

/// A causal language model and its forward pass in training mode.  Throws what LibTorch throws.
class CausalLm {
 public:
  struct Options {
    at::ScalarType dtype = at::kFloat;
    at::Device device = at::kCPU;
    workload::Attention attention = workload::Attention::eager;
    workload::Recompute recompute = workload::Recompute::none;
    std::int64_t max_sequence = 0;
  };
  /// Weights are random: normal with deviation 0.02, norms one, biases zero, as the families initialise them.
  CausalLm(const Decoder& decoder, const Options& options);

  /// Logits [batch, sequence, vocabulary] of token numbers [batch, sequence].
  [[nodiscard]] at::Tensor forward(const at::Tensor& tokens) const;

  /// In the order of libtorch::parameters.
  [[nodiscard]] const std::vector<Parameter>& names() const noexcept { return names_; }
  [[nodiscard]] const std::vector<at::Tensor>& tensors() const noexcept { return tensors_; }
  [[nodiscard]] at::Tensor tensor(const std::string& name) const { return by_name_.at(name); }

 private:
  /// Tensors of a product or norm; the bias may be undefined.
  struct Pair {
    at::Tensor weight, bias;
  };
  struct Layer {
    Pair norm_1, norm_2;
    Pair qkv, q, k, v, out;  ///< qkv of GPT-2; q, k, v of Llama
    at::Tensor q_norm, k_norm;
    Pair up, gate, down;
  };

  [[nodiscard]] Pair pair(const std::string& name) const;
  [[nodiscard]] at::Tensor block(const Layer& layer, const at::Tensor& hidden) const;
  [[nodiscard]] at::Tensor self_attention(const Layer& layer, const at::Tensor& hidden) const;
  [[nodiscard]] at::Tensor mix(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) const;
  [[nodiscard]] at::Tensor feed_forward(const Layer& layer, const at::Tensor& hidden) const;
  [[nodiscard]] at::Tensor norm(const at::Tensor& hidden, const Pair& pair) const;
  [[nodiscard]] at::Tensor project(const at::Tensor& hidden, const Pair& pair) const;
  [[nodiscard]] at::Tensor activate(const at::Tensor& hidden) const;
  [[nodiscard]] at::Tensor drop(const at::Tensor& hidden, double probability) const;
  [[nodiscard]] at::Tensor rotate(const at::Tensor& heads) const;

  Decoder decoder_;
  Options options_;
  std::vector<Parameter> names_;
  std::vector<at::Tensor> tensors_;
  std::unordered_map<std::string, at::Tensor> by_name_;
  std::vector<Layer> layers_;
  at::Tensor embedding_, positions_, head_;
  Pair final_norm_;
  at::Tensor cosine_, sine_;  ///< [sequence, head_dim]
  at::Tensor mask_;           ///< [sequence, sequence], true where a query must not look
};

}  // namespace flopwatt::libtorch
