#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "flopwatt/base/result.hpp"
#include "flopwatt/units/precision.hpp"
#include "flopwatt/workload/event.hpp"
#include "flopwatt/workload/job.hpp"

/// The device that LibTorch runs on.  No LibTorch in this header.

namespace flopwatt::libtorch {

/// Chooses threads and how float32 products are run (`tf32` or not).  Failed: the device is not there, or lacks the
/// dtype.
[[nodiscard]] tl::expected<void, workload::Failed> prepare_device(const workload::Job& job);

/// Keeps a job on a CPU within the machine's memory: what does not fit fails as out_of_memory in this process, where
/// Linux would otherwise promise it, and then kill this process or another one.
void limit_memory(const workload::Place& place);

/// As the driver reports it ("NVIDIA A100-SXM4-80GB"), or as /proc/cpuinfo does; the place's own name where nobody
/// says.
[[nodiscard]] std::string device_name(const workload::Place& place);
/// "LibTorch 1.13.1".
[[nodiscard]] std::string library_version();
[[nodiscard]] std::int64_t cpu_threads();
/// Highest so far: what the device's allocator held (LibTorch 2.9 and later), or the process's resident memory.
[[nodiscard]] std::optional<std::int64_t> peak_memory_bytes(const workload::Place& place);

/// What a caught exception means; call it inside a catch block.
[[nodiscard]] workload::Failed failure_of_current_exception();

/// CLOCK_MONOTONIC.
[[nodiscard]] double monotonic_seconds();

}  // namespace flopwatt::libtorch
