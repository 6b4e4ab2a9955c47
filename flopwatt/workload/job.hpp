#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "flopwatt/base/result.hpp"
#include "flopwatt/units/precision.hpp"
#include "flopwatt/work/workload.hpp"

/// The protocol between a program that measures and the child process that does the work (`flopwatt-torch`): the
/// parent writes one Job, a line of JSON, to the child's standard input; the child answers with events (event.hpp), a
/// line each, on its standard output, and works on until it reads "stop" or the end of its input.

namespace flopwatt::workload {

/// Goes up when a job or an event changes; a job without it, written by hand, is taken as it is.
inline constexpr std::int64_t kProtocol = 1;

enum class Kind : std::uint8_t {
  step,     ///< training steps until told to stop
  ceiling,  ///< what the device reaches at best: matrix products and copies
};
enum class Attention : std::uint8_t {
  eager,  ///< scores and weights in memory
  sdpa,   ///< the library's scaled_dot_product_attention
};
enum class Padding : std::uint8_t {
  full,  ///< the tensors hold batch × sequence tokens
  none,  ///< the tensors hold a short prompt, whatever `sequence` says: what the public study measured
};
enum class Recompute : std::uint8_t { none, full };

[[nodiscard]] std::string_view name(Kind value) noexcept;
[[nodiscard]] std::string_view name(Attention value) noexcept;
[[nodiscard]] std::string_view name(Padding value) noexcept;
[[nodiscard]] std::string_view name(Recompute value) noexcept;

/// Where a workload runs: "cpu", "cuda", "cuda:1", "hip:0".  "hip" is the word for an AMD device; LibTorch itself calls
/// it "cuda".
struct Place {
  enum class Type : std::uint8_t { cpu, cuda, hip };
  Type type = Type::cpu;
  std::int64_t index = 0;

  friend bool operator==(const Place&, const Place&) = default;
};
/// Errors: Errc::usage, `where` "--device".
[[nodiscard]] Result<Place> parse_place(std::string_view text);
[[nodiscard]] std::string to_string(const Place& place);

struct Job {
  Kind kind = Kind::step;
  Place device;
  /// float32, tf32, float16 or bfloat16.
  units::Precision dtype = units::Precision::float32;
  std::optional<std::int64_t> threads;  ///< of the CPU; absent: as the library chooses
  std::int64_t seed = 0;                ///< of weights and tokens
  /// A sample is whole steps (products, copies) of at least this much device time.
  double sample_seconds = 1.0;

  // What follows speaks of Kind::step only.
  std::string config;                  ///< text of a config.json
  std::optional<std::string> weights;  ///< a .safetensors file, its index or a folder of them; absent: random
  Attention attention = Attention::eager;
  std::int64_t batch = 1;         ///< sequences in one micro-batch
  std::int64_t sequence = 0;      ///< tokens of one sequence
  std::int64_t accumulation = 1;  ///< micro-batches in one optimizer step
  Padding padding = Padding::full;
  /// Length of the prompt under Padding::none; the study's prompt is 11 tokens (`sequence` bounds it).
  std::int64_t prompt_tokens = 11;
  Recompute recompute = Recompute::none;
  double learning_rate = 1e-4;
  double weight_decay = 0.01;
  std::int64_t warmup_steps = 5;

  friend bool operator==(const Job&, const Job&) = default;

  /// Tokens of one sequence that the tensors really hold.
  [[nodiscard]] std::int64_t tensor_sequence() const noexcept;
};

/// One line of JSON without the line's end.
[[nodiscard]] std::string write(const Job& job);
/// Reads such a line.  Errc::bad_data, `where` "workload job": malformed or truncated JSON, a key that is missing,
/// unknown or of another type, a size that is not positive or absurd, an unknown word.
[[nodiscard]] Result<Job> read_job(std::string_view line);

/// The ledger of one optimizer step of `job` is work::count of this: the micro-batches of the step as one batch, on
/// tensors as long as they really are.
[[nodiscard]] work::Workload ledger_workload(const Job& job);

}  // namespace flopwatt::workload
