#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/model/architecture.hpp"
#include "flopwatt/units/count.hpp"
#include "flopwatt/units/precision.hpp"
#include "flopwatt/work/workload.hpp"

/// The ledger: what one step (or pass) executes, one row an operator class.  MFU, HFU, MBU, memory, step time and power
/// are folds over it; nothing else in flopwatt counts FLOPs.

namespace flopwatt::work {

enum class ByteKind : std::uint8_t { weights, gradients, optimizer, activations, logits, kv_cache };
inline constexpr std::size_t kByteKindCount = 6;
/// "weights", "gradients", …
[[nodiscard]] std::string_view name(ByteKind kind) noexcept;

/// What sort of kernel a row is: decides which efficiency and which power coefficients apply to it.
enum class OpClass : std::uint8_t {
  linear,       ///< dense product with trainable weights
  experts,      ///< grouped product over routed tokens
  attention,    ///< scores and values, and the scores of a sparse index
  recurrence,   ///< state update of a linear-time layer
  lm_head,      ///< the vocabulary product
  elementwise,  ///< norms, rotary, softmax, activations, residuals, look-ups
  optimizer,
};
inline constexpr std::size_t kOpClassCount = 7;
/// "linear", "experts", …
[[nodiscard]] std::string_view name(OpClass op) noexcept;

enum class Pass : std::uint8_t { forward, backward, recompute, update };
[[nodiscard]] std::string_view name(Pass pass) noexcept;

/// Conventions of a row:
///  - A backward row carries the m, k, n of its forward product and stands for its gradient products, the activation's
///    [m × n]·[n × k] and the weight's [k × m]·[m × n]: `activation_gradient` and `weight_gradient` say which of them
///    run, and `executions` counts both.
///  - Routed experts are taken as evenly loaded: m is the rows of one expert (rounded up), min(experts, rows) of them
///    run, and only those weights are read.  FLOPs are exact, not m·k·n of the rounded m.
///  - An attention row is scores and values together: m queries and n keys of one sequence, k the head's width, one
///    execution a head.  Multi-head latent attention runs expanded in training and prefill ("…mla_expanded") and
///    absorbed into the latent in decode ("…mla_absorbed").
///  - A recurrence's model FLOPs are its contractions with the state, a token and layer: 4·channels·state for Mamba 1
///    and 2 and RWKV (rank-1 update, read-out), 6·heads·key·value for the gated delta rule (recall, update, read-out).
///    Decay and discretisation are elementwise.
///  - Rows without work on this device are left out.
struct Row {
  OpClass op = OpClass::linear;
  Pass pass = Pass::forward;
  model::Component component = model::Component::other;
  units::Precision precision = units::Precision::bfloat16;  ///< of the operands of the product
  bool activation_gradient = false, weight_gradient = false;
  std::string_view label;  ///< "attention.q", "mlp.gate", "attention.core"; static storage
  /// One execution is [m × k]·[k × n]; 0 where the row is no product.
  std::int64_t m = 0, k = 0, n = 0;
  units::Count executions;         ///< how often it runs in the step: layers, experts, heads, decode steps
  units::Count model_flops;        ///< in the MFU numerator
  units::Count hardware_flops;     ///< what the kernels execute: products only
  units::Count elementwise_flops;  ///< under its own heading, in neither numerator
  std::array<units::Count, kByteKindCount> bytes_read{}, bytes_written{};

  [[nodiscard]] units::Count read(ByteKind kind) const noexcept { return bytes_read[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] units::Count written(ByteKind kind) const noexcept {
    return bytes_written[static_cast<std::size_t>(kind)];
  }
};

struct Bytes {
  std::array<units::Count, kByteKindCount> by_kind{};
  units::Count total;

