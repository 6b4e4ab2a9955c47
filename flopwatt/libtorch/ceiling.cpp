#include "flopwatt/libtorch/ceiling.hpp"

#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "flopwatt/libtorch/device.hpp"
#include "flopwatt/libtorch/device_clock.hpp"
#include "flopwatt/libtorch/scalar_type.hpp"

namespace flopwatt::libtorch {
namespace {

constexpr double kShortestSpell = 0.05;  // seconds: long beside the clock's and the launch's noise

/// Fastest time of one `work` in seconds over spells that fill `seconds`.
double fastest(DeviceClock& clock, double seconds, const std::function<void()>& work) {
  const auto time = [&](std::int64_t repeats) {
    clock.start();
    for (std::int64_t i = 0; i < repeats; ++i) work();
    return clock.stop() / static_cast<double>(repeats);
  };
  work();  // allocates, chooses kernels
  double best = time(1);
  double left = seconds - best;
  while (left > 0) {
    const auto repeats = std::max<std::int64_t>(1, std::llround(std::ceil(kShortestSpell / std::max(best, 1e-9))));
    const double once = time(repeats);
    best = std::min(best, once);
    left -= std::max(once * static_cast<double>(repeats), 1e-3);
  }
  return best;
}

workload::Ceiling measure(const workload::Job& job) {
  const c10::Device device = torch_device(job.device);
  const bool cpu = device.is_cpu();
  const auto options = at::TensorOptions{}.dtype(scalar_type(job.dtype)).device(device);
  DeviceClock clock{device};
  workload::Ceiling ceiling;
  // On a CPU without instructions for a dtype its small products, which stay in the cache, may be the fastest.
  for (std::int64_t size = cpu ? 64 : 1024; size <= (cpu ? 2048 : 16384); size *= 2) {
    const at::Tensor left = at::rand({size, size}, options.dtype(at::kFloat)).to(options.dtype());
    const at::Tensor right = left.clone();
    at::Tensor result = at::empty({size, size}, options);
    const double once = fastest(clock, job.sample_seconds, [&] { at::mm_out(result, left, right); });
    const double flops = 2.0 * std::pow(static_cast<double>(size), 3);
    if (flops / once > ceiling.flops_per_second) {
      ceiling.flops_per_second = flops / once;
      ceiling.matrix_size = size;
    }
    if (8.0 * once > std::max(job.sample_seconds, kShortestSpell)) break;  // the next one has eight times the work
  }
  ceiling.copy_bytes = std::int64_t{1} << (cpu ? 28U : 30U);
  const auto bytes = at::TensorOptions{}.dtype(at::kByte).device(device);
  const at::Tensor source = at::ones({ceiling.copy_bytes}, bytes);
  at::Tensor target = at::empty({ceiling.copy_bytes}, bytes);
  const double once = fastest(clock, job.sample_seconds, [&] { target.copy_(source); });
  ceiling.bytes_per_second = 2.0 * static_cast<double>(ceiling.copy_bytes) / once;
  return ceiling;
}

}  // namespace

tl::expected<workload::Ceiling, workload::Failed> measure_ceiling(const workload::Job& job) {
  auto ready = prepare_device(job);
  if (!ready) return tl::unexpected<workload::Failed>{ready.error()};
  try {
    return measure(job);
  } catch (...) {
    return tl::unexpected<workload::Failed>{failure_of_current_exception()};
  }
}

}  // namespace flopwatt::libtorch
