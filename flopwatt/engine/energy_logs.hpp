#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/answers/energy.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/engine/energy.hpp"
#include "flopwatt/telemetry/trace.hpp"

namespace flopwatt::engine {

/// A device as all the logs together tell of it.
struct LoggedDevice {
  telemetry::Trace trace;
  std::vector<std::size_t> logs;
  telemetry::TimeBase time_base{};
  bool counted = true;
};

/// Reads the logs and joins what they tell of the same device: by UUID, and with `merge` by PCI id or index too, where
/// the logs are dated and do not overlap.  Power of a module that stands beside a device's is a device of its own.
/// Fills in logs and notes of the answer.
[[nodiscard]] Result<std::vector<LoggedDevice>> read_logs(const EnergyRequest& request, answers::Energy& answer);

/// A moment as the command line names it; `option` for errors, `end_of_log` where the word is empty.
[[nodiscard]] Result<telemetry::SteadyTime> moment_of(const std::optional<std::string>& word, std::string_view option,
                                                      const LoggedDevice& device, telemetry::SteadyTime otherwise,
                                                      const telemetry::LogOptions& reading);

}  // namespace flopwatt::engine
