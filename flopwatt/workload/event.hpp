#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "flopwatt/base/result.hpp"

/// What a workload's child process says (job.hpp): one line of JSON an event.
///
///   step     ready  warm  sample…  done          ceiling  ready  ceiling  done
///
/// `failed` may take the place of any of them and is the last event then.

namespace flopwatt::workload {

/// Model and data are on the device.
struct Ready {
  std::string device_name;   ///< as the library reports it: "NVIDIA A100-SXM4-80GB", "AMD EPYC 7763 64-Core Processor"
  std::string library;       ///< "LibTorch 1.13.1"
  std::int64_t threads = 1;  ///< of the CPU
  // What the tensors hold; 0 for Kind::ceiling.
  std::int64_t tensor_batch = 0;     ///< sequences of one micro-batch
  std::int64_t tensor_sequence = 0;  ///< tokens of one sequence
  std::int64_t accumulation = 0;     ///< micro-batches of one step
  std::int64_t parameters = 0;

  friend bool operator==(const Ready&, const Ready&) = default;
};

/// What the operators of one optimizer step really executed, products only, seen by the library's own observer.
struct CountedStep {
  std::int64_t forward_flops = 0, backward_flops = 0, recompute_flops = 0;
  /// The attention ran as one kernel of the library; false: as products and a softmax, scores in memory.
  bool fused_attention = false;
  std::vector<std::string> not_counted;  ///< operators that may hold products and have no formula

  friend bool operator==(const CountedStep&, const CountedStep&) = default;
};

/// The warm-up steps are done: what follows counts.
struct Warm {
  std::int64_t steps = 0;
  double seconds = 0;                  ///< from ready to warm, wall clock
  std::optional<CountedStep> counted;  ///< the first of the warm-up steps; absent: none was counted

  friend bool operator==(const Warm&, const Warm&) = default;
};

/// Whole optimizer steps, one after the other.
struct Sample {
  std::int64_t steps = 0;
  double begin_seconds = 0;   ///< CLOCK_MONOTONIC: comparable with the parent's clock on the same machine
  double end_seconds = 0;     ///< CLOCK_MONOTONIC
  double device_seconds = 0;  ///< by the device's events where it has them, else the wall clock
  std::int64_t tokens = 0;    ///< positions of all steps
  /// Highest so far: of the device's allocator, or of the process's resident memory on a CPU.  Absent: not known.
  std::optional<std::int64_t> peak_memory_bytes;

  friend bool operator==(const Sample&, const Sample&) = default;
};

/// The best rates seen, over the sizes tried.
struct Ceiling {
  double flops_per_second = 0;  ///< of a square matrix product
  std::int64_t matrix_size = 0;
  double bytes_per_second = 0;  ///< of a copy within the device's memory: bytes read and bytes written
  std::int64_t copy_bytes = 0;  ///< read by one copy

  friend bool operator==(const Ceiling&, const Ceiling&) = default;
};

struct Failed {
  enum class Reason : std::uint8_t {
    out_of_memory,
    unsupported,  ///< this device or library cannot do it: float16 products on a CPU, a device that is not there
    error,
    protocol,  ///< the job itself is not understood: the two programs are not of one version
  };
  Reason reason = Reason::error;
  std::string detail;

  friend bool operator==(const Failed&, const Failed&) = default;
};
[[nodiscard]] std::string_view name(Failed::Reason value) noexcept;

/// It was told to stop and did.
struct Done {
  friend bool operator==(const Done&, const Done&) = default;
};

using Event = std::variant<Ready, Warm, Sample, Ceiling, Failed, Done>;

/// One line of JSON without the line's end.
[[nodiscard]] std::string write(const Event& event);
/// Reads such a line.  Errc::bad_data, `where` "workload event": malformed or truncated JSON, an unknown event, a key
/// that is missing, unknown or of another type, a negative size or time, a sample that ends before it begins.
[[nodiscard]] Result<Event> read_event(std::string_view line);

/// What is wrong with a program whose first line is no event (`error` is read_event's), or who refuses the job: not
/// flopwatt-torch, or one of another version.  Errc::unavailable at the program.
[[nodiscard]] Error not_understood(std::string_view program, std::string_view line, const Error& error);
[[nodiscard]] Error not_understood(std::string_view program, const Failed& refusal);

}  // namespace flopwatt::workload
