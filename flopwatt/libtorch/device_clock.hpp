#pragma once

#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <torch/csrc/api/include/torch/version.h>

#include <optional>

#include "flopwatt/workload/job.hpp"

namespace flopwatt::libtorch {

[[nodiscard]] c10::Device torch_device(const workload::Place& place);
/// Waits until the device has done what it was given.
void synchronize(const c10::Device& device);

/// Times what runs on a device between start and stop: by the device's own events where this LibTorch can read them
/// without its headers (2.5 and later), else by the monotonic clock around a device that is idle at both ends.
class DeviceClock {
 public:
  explicit DeviceClock(const c10::Device& device);
  void start();
  /// Waits for the device; seconds since start.
  [[nodiscard]] double stop();

  static constexpr bool kHasEvents = TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 5);

 private:
  c10::Device device_;
  std::optional<c10::Event> begin_, end_;
  double begin_seconds_ = 0;
};

}  // namespace flopwatt::libtorch
