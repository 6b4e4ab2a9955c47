#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/telemetry/running_energy.hpp"
#include "flopwatt/telemetry/source.hpp"
#include "flopwatt/telemetry/trace.hpp"

namespace flopwatt::telemetry {

struct SamplerOptions {
  units::Duration period = 100 * units::millisecond;
  /// A driver that has not answered for so long is given up: its devices' readings are timed_out from then on.  A
  /// driver that answers after all is taken back.
  units::Duration patience = 5 * units::second;
  /// Snapshots kept of each device; the oldest make room for the newest.  36 000 are an hour at 10 Hz and 10 MiB.
  std::size_t capacity = 36'000;
};

/// A device of one of the sampler's sources.
struct SampledDevice {
  std::size_t source = 0;
  std::size_t device = 0;  ///< in the source
};

/// Reads all devices of some sources at a fixed rate, on one thread for each source, and keeps the last of it.
///
/// The schedule does not drift: the k-th reading is due at start + k · period whatever the readings cost; one that
/// comes late leaves out those it missed.  What the driver does cannot reach the program: readings run on threads that
/// nothing waits for.  One that never returns is left behind at the end, with its source and all it may still touch.
///
/// All members may be called from any thread.
class Sampler {
 public:
  explicit Sampler(std::vector<std::unique_ptr<Source>> sources, const SamplerOptions& options = {});
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  /// Stops.  Returns within `patience` even if a driver hangs.
  ~Sampler();

  void start();
  void stop();

  /// Sources in the order given, their devices in the sources' order.  Fixed.
  [[nodiscard]] const std::vector<SampledDevice>& devices() const { return devices_; }
  [[nodiscard]] const DeviceInfo& info(std::size_t device) const;
  /// The source's numbers are no measurement of this machine.
  [[nodiscard]] bool recorded(std::size_t device) const;

  /// Reads all devices once, now, beside the schedule, and returns when all have answered or `patience` is over: both
  /// ends of a window are read so.  Snapshots are also kept.  Works without start().
  std::vector<Snapshot> read_now();
  /// The newest snapshot; stale if the driver hangs or nothing was read yet: its readings are then absent for
  /// timed_out, stale or no_samples.
  [[nodiscard]] Snapshot latest(std::size_t device) const;
  /// A copy of what is kept.
  [[nodiscard]] Trace trace(std::size_t device) const;
  /// The same without what came before `since`, for windows.
  [[nodiscard]] Trace trace(std::size_t device, SteadyTime since) const;
  /// Energy of a window that was kept; a driver that hangs is a gap.  The idle baseline is that of all that is kept,
  /// not older than a second.
  [[nodiscard]] WindowEnergy energy_over(std::size_t device, SteadyTime from, SteadyTime to,
                                         const EnergyOptions& options = {}) const;
  /// Energy since the device was first read, however long ago: not bounded by what is kept.
  [[nodiscard]] EnergyTotal total(std::size_t device) const;
  /// Whether the source of a device has not answered for longer than `patience`.
  [[nodiscard]] bool hangs(std::size_t device) const;

 private:
  class Worker;
  std::vector<std::shared_ptr<Worker>> workers_;
  std::vector<SampledDevice> devices_;
  SamplerOptions options_;
};

}  // namespace flopwatt::telemetry
