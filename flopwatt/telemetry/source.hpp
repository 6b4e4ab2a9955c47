#pragma once

/// A source of readings: one driver library, one part of sysfs, one meter, one recorded file.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "flopwatt/base/error.hpp"
#include "flopwatt/telemetry/reading.hpp"
#include "flopwatt/units/quantity.hpp"

namespace flopwatt::telemetry {

/// How an energy counter behaves; what is not known is empty.
struct CounterTraits {
  std::optional<units::Energy> range;            ///< it counts from 0 up to this, then from 0 again
  std::optional<units::Energy> resolution;       ///< smallest step
  std::optional<units::Duration> update_period;  ///< how often it is brought up to date
  std::optional<units::Power> max_power;         ///< no device of this kind draws more; empty: by scope (energy.hpp)
};

/// How a power sensor behaves; what is not known is empty.
struct SensorTraits {
  std::optional<units::Duration> averaging_window;  ///< a reading is the mean of so long a time before it
  std::optional<units::Duration> update_period;
  std::optional<double> duty;               ///< fraction of each period during which the sensor looks at all
  std::optional<double> relative_accuracy;  ///< half-width, fraction of the reading
  std::string source;                       ///< where these figures are from
};

/// Who a device is.  `uuid` and `pci_id` identify it across libraries; an index does not.
struct DeviceInfo {
  std::string source;     ///< name() of the source: "nvml", "rapl", …
  std::size_t index = 0;  ///< in the source's own order
  std::string vendor;     ///< "nvidia", "amd", "intel", or empty
  std::string name;       ///< as the driver reports it, printable
  std::string uuid;       ///< or empty
  std::string pci_id;     ///< "00000000:3b:00.0" form, lower case, or empty
  std::string path;       ///< of the file read, or empty
  Scope scope = Scope::device;
  CounterTraits counter;
  SensorTraits sensor;
  /// The device of the same source whose readings include this one's: never add the two.  A package lies in psys, a
  /// second die in its first, a partition in its board, a duplicate (RAPL over MMIO) in its original.
  std::optional<std::size_t> part_of;
  std::uint32_t dies = 1;          ///< how many compute devices the power reading covers (2: MI250X package)
  std::uint32_t partitions = 1;    ///< how many compute partitions the board is cut into (8: MI300X in CPX mode)
  std::vector<std::string> notes;  ///< what a reader must know: vGPU, MIG, which reading was preferred and why
  /// Why nothing can be read from it although it is there, with the path or call that failed.
  std::optional<base::Error> unreadable;

  /// The best identity there is: UUID, PCI id, path, or "SOURCE:INDEX".
  [[nodiscard]] std::string id() const;
};

/// Why a source is not to be had.
struct SourceAbsence {
  std::string source;
  Absence reason = Absence::not_present;
  std::string detail;  ///< the path, library or call that failed, and what it said
  std::string remedy;  ///< what to do, or empty

  /// As an Errc::unavailable of the command line.
  [[nodiscard]] base::Error error() const;
};

/// Readings are taken by one thread at a time.  A source does not fail after it was opened: its readings become absent.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Fixed while the source is open.
  [[nodiscard]] virtual std::span<const DeviceInfo> devices() const = 0;
  /// Looks at devices()[device] now.  Costs what the driver costs; may block for as long as the driver blocks (Sampler
  /// guards against that).
  [[nodiscard]] virtual Snapshot read(std::size_t device) = 0;
  /// A look between the ends of a window: may leave out (not_asked) what is dear to read and needed at the ends only.
  [[nodiscard]] virtual Snapshot glance(std::size_t device) { return read(device); }
  /// A recorded or synthetic source is no measurement of this machine, and whoever reports its numbers says so.
  [[nodiscard]] virtual bool recorded() const { return false; }
};

using OpenedSource = tl::expected<std::unique_ptr<Source>, SourceAbsence>;

/// Those of the devices that are part of no other: their energies may be added.
[[nodiscard]] std::vector<std::size_t> outermost(std::span<const DeviceInfo> devices);

}  // namespace flopwatt::telemetry
