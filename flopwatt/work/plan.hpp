#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "flopwatt/base/result.hpp"
#include "flopwatt/model/architecture.hpp"
#include "flopwatt/work/pairs.hpp"
#include "flopwatt/work/workload.hpp"

/// A workload held against an architecture: checked, with every default filled in and the share of one device worked
/// out.  What the ledger and the memory are folded from; made once a count and never kept.

namespace flopwatt::work {

/// Largest sizes that are taken; above them a count is refused instead of being wrong.  2^32 positions are a thousand
/// times the longest context in use, 2^48 tokens a hundred times the largest training run.
inline constexpr std::int64_t kMaxSequence = std::int64_t{1} << 32;
inline constexpr std::int64_t kMaxBatch = std::int64_t{1} << 32;
inline constexpr std::int64_t kMaxTokens = std::int64_t{1} << 48;

/// Exact arithmetic inside the module: bounded sizes keep it in range, and a count that is not is refused at the end.
using Integer = __int128;

/// Rounded up; neither is negative.  Divides in 64 bits where that will do: a 128-bit division is a library call.
constexpr Integer ceil_div(Integer a, Integer b) noexcept {
  if (b == 1) return a;
  const Integer sum = a + b - 1;
  constexpr Integer kWord = std::uint64_t(-1);
  if (sum <= kWord && b <= kWord) return static_cast<std::uint64_t>(sum) / static_cast<std::uint64_t>(b);
  return sum / b;
}
/// Bytes of so many elements of so many bits, rounded up.
constexpr Integer to_bytes(Integer elements, std::uint64_t bits) noexcept { return (elements * bits + 7) >> 3; }

/// Elements of all copies of a tensor; make_plan() has seen that they fit.
[[nodiscard]] inline std::int64_t stored_elements(const model::Tensor& tensor) noexcept {
  std::int64_t product = tensor.copies;
  for (std::uint8_t axis = 0; axis < tensor.rank; ++axis) product *= tensor.dims[axis];
  return product;
}

/// A stretch of work in which a stack runs the same way.
struct Run {
  enum class Kind : std::uint8_t {
    whole,   ///< one pass over whole sequences
    steps,   ///< decode steps over contexts `first` … `last` beyond each part's length
    regrow,  ///< passes over whole sequences that grow by one token each: generation without a cache
  };
  const model::Stack* stack = nullptr;
  Kind kind = Kind::whole;
  std::int64_t first = 0, last = 0;  ///< added to each part's length: steps and regrow
  std::int64_t length = 0;           ///< of each sequence, instead of the parts' own; 0: the parts' own
  Integer passes = 1;                ///< forward passes: how often the weights are read
  Integer sequences = 0;             ///< in one pass, over all of `data`
  Integer tokens = 0;                ///< rows over all passes, on one device
  Integer memory_tokens = 0;         ///< rows of the encoder's output over all passes, on one device
  Integer logits_rows = 0;           ///< rows of the vocabulary product over all passes, on one device
  /// Devices of context parallelism that repeat the same rows: those of a decode step, and those that there are one a
  /// sequence of.  Hardware work on each of them, model FLOPs once.
  std::int64_t token_repeats = 1, sequence_repeats = 1;
};

/// How tensor and expert parallelism cut one product: what the device executes and holds.
struct Cut {
  Integer k = 0, n = 0;       ///< of the product on this device
  Integer model_divisor = 1;  ///< model FLOPs of this device = whole product / this (work that is repeated counts once)
  bool sequence_split = false;  ///< not cut, but under sequence parallelism each device does its share of the rows
};

struct Plan {
  const model::Architecture* architecture = nullptr;
  const Workload* workload = nullptr;

  std::int64_t tensor_parallel = 1, pipeline = 1, replicas = 1;  ///< replicas = data · context
  std::int64_t experts_over = 1;                                 ///< expert parallel degree
  std::int64_t expert_tensor = 1;                                ///< tensor parallelism inside an expert
  bool first_stage = true, last_stage = true;
  std::int64_t stage_begin = 0, stage_end = 0;  ///< layers of the text stack on this stage

