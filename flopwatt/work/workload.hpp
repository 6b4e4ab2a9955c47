#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/units/precision.hpp"

/// What is run on a model, and the conventions it is counted by.

namespace flopwatt::work {

enum class Phase : std::uint8_t {
  train,     ///< forward, backward, optimizer: one optimizer step over batch × sequence tokens
  prefill,   ///< forward over the prompt
  decode,    ///< one new token a sequence; it attends to `sequence` positions, itself the last of them
  generate,  ///< prompt of `sequence` tokens, then `new_tokens` of them, with or without a KV cache
  encode,    ///< one pass of an encoder
};

/// Which query-key pairs the model FLOPs of attention count.  A decode step has no mask: its one query sees every
/// position it may, in each of the conventions.
enum class MaskConvention : std::uint8_t {
  full,         ///< S², PaLM's convention, the default; a window, chunk or index bounds the keys of each query
  causal,       ///< S(S+1)/2: the pairs a causal mask leaves
  causal_half,  ///< S²/2: for comparison with sources that halve
};

/// How elementwise work and the optimizer reach memory.
enum class Execution : std::uint8_t {
  fused,  ///< every operand crosses the bus once: the least that must move, and what MBU counts
  eager,  ///< one kernel an operator, as a framework runs without a compiler: what really moves, and what power sees
};

/// The attention kernel that really runs: decides the pairs and products of the hardware FLOPs, and the memory.
enum class Kernel : std::uint8_t {
  eager,  ///< every pair, scores in memory, backward of four products
  sdpa,   ///< fused; skips the causal half, but a window or chunk is a mask over every pair; backward of five products
  flash,  ///< fused; visits the pairs that the mask leaves (whole tiles not rounded up); backward of five products
};

enum class Recompute : std::uint8_t { none, selective, full };
enum class Logits : std::uint8_t { all, last };
/// What the linear layers' FLOPs are counted from: the products themselves, or two FLOPs for every body parameter.
enum class BodyCount : std::uint8_t { products, parameters };
enum class Optimizer : std::uint8_t { adamw, adamw_8bit, sgd, sgd_momentum, none };

/// The words of the command line: "train", "causal-half", "flash", "selective", "last", "parameters", "adamw-8bit", …
[[nodiscard]] std::string_view name(Phase value) noexcept;
[[nodiscard]] std::string_view name(MaskConvention value) noexcept;
[[nodiscard]] std::string_view name(Kernel value) noexcept;
[[nodiscard]] std::string_view name(Recompute value) noexcept;
[[nodiscard]] std::string_view name(Logits value) noexcept;
[[nodiscard]] std::string_view name(BodyCount value) noexcept;
[[nodiscard]] std::string_view name(Optimizer value) noexcept;

/// Which weights are trained.  The rule of frozen weights works layer by layer: nothing before the first layer that
/// holds a trained weight has a backward pass; from there on a frozen product has its activation gradient only and a
/// trained one both.
struct Trainable {
  enum class Kind : std::uint8_t { all, lora, head, none };
  Kind kind = Kind::all;
  std::int64_t lora_rank = 0;
  /// Last part of the module name: "q_proj"; empty: all linear layers of the blocks but routers.
  std::vector<std::string> lora_targets;
};

/// Reads "all", "head", "none", "lora:r=16" or "lora:r=16,targets=q_proj+v_proj" (targets also separated by ',').
/// Errors: Errc::usage, where "--trainable".
[[nodiscard]] Result<Trainable> parse_trainable(std::string_view text);

/// How the work is split.  Every degree divides what it splits, or the plan is infeasible.
/// A stage of the pipeline has tensor · data · context devices; the experts are spread over `expert` of them.
struct Parallel {
  std::int64_t tensor = 1, pipeline = 1, data = 1, context = 1, expert = 1;
  bool sequence = false;   ///< sequence parallelism beside tensor parallelism
  int zero = 0;            ///< ZeRO stage 0–3 over `data`
  std::int64_t stage = 0;  ///< the pipeline stage whose device is asked about, 0 the first
  /// Layers of each stage where they are not equal; empty: layers / pipeline each.
  std::vector<std::int64_t> stage_layers;
  /// Micro-batches whose activations a device holds at the peak (1F1B: pipeline − stage, at most the micro-batches).
  std::int64_t in_flight = 1;
};

struct Workload {
  Phase phase = Phase::train;
  /// Sequences in the pass (for train: in the step, or in the micro-batch that is asked about), over all of `data`.
  std::int64_t batch = 1;
  /// Tokens a sequence really holds, those of its images included; decode: positions attended, the new one included;
  /// generate: prompt.
  std::int64_t sequence = 0;
  std::int64_t new_tokens = 0;  ///< generate only
  /// Tokens of the encoder side of an encoder-decoder; 0: its position table's length, or `sequence` without one.
  std::int64_t encoder_sequence = 0;
  bool kv_cache = true;                        ///< generate only
  std::vector<std::int64_t> sequence_lengths;  ///< packed or ragged: replaces batch and sequence
  std::optional<std::int64_t> image_width, image_height;
  std::int64_t images = 0;  ///< images a sequence; 0: the vision stack does not run

  /// Of weights, activations and gradients.  Below 16 bits: of the weights and of the operands of the blocks' linear
  /// layers; attention, head, norms and everything stored between them stay in bfloat16.
  units::Precision precision = units::Precision::bfloat16;
  std::optional<units::Precision> kv_precision;        ///< absent: `precision`
  std::optional<units::Precision> gradient_precision;  ///< absent: `precision`, at least 16 bits
  /// Of the operands of the blocks' linear layers and experts, where it differs (fp8 training); absent: `precision`.
  std::optional<units::Precision> linear_precision;
  /// Of stored weights.  Absent: where no quantised weight is trained (inference, adapters) the checkpoint's own
  /// quantisation; otherwise `precision`.
  std::optional<units::Precision> weight_precision;
  units::Precision optimizer_precision = units::Precision::float32;  ///< of the optimizer's states
  bool master_weights = false;  ///< an fp32 copy of 16-bit weights is kept and updated
  Optimizer optimizer = Optimizer::adamw;

  MaskConvention mask = MaskConvention::full;
  Kernel kernel = Kernel::sdpa;
  Execution execution = Execution::fused;
  Recompute recompute = Recompute::none;
  std::optional<std::int64_t> recompute_layers;  ///< full recompute of the first this many layers only
  std::optional<Logits> logits;                  ///< absent: all in training and encode, last otherwise
  BodyCount body = BodyCount::products;
  Trainable trainable;
  double capacity_factor = 0;  ///< mixture of experts: > 0 pads every expert to this multiple of its even share
  Parallel parallel;
};

}  // namespace flopwatt::work
