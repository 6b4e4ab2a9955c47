#pragma once

#include "flopwatt/work/ledger.hpp"
#include "flopwatt/work/plan.hpp"

/// What the optimizer keeps and moves.

namespace flopwatt::work {

/// Parameters that stand on one device, experts apart (they are sharded over other devices).
struct DeviceParameters {
  Integer dense = 0, experts = 0;
  Integer weight_bytes_dense = 0, weight_bytes_experts = 0;
  Integer trained_dense = 0, trained_experts = 0;
};
[[nodiscard]] DeviceParameters device_parameters(const Plan& plan);

/// Bits of optimizer state a trained parameter: AdamW two states, 8-bit AdamW two bytes (block scales left out), SGD
/// with momentum one state; and an fp32 master copy where there is one.
[[nodiscard]] std::uint64_t optimizer_bits(const Workload& workload) noexcept;

/// Over how many devices ZeRO spreads a buffer of dense parameters and of experts.
struct ZeroSpread {
  Integer dense = 1, experts = 1;
};
[[nodiscard]] ZeroSpread zero_spread(const Plan& plan, int from_stage) noexcept;

/// The row of the update: gradients and states read, states and weights written; weights read unless the master copy
/// replaces them.
[[nodiscard]] Row update_row(const Plan& plan, const DeviceParameters& held);

/// What count() and memory() do once the plan is made.
[[nodiscard]] Result<Ledger> count(const Plan& plan, const DeviceParameters& held);
[[nodiscard]] Result<Memory> memory(const Plan& plan, const DeviceParameters& held);

}  // namespace flopwatt::work