  int weight_bits = 16, activation_bits = 16, gradient_bits = 16, kv_bits = 16;
  units::Precision linear_precision = units::Precision::bfloat16;  ///< operands of the blocks' linear layers
  units::Precision other_precision = units::Precision::bfloat16;   ///< attention, head, elementwise
  const model::Quantization* quantization = nullptr;               ///< of the stored weights, where it counts

  std::int64_t encoder_length = 0;  ///< tokens of one sequence of the encoder's output; 0 without an encoder
  std::int64_t image_tokens = 0;    ///< tokens of one image in the vision stack
  bool backward = false;
  bool logits_all = false;
  std::int64_t first_trained_layer = 0;  ///< of the text stack: layers before it have no backward pass

  double products = 0;  ///< k·n of all products, experts included, over all layers: bounds the FLOPs of a token

  std::array<Run, 4> runs{};
  std::size_t run_count = 0;

  /// The untied head is all that is trained: its weight's gradient is the whole backward pass.
  [[nodiscard]] bool trains_head_alone() const noexcept {
    return backward && workload->trainable.kind == Trainable::Kind::head && !architecture->tied_embeddings;
  }
  [[nodiscard]] std::span<const Run> all_runs() const noexcept { return {runs.data(), run_count}; }
  /// Layers of a block on this device; at or after `from` (a layer of the whole stack); the first `limit` of the stage.
  [[nodiscard]] std::int64_t layers(const model::Stack& stack, std::size_t block) const noexcept;
  [[nodiscard]] std::int64_t layers_from(const model::Stack& stack, std::size_t block,
                                         std::int64_t from) const noexcept;
  [[nodiscard]] std::int64_t first_layers(const model::Stack& stack, std::size_t block,
                                          std::int64_t limit) const noexcept;
  [[nodiscard]] bool is_text(const model::Stack& stack) const noexcept { return &stack == &architecture->text(); }
  /// Whether a tensor outside the blocks lives on this stage: lookups on the first, norms and heads on the last.
  [[nodiscard]] bool here(const model::Stack& stack, const model::Tensor& tensor) const noexcept;
  [[nodiscard]] Cut cut(const model::Tensor& tensor, const model::Block* block) const noexcept {
    return tensor_parallel == 1 ? Cut{.k = tensor.k, .n = tensor.n} : cut_by_tensor_parallelism(tensor, block);
  }
  /// Parameters of a tensor on this device, one layer.
  [[nodiscard]] Integer held(const model::Tensor& tensor, const model::Block* block) const noexcept {
    if (tensor.tied && first_stage) return 0;
    const Integer whole = stored_elements(tensor);
    const Integer here = tensor.component == model::Component::experts ? whole / experts_over : whole;
    return tensor_parallel == 1 ? here : held_by_tensor_parallelism(tensor, block, here);
  }
  /// Bytes of `elements` weights of this tensor, scales of a quantised one included; layers that the checkpoint leaves
  /// unquantised are spread evenly over its block's.
  [[nodiscard]] Integer weight_bytes(const model::Tensor& tensor, const model::Block* block, Integer elements) const {
    return quantization ? quantized_bytes(tensor, block, elements) : to_bytes(elements, weight_bits);
  }

 private:
  [[nodiscard]] Cut cut_by_tensor_parallelism(const model::Tensor& tensor, const model::Block* block) const noexcept;
  [[nodiscard]] Integer held_by_tensor_parallelism(const model::Tensor& tensor, const model::Block* block,
                                                   Integer whole) const noexcept;
  [[nodiscard]] Integer quantized_bytes(const model::Tensor& tensor, const model::Block* block, Integer elements) const;
};

[[nodiscard]] Result<Plan> make_plan(const model::Architecture& architecture, const Workload& workload);

/// Σ over the sequences of the batch of f(length): f once for an even batch.
template <class F>
[[nodiscard]] Integer sum_over_sequences(const Workload& workload, std::int64_t length_of_all, F f) {
  if (workload.sequence_lengths.empty()) {
    return f(length_of_all > 0 ? length_of_all : workload.sequence) * Integer{workload.batch};
  }
  if (length_of_all > 0) return f(length_of_all) * static_cast<Integer>(workload.sequence_lengths.size());
  Integer sum = 0;
  for (const std::int64_t length : workload.sequence_lengths) sum += f(length);
  return sum;
}

}  // namespace flopwatt::work
