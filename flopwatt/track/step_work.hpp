#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "flopwatt/base/result.hpp"
#include "flopwatt/units/count.hpp"
#include "flopwatt/units/quantity.hpp"
#include "flopwatt/work/ledger.hpp"

/// What one micro-batch of a loop computes: the numerator of every ratio that the tracker shows.

namespace flopwatt::track {

/// Work of one micro-batch (forward and backward) on one rank.  The optimizer's bytes move once a step, however many
/// micro-batches it has; its arithmetic is elementwise and in no ratio.
struct MicroBatchWork {
  units::FlopCount model_flops;                    ///< forward + backward, MFU's numerator
  std::optional<units::FlopCount> hardware_flops;  ///< with recompute and what the kernels visit; absent: no HFU
  std::optional<units::DataSize> bytes;            ///< of forward and backward; absent: no MBU
  units::DataSize optimizer_bytes;                 ///< once a step
  units::TokenCount slots;                         ///< positions that the tensors hold
  std::string origin;                              ///< "ledger, counting 1"; "6·N·tokens, N = 7e9"
};

/// Of a ledger of one micro-batch on one rank: work::count of a training workload whose batch is the micro-batch.
[[nodiscard]] MicroBatchWork work_of(const work::Ledger& ledger);

/// A parameter count as a running program sees it.  Wrapped by FSDP or ZeRO-3 a rank holds `local` of
/// `local` · `shards` parameters; reading the shard for the model makes MFU `shards` times too small.
struct ParameterCount {
  units::Count local;
  std::int64_t shards = 1;
};
/// 6·N·tokens of training (arXiv 2001.08361, section 2.1), for a loop whose model has no config: an estimate without
/// attention, and labelled as one.  Errors: Errc::usage for a count, shards or tokens that are not positive.
[[nodiscard]] Result<MicroBatchWork> work_of_parameters(const ParameterCount& parameters, std::int64_t tokens);

/// Whether a count that a program sees can be the model's.  Errc::usage where it is not; a count that goes a whole
/// number of times into the model's is named as the shard that it probably is.
[[nodiscard]] Result<void> check_parameters(units::Count of_model, units::Count seen);

}  // namespace flopwatt::track
