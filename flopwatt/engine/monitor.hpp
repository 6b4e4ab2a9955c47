#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flopwatt/answers/monitor.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/units/quantity.hpp"

namespace flopwatt::engine {

struct MonitorRequest {
  /// "nvml", "amd", "rocm", "rapl", "hwmon", or an address or preset of a meter (telemetry::parse_meter); empty: what
  /// this machine has.
  std::vector<std::string> sources;
  std::string replay;         ///< a log to be played back instead, in any format that `energy` reads
  double replay_speed = 1;    ///< seconds of the log for each of the clock; times and energy are the log's own
  double watts_per_unit = 1;  ///< of what a meter answers
  bool insecure = false;      ///< a meter's certificate is not checked
  bool instant = false;       ///< the sensor's last value where the driver offers it
  units::Duration interval = 1 * units::second;
};

/// Reads the devices of this machine, or of a recording, and adds up what they draw.
class Monitor {
 public:
  /// Errc::usage for a source that is none, Errc::bad_data for a recording that cannot be read, Errc::unavailable with
  /// the reason of each where no source can be opened.
  [[nodiscard]] static Result<std::unique_ptr<Monitor>> open(const MonitorRequest& request);
  /// What there is, even if that is nothing.
  [[nodiscard]] static Result<answers::MonitorSources> list(const MonitorRequest& request);

  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  ~Monitor();

  [[nodiscard]] const answers::MonitorSources& sources() const;
  /// Reads all devices now.
  [[nodiscard]] answers::MonitorFrame look();

 private:
  struct State;
  explicit Monitor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace flopwatt::engine