  [[nodiscard]] units::Count operator[](ByteKind kind) const noexcept {
    return by_kind[static_cast<std::size_t>(kind)];
  }
};

/// Sums over the rows, exact.
struct Totals {
  units::Count forward, backward, step;  ///< model FLOPs; step = forward + backward
  units::Count hardware_step;
  /// Model FLOPs, a partition of `forward`: scores and values; vocabulary product; everything else.
  units::Count attention_forward, lm_head_forward, body_forward;
  units::Count elementwise;
  Bytes bytes;          ///< read + written
  units::Count tokens;  ///< positions the pass computes: batch × sequence, or new tokens (decode, generate)
};

class Ledger {
 public:
  Ledger() = default;
  /// `tokens` are the positions that the rows compute.
  Ledger(std::vector<Row> rows, units::Count tokens);
  [[nodiscard]] const std::vector<Row>& rows() const noexcept { return rows_; }
  [[nodiscard]] units::Count tokens() const noexcept { return totals_.tokens; }
  [[nodiscard]] const Totals& totals() const noexcept { return totals_; }

 private:
  friend class LedgerMaker;  // knows the sums already
  std::vector<Row> rows_;
  Totals totals_;
};

/// The ledger of one step or pass, of one device of the plan: the devices of a stage share its work evenly, and their
/// shares sum to the whole.  Errors: Errc::usage for a size that is not positive or too large (`where` names the
/// option, "--seq"), or a phase that the architecture does not have; Errc::infeasible for a parallel degree that does
/// not divide; Errc::bad_data for an architecture that contradicts itself.
[[nodiscard]] Result<Ledger> count(const model::Architecture& architecture, const Workload& workload);

/// Bytes resident at the peak of the step, on one device of the plan.
///  - weights, gradients, optimizer: the device's share under tensor, pipeline and expert parallelism and ZeRO.
///  - activations: what the forward pass keeps for the backward one, after Korthikanti et al. (arXiv 2205.05198),
///    equations 1–6: the inputs of every product, norm and nonlinearity, Q, K, V, and in eager attention the scores.
///    Of a GPT layer that is s·b·h·(34 + 5·a·s/h) bytes in 16 bits.  Generalised by the same rule: K and V count the
///    key-value heads; a gated MLP keeps gate, up and their product; experts keep top_k routed copies.  Blocks with a
///    plain MLP are taken to train with dropout, as there (masks of one byte); gated ones without.
///    Selective recompute and fused attention (sdpa, flash) keep no scores; full recompute keeps a layer's input only.
///  - logits: in training the product's output, the fp32 log-probabilities that the cross-entropy keeps, and their
///    fp32 gradient; in inference the output.
///  - kv_cache: at the end of the pass (generate: prompt + new_tokens − 1 positions), windows and chunks bounded.
///  - workspace: what lives for a moment only: one layer's activations while full recompute rebuilds it; in inference
///    the residual stream and the widest operation's operands.
struct Memory {
  units::Count weights, gradients, optimizer, activations, logits, kv_cache, workspace, total;
};
[[nodiscard]] Result<Memory> memory(const model::Architecture& architecture, const Workload& workload);

/// All of a step at once: what a search over plans asks for, cheaper than one after the other.
struct StepCount {
  Ledger ledger;
  Totals totals;  ///< of the ledger
  Memory memory;
};
[[nodiscard]] Result<StepCount> count_step(const model::Architecture& architecture, const Workload& workload);

/// KV cache that one more token of context takes, all layers of the text stack, in bytes (windows not yet full).
/// A recurrent state takes none.
[[nodiscard]] units::Count kv_cache_bytes_per_token(const model::Architecture& architecture,
                                                    units::Precision precision);
/// Recurrent and convolutional state of one sequence, all layers, in bytes: the same at any length.
[[nodiscard]] units::Count state_bytes_per_sequence(const model::Architecture& architecture,
                                                    units::Precision precision);

/// Published estimates, for comparison: training FLOPs a token.  N is the total (the active parameters of a mixture of
/// experts).  PaLM (arXiv 2204.02311, appendix B): 6N + 12·L·H·Q·T.
[[nodiscard]] units::Count palm_flops_per_token(const model::Architecture& architecture, std::int64_t sequence);
[[nodiscard]] units::Count sixn_flops_per_token(const model::Architecture& architecture);

}  // namespace flopwatt::work
