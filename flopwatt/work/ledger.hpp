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
  attention,    ///< scores and values
  recurrence,   ///< state update of a linear-time layer
  lm_head,      ///< the vocabulary product
  elementwise,  ///< norms, rotary, softmax, activations, residuals, look-ups
  optimizer,
};

enum class Pass : std::uint8_t { forward, backward, recompute, update };

struct Row {
  OpClass op = OpClass::linear;
  Pass pass = Pass::forward;
  std::string_view
      label;  ///< "attention.q", "mlp.gate", "attention.scores"; storage of the Architecture's family tables
  model::Component component = model::Component::other;
  /// One execution is [m × k]·[k × n]; 0 where the row is no product.
  std::int64_t m = 0, k = 0, n = 0;
  units::Count executions;         ///< how often it runs in the step: layers, experts, heads
  units::Count model_flops;        ///< in the MFU numerator
  units::Count hardware_flops;     ///< what the kernels execute: products only
  units::Count elementwise_flops;  ///< under its own heading, in neither numerator
  std::array<units::Count, kByteKindCount> bytes_read{}, bytes_written{};
  units::Precision precision = units::Precision::bfloat16;
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
  units::Count attention_forward, lm_head_forward, body_forward;  ///< model FLOPs, a partition of `forward`
  units::Count elementwise;
  Bytes bytes;          ///< read + written
  units::Count tokens;  ///< positions the pass computes: batch × sequence, or new tokens
};

class Ledger {
 public:
  Ledger() = default;
  explicit Ledger(std::vector<Row> rows, units::Count tokens) : rows_{std::move(rows)}, tokens_{tokens} {}
  [[nodiscard]] const std::vector<Row>& rows() const noexcept { return rows_; }
  [[nodiscard]] units::Count tokens() const noexcept { return tokens_; }
  [[nodiscard]] Totals totals() const noexcept;

 private:
  std::vector<Row> rows_;
  units::Count tokens_;
};

/// The ledger of one step or pass.  Errors: Errc::usage for a size that is not positive, a count that overflows, or a
/// phase that the architecture does not have; Errc::infeasible for a parallel degree that does not divide.
[[nodiscard]] Result<Ledger> count(const model::Architecture& architecture, const Workload& workload);

/// Bytes resident at the peak of the step, on one device of the plan.
struct Memory {
  units::Count weights, gradients, optimizer, activations, logits, kv_cache, total;
};
[[nodiscard]] Result<Memory> memory(const model::Architecture& architecture, const Workload& workload);

/// KV cache that one more token of context takes, all layers, in bytes (windows not yet full).
[[nodiscard]] units::Count kv_cache_bytes_per_token(const model::Architecture& architecture,
                                                    units::Precision precision);

/// Published estimates, for comparison: training FLOPs a token.
[[nodiscard]] units::Count palm_flops_per_token(const model::Architecture& architecture, std::int64_t sequence);
[[nodiscard]] units::Count sixn_flops_per_token(const model::Architecture& architecture);

}  // namespace flopwatt::work
