#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/telemetry/logs/log.hpp"
#include "flopwatt/telemetry/logs/stamp.hpp"
#include "flopwatt/telemetry/source.hpp"

namespace flopwatt::telemetry {

/// Gathers samples by device and puts them on one clock; what every importer ends with.
class LogBuilder {
 public:
  LogBuilder(LogFormat format, std::string_view where, const LogOptions& options);

  [[nodiscard]] const LogOptions& options() const { return options_; }
  [[nodiscard]] const std::string& where() const { return log_.where; }

  /// The device that `identity` (UUID, index, …) names within the log; a new one begins with `info`.
  [[nodiscard]] std::size_t device(std::string_view identity, const DeviceInfo& info);
  [[nodiscard]] DeviceInfo& info(std::size_t device) { return devices_[device].info; }
  [[nodiscard]] std::size_t device_count() const { return devices_.size(); }

  /// Takes a sample; Snapshot::time and wall are set from the stamp.  False if the stamp is of another kind than those
  /// before it, or there is none where there were some: a line to skip.
  bool add(std::size_t device, const std::optional<Stamp>& stamp, Snapshot snapshot);
  void skip_line(std::size_t number);
  void torn_tail() { log_.torn_tail = true; }
  /// Once, however often it is said.
  void note(std::string sentence);

  /// Errc::bad_data where there is nothing to tell the energy from.
  [[nodiscard]] Result<Log> finish() &&;

 private:
  struct Device {
    std::string identity;
    DeviceInfo info;
    std::vector<Snapshot> samples;
    std::optional<std::chrono::nanoseconds> last;  ///< as written
    std::chrono::nanoseconds step{};               ///< the last one forward
  };
  std::optional<std::chrono::nanoseconds> on_clock(Device& device, const Stamp& stamp);
  Result<void> place_in_time();
  void check_power(Device& device);
  void sort(Device& device);

  Log log_;
  LogOptions options_;
  std::vector<Device> devices_;
  std::optional<StampKind> kind_;
  bool counted_ = false;
  std::size_t samples_ = 0;
  std::chrono::nanoseconds last_{};   ///< as written
  std::chrono::nanoseconds shift_{};  ///< midnights passed, hours set back
  std::size_t disordered_ = 0;
  std::size_t latest_device_ = 0;
};

}  // namespace flopwatt::telemetry
