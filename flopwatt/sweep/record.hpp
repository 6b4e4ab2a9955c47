#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "flopwatt/base/result.hpp"
#include "flopwatt/units/count.hpp"

/// What a store holds.  Plain numbers in base units, as the columns are named.

namespace flopwatt::sweep {

enum class RunState : std::uint8_t {
  running,      ///< a process measures it, or was killed while it did
  finished,     ///< converged or capped
  failed,       ///< a reason lies in the configuration, the workload or the device: not tried again unasked
  interrupted,  ///< by a signal or a time-out of the caller: taken up again by the next call
};
[[nodiscard]] std::string_view name(RunState state) noexcept;
[[nodiscard]] std::optional<RunState> parse_run_state(std::string_view text) noexcept;

/// Why a run ended as it did.
namespace reason {
inline constexpr std::string_view kConverged = "converged";
inline constexpr std::string_view kCapped = "capped";
inline constexpr std::string_view kOutOfMemory = "out_of_memory";
inline constexpr std::string_view kUnsupported = "unsupported";
inline constexpr std::string_view kWorkloadError = "error";         ///< the workload said so
inline constexpr std::string_view kCrashed = "crashed";             ///< it ended by a signal or without a word
inline constexpr std::string_view kProtocol = "protocol";           ///< it said what nobody understands
inline constexpr std::string_view kTimedOut = "timed_out";          ///< the plan's limit for one run
inline constexpr std::string_view kNoPeak = "no_peak";              ///< nothing to normalise by
inline constexpr std::string_view kWrongTensors = "wrong_tensors";  ///< tokens that its tensors cannot have held
inline constexpr std::string_view kSignal = "signal";               ///< Ctrl-C or SIGTERM
inline constexpr std::string_view kKilled = "killed";               ///< found running by a later call
}  // namespace reason

/// One run: a configuration measured once.
struct RunRecord {
  std::int64_t id = 0;  ///< in this store
  std::string uid;      ///< the same in every store that it is copied to
  std::string configuration;
  std::int64_t repeat = 1;
  RunState state = RunState::running;
  std::string reason, detail;
  std::string host;
  double begin_unix_seconds = 0, end_unix_seconds = 0;

  // What the workload said when it was ready; empty and 0 before.
  std::string device_name, library;
  std::int64_t threads = 0, tensor_batch = 0, tensor_sequence = 0, parameters = 0;

  // One optimizer step, counted for what the tensors held.
  units::Count step_flops, hardware_flops, step_bytes, step_tokens;
  std::int64_t layers = 0, heads = 0, head_width = 0;
  /// What the library's own observer saw in one step, and whether attention ran as one kernel; absent: nobody looked.
  std::optional<std::int64_t> executed_flops, fused_attention;

  // What normalises it.
  double peak_flops_per_second = 0;
  std::string peak_source;  ///< "measured: …", "stated", "catalogue: A100-SXM4-80GB, tensor_dense, …"
  std::optional<double> bandwidth_bytes_per_second;

  std::string power_source, power_kind, power_scope;  ///< "synthetic", "computed", "none"; "nvml", "average", "device"
};

/// One sample of a run.
struct SampleRecord {
  std::int64_t number = 0;  ///< of the run, from 1
  std::int64_t life = 1;    ///< of the workload's process: counts the times the run was taken up again
  double begin_unix_seconds = 0, wall_seconds = 0;
  std::int64_t steps = 0, tokens = 0;
  double device_seconds = 0;
  double mfu = 0, hfu = 0;
  std::optional<double> mbu;
  std::optional<std::int64_t> peak_memory_bytes;
  std::optional<double> power_watts, energy_joules, energy_uncertainty_joules;
  std::string power_method;   ///< "counter", "power_integral", "computed"; empty where there is no power
  std::string power_missing;  ///< why there is none
  std::optional<double> utilization, memory_utilization;  ///< fractions
  std::optional<double> temperature_celsius;

  bool operator==(const SampleRecord&) const = default;
};

/// One reading of the idle device, before the first run.
struct IdleRecord {
  std::string host, device_name;
  double begin_unix_seconds = 0, seconds = 0;
  std::optional<double> power_watts;
  std::string power_missing;
  std::optional<double> utilization, memory_utilization, temperature_celsius;
  std::string power_source, power_kind, power_scope;
};

/// A ceiling that was measured as a peak.
struct CeilingRecord {
  std::string host, device_name, dtype, library;
  double flops_per_second = 0, bytes_per_second = 0;
  std::int64_t matrix_size = 0, copy_bytes = 0;
};

}  // namespace flopwatt::sweep
