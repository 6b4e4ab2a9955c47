#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/units/precision.hpp"
#include "flopwatt/units/quantity.hpp"
#include "flopwatt/workload/job.hpp"

/// What a sweep measures, how, and against what: the TOML file of `flopwatt sweep PLAN` (docs/sweep.md).

namespace flopwatt::sweep {

/// How a run is measured.  The defaults are the public study's (arXiv 2608.03880).
struct Protocol {
  std::int64_t warmup_steps = 5;
  units::Duration cooldown = 5 * units::second;       ///< before each run
  units::Duration sample_time = 1 * units::second;    ///< device time that one sample covers
  double half_width = 0.05;                           ///< stop at 1.96·SEM/mean ≤ this, of MFU and of utilisation
  std::int64_t min_samples = 50, max_samples = 500;   ///< of a run
  std::int64_t repeats = 4;                           ///< runs of a configuration
  units::Duration idle_time = 50 * units::second;     ///< of the idle baseline before the first run; 0: none
  units::Duration time_limit = 3600 * units::second;  ///< of a run, cool-down left out
  std::int64_t threads = 0;                           ///< of the workload on a CPU; 0: its own default

  /// Everything that makes two measurements comparable, as one line of JSON.
  [[nodiscard]] std::string canonical() const;
};

/// Where watts come from.
struct PowerPlan {
  enum class Source : std::uint8_t {
    automatic,  ///< the best source that this machine has for the device
    named,      ///< one source by its name
    recorded,   ///< a log that another tool wrote meanwhile
    synthetic,  ///< computed from the achieved rates: no measurement, and named so in every row
    none,
  };
  Source source = Source::automatic;
  std::string name;  ///< of a named source
  std::string file;  ///< of a recorded one, as the plan writes it
  /// Synthetic: P = base + FLOP/s · energy_per_flop + byte/s · energy_per_byte, times 1 ± noise (uniform, seeded).
  units::Power base;
  units::EnergyPerFlop per_flop;
  units::EnergyPerByte per_byte;
  double noise = 0;
};
[[nodiscard]] std::string_view name(PowerPlan::Source source) noexcept;

/// What MFU and MBU are normalised by.
struct PeakPlan {
  enum class Source : std::uint8_t {
    catalogue,  ///< by the name that the driver reports, or `device`
    measured,   ///< a matmul ceiling and a copy bandwidth, measured with the workload before the first run
    stated,
  };
  Source source = Source::catalogue;
  std::string device;                                 ///< catalogue: a name in place of the driver's; may be empty
  std::map<units::Precision, units::FlopRate> peaks;  ///< stated
  std::optional<units::Bandwidth> bandwidth;          ///< stated
};
[[nodiscard]] std::string_view name(PeakPlan::Source source) noexcept;

struct Plan {
  std::string where;  ///< the file, for messages
  std::vector<std::string> models;
  std::map<std::string, std::string> weights;  ///< model as written → safetensors file; the others are random
  std::vector<units::Precision> dtypes;        ///< float32, tf32, float16, bfloat16
  std::vector<workload::Attention> attention;  ///< eager, sdpa
  std::vector<std::int64_t> batches, sequences, accumulations;
  std::vector<workload::Recompute> recomputes;  ///< none, full
  workload::Padding padding = workload::Padding::full;
  workload::Place device;
  std::int64_t seed = 0;  ///< of the order of the runs, the weights and the tokens
  double learning_rate = 1e-4, weight_decay = 0.01;
  std::string workload;  ///< program that runs the steps; empty: found beside flopwatt
  Protocol protocol;
  PowerPlan power;
  PeakPlan peak;
};

/// Configurations of one plan, beyond which a list has a typing mistake.
inline constexpr std::int64_t kMaxConfigurations = 1'000'000;

/// Reads a plan.  Errc::bad_data at WHERE with the key path for: malformed TOML, an unknown key, a missing or empty
/// list, an entry that stands twice, a value of another type or out of range, more than kMaxConfigurations, keys that
/// do not go together (joules per FLOP of a source that is not synthetic).
[[nodiscard]] Result<Plan> read_plan(std::string_view text, std::string_view where);

}  // namespace flopwatt::sweep
