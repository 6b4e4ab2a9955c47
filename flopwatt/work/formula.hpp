#pragma once

#include <cstdint>
#include <string_view>

#include "flopwatt/base/result.hpp"
#include "flopwatt/model/architecture.hpp"
#include "flopwatt/units/count.hpp"
#include "flopwatt/work/workload.hpp"

/// Published estimates of training FLOPs beside the exact count, and where the difference comes from.

namespace flopwatt::work {

enum class Formula : std::uint8_t {
  palm,  ///< 6N + 12·L·H·Q·T a token (Chowdhery et al., arXiv 2204.02311, appendix B)
  sixn,  ///< 6N a token (Kaplan et al., arXiv 2001.08361); N as in palm: total, or active of a mixture of experts
  /// What Megatron-LM's training loop reports (num_floating_point_operations, 2025): the products of attention, MLP,
  /// routed and shared experts and head, and half of the attention matrix.  No router; of multi-head latent attention
  /// also one FLOP-pair a norm channel.  Its approximations of linear-time layers are left out.
  megatron,
  /// 72·B·s·l·h²·(1 + s/6h + V/12lh): equation 3 of Narayanan et al. (arXiv 2104.04473) without its recomputed forward
  /// pass (with it: 96 and V/16lh).  Heads of one width, MLP of 4h, no gate, whole attention matrix.
  megatron_2021,
};
/// "palm", "6n", "megatron", "megatron-2021".
[[nodiscard]] std::string_view name(Formula formula) noexcept;

/// FLOPs of a training step, or a difference of two such, by cause; the causes add up to the whole.
struct Causes {
  units::Count embedding;  ///< a look-up, counted by 6N as if it were a product
  units::Count head;       ///< vocabulary product (a tied one has no parameters of its own: 6N holds it as embedding)
  units::Count gqa;        ///< projections of queries, keys, values and outputs
  units::Count attention;  ///< scores and values: mask, window, widths
  units::Count mlp;        ///< dense and shared feed-forward layers
  units::Count experts;    ///< routed experts and their router
  units::Count norms;      ///< norms, counted by 6N as if they were products
  units::Count other;      ///< recurrences, vision, projections outside the layers

  [[nodiscard]] units::Count sum() const noexcept;
};

struct Comparison {
  Formula formula = Formula::palm;
  units::Count formula_step;  ///< of the whole batch, all devices
  units::Count exact_step;    ///< the ledger's model FLOPs
  units::Count tokens;        ///< of the whole batch, all devices
  Causes difference;          ///< formula − exact, by cause: sums to formula_step − exact_step
};

/// Holds a formula against the exact count of the same training step (the text stack's tokens; parallelism does not
/// matter).  Errors: Errc::usage for a phase that is not training, and those of count().
[[nodiscard]] Result<Comparison> compare(const model::Architecture& architecture, const Workload& workload,
                                         Formula formula);

}  // namespace flopwatt::work
