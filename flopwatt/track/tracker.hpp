#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/device/device.hpp"
#include "flopwatt/device/peak.hpp"
#include "flopwatt/track/sink.hpp"
#include "flopwatt/track/step_work.hpp"
#include "flopwatt/track/window.hpp"
#include "flopwatt/units/quantity.hpp"

/// MFU, HFU, MBU and energy of a loop while it runs.
///
///   FLOPWATT_TRY(const work::Ledger ledger, work::count(architecture, {.batch = 8, .sequence = 2048}));
///   FLOPWATT_TRY(track::Tracker tracker, track::Tracker::create({.work = track::work_of(ledger),
///                                                                .peak = track::peak_of(device, precision),
///                                                                .synchronize = [] { torch::cuda::synchronize(); }}));
///   for (…) {
///     auto step = tracker.step();      // ends with the scope
///     for (…) { forward_backward(…); step.micro_batch({.slots = 8 * 2048, .non_padding = mask.sum()}); }
///     optimizer.step();
///   }
///   const track::Window run = tracker.run();

namespace flopwatt::track {

/// The denominators, of one device.
struct DevicePeak {
  std::string device;
  units::FlopRate flops;
  std::optional<units::Bandwidth> bandwidth;
  std::string source;  ///< "datasheet …", "measured"
};
/// From the catalogue.  A device that it does not know has no peak, and then there is no MFU: nothing is guessed.
[[nodiscard]] Result<DevicePeak> peak_of(const device::Device& device, units::Precision precision);

struct TrackerOptions {
  MicroBatchWork work;               ///< of one micro-batch on this rank
  std::optional<DevicePeak> peak;    ///< absent: FLOP/s and tokens, but no ratio
  std::int64_t devices = 1;          ///< that this rank keeps busy
  std::int64_t accumulation = 1;     ///< micro-batches a step where the loop does not tell them one by one
  std::int64_t warmup_steps = 0;     ///< left out of every figure
  std::int64_t window_steps = 1;     ///< steps a window: so often the sinks hear, and so often the device is waited for
  std::int64_t rank = 0, ranks = 1;  ///< no collective is ever called: ranks are joined afterwards (combine.hpp)

  /// Waits until the device has done what was launched; called at the end of each window's last step, inside its time.
  /// Without it, windows are flagged `unsynchronized` (set `synchronous` where the loop itself waits, or on a CPU).
  std::function<void()> synchronize;
  bool synchronous = false;

  /// Energy of this rank's devices over a stretch, one entry a device: sampled_energy.hpp makes it of a sampler.
  std::function<std::vector<telemetry::WindowEnergy>(telemetry::SteadyTime from, telemetry::SteadyTime to)> energy;

  std::vector<std::unique_ptr<Sink>> sinks;
  std::chrono::nanoseconds (*clock)() noexcept = &telemetry::steady_now;
};

/// Not for several threads at once: one loop, one tracker.
class Tracker {
 public:
  /// Errors: Errc::usage for work, peaks, counts or ranks that cannot be.
  [[nodiscard]] static Result<Tracker> create(TrackerOptions options);

  /// A step that ends with its scope; a step that is cancelled (an exception, a skipped update) counts for nothing, but
  /// its time is in the wall clock.
  class Step {
   public:
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    Step(Step&& other) noexcept : tracker_{other.tracker_} { other.tracker_ = nullptr; }
    Step& operator=(Step&&) = delete;
    ~Step() {
      if (tracker_ != nullptr) tracker_->stop();
    }
    /// One more micro-batch was launched.  `tokens.slots` 0: those of the work.
    void micro_batch(const Tokens& tokens = {}) noexcept {
      if (tracker_ != nullptr) tracker_->micro_batch(tokens);
    }
    void cancel() noexcept {
      if (tracker_ != nullptr) tracker_->cancel();
      tracker_ = nullptr;
    }

   private:
    friend class Tracker;
    explicit Step(Tracker& tracker) noexcept : tracker_{&tracker} {}
    Tracker* tracker_;
  };
  [[nodiscard]] Step step() noexcept {
    start();
    return Step{*this};
  }

  /// The same by hand.  start() in a running step drops that step; stop() and micro_batch() outside one do nothing;
  /// both are counted in misuses().
  void start() noexcept;
  void micro_batch(const Tokens& tokens = {}) noexcept;
  void stop();
  void cancel() noexcept;

  /// Everything since the warm-up, the open window included; `steps` is 0 before the first measured step.
  [[nodiscard]] Window run() const;
  /// Closes the open window and gives the sinks the run: at the end of the loop.
  void finish();

  [[nodiscard]] const Identity& identity() const noexcept { return identity_; }
  [[nodiscard]] std::int64_t misuses() const noexcept { return misuses_; }
  /// The first failure of a sink; the loop went on without what it could not write.
  [[nodiscard]] const std::optional<Error>& trouble() const noexcept { return trouble_; }

 private:
  /// Sums over steps, in the units of the clock: what costs nothing to add up.
  struct Sums {
    std::int64_t first_step = 0, steps = 0, micro_batches = 0;
    std::int64_t slots = 0, non_padding = 0, labels = 0;
    bool all_non_padding = true, all_labels = true;
    std::chrono::nanoseconds in_steps{}, begin{}, end{};

    void add(const Sums& step) noexcept;
    void add_tokens(const Tokens& tokens) noexcept;
  };
  explicit Tracker(TrackerOptions options);
  [[nodiscard]] Window make_window(const Sums& sums) const;
  void close_window();
  void note(const Result<void>& outcome);

  TrackerOptions options_;
  Identity identity_;
  Sums step_, window_, run_;
  std::chrono::nanoseconds started_{};
  std::int64_t next_step_ = 0;
  std::int64_t misuses_ = 0;
  bool running_ = false;
  std::optional<Error> trouble_;
};

}  // namespace flopwatt::track
