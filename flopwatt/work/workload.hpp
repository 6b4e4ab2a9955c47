#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/units/precision.hpp"

/// What is run on a model, and the conventions it is counted by.

namespace flopwatt::work {

enum class Phase : std::uint8_t {
  train,     ///< forward, backward, optimizer: one optimizer step over batch × sequence tokens
  prefill,   ///< forward over the prompt
  decode,    ///< one new token a sequence, `sequence` positions in the cache already (the new one not counted)
  generate,  ///< prompt of `sequence` tokens, then `new_tokens` of them, with or without a KV cache
  encode,    ///< one pass of an encoder
};

/// Which query-key pairs the model FLOPs of attention count.
enum class MaskConvention : std::uint8_t {
  full,         ///< S², PaLM's convention, the default
  causal,       ///< S(S+1)/2: the pairs a causal mask leaves
  causal_half,  ///< S²/2: for comparison with sources that halve
};

/// How elementwise work and the optimizer reach memory.
enum class Execution : std::uint8_t {
  fused,  ///< every operand crosses the bus once: the least that must move, and what MBU counts
  eager,  ///< one kernel an operator, as a framework runs without a compiler: what really moves, and what power sees
};

/// The attention kernel that really runs: decides the pairs and products of the hardware FLOPs, and the memory.
enum class Kernel : std::uint8_t { eager, sdpa, flash };

enum class Recompute : std::uint8_t { none, selective, full };
enum class Logits : std::uint8_t { all, last };
/// What the linear layers' FLOPs are counted from: the products themselves, or two FLOPs for every body parameter.
enum class BodyCount : std::uint8_t { products, parameters };
enum class Optimizer : std::uint8_t { adamw, adamw_8bit, sgd, sgd_momentum, none };

/// Which weights are trained.
struct Trainable {
  enum class Kind : std::uint8_t { all, lora, head, none };
  Kind kind = Kind::all;
  std::int64_t lora_rank = 0;
  std::vector<std::string>
      lora_targets;  ///< last part of the module name: "q_proj"; empty: all linear layers of the blocks
};

/// How the work is split.  Every degree divides what it splits, or the plan is infeasible.
struct Parallel {
  std::int64_t tensor = 1, pipeline = 1, data = 1, context = 1, expert = 1;
  bool sequence = false;  ///< sequence parallelism beside tensor parallelism
  int zero = 0;           ///< ZeRO stage 0–3 over `data`
};

struct Workload {
  Phase phase = Phase::train;
  std::int64_t batch =
      1;  ///< sequences in the pass (for train: in the step, or in the micro-batch that is asked about)
  std::int64_t sequence = 0;    ///< tokens a sequence really holds; decode: positions already cached; generate: prompt
  std::int64_t new_tokens = 0;  ///< generate only
  std::int64_t encoder_sequence = 0;           ///< tokens of the encoder side of an encoder-decoder; 0: its own default
  bool kv_cache = true;                        ///< generate only
  std::vector<std::int64_t> sequence_lengths;  ///< packed or ragged: replaces batch and sequence
  std::optional<std::int64_t> image_width, image_height;
  std::int64_t images = 0;

  units::Precision precision = units::Precision::bfloat16;           ///< of weights, activations and gradients
  std::optional<units::Precision> kv_precision;                      ///< absent: `precision`
  units::Precision optimizer_precision = units::Precision::float32;  ///< of the optimizer's states
  bool master_weights = false;  ///< an fp32 copy of 16-bit weights is kept and updated
  Optimizer optimizer = Optimizer::adamw;

  MaskConvention mask = MaskConvention::full;
  Kernel kernel = Kernel::sdpa;
  Execution execution = Execution::fused;
  Recompute recompute = Recompute::none;
  std::optional<std::int64_t> recompute_layers;  ///< full recompute of this many layers only
  std::optional<Logits> logits;                  ///< absent: all in training and encode, last otherwise
  BodyCount body = BodyCount::products;
  Trainable trainable;
  double capacity_factor = 0;  ///< mixture of experts: > 0 pads every expert to this multiple of its even share
  Parallel parallel;
};

}  // namespace flopwatt::work
