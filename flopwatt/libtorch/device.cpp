#include "flopwatt/libtorch/device.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <sys/resource.h>
#include <time.h>
#include <torch/csrc/api/include/torch/cuda.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string_view>

#include "flopwatt/libtorch/device_clock.hpp"

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 9)
#include <c10/core/CachingDeviceAllocator.h>
#define FLOPWATT_DEVICE_STATISTICS 1
#else
#define FLOPWATT_DEVICE_STATISTICS 0
#endif

namespace flopwatt::libtorch {
namespace {

using workload::Failed;
using workload::Place;

/// A function of a library that is there or not.
template <class Function>
Function* function_of(const char* library, const char* name) {
  void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return handle == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(handle, name));  // NOLINT: POSIX
}

constexpr int kNameBytes = 256;

/// The CUDA driver API: cuInit, cuDeviceGet, cuDeviceGetName (CUDA Driver API reference, 6.3 and 6.5); it counts the
/// devices that CUDA_VISIBLE_DEVICES leaves, as LibTorch does.
std::optional<std::string> cuda_name(std::int64_t index) {
  auto* const initialise = function_of<int(unsigned)>("libcuda.so.1", "cuInit");
  auto* const get = function_of<int(int*, int)>("libcuda.so.1", "cuDeviceGet");
  auto* const get_name = function_of<int(char*, int, int)>("libcuda.so.1", "cuDeviceGetName");
  std::array<char, kNameBytes> text{};
  int device = 0;
  if (initialise == nullptr || get == nullptr || get_name == nullptr || initialise(0) != 0 ||
      get(&device, static_cast<int>(index)) != 0 || get_name(text.data(), kNameBytes - 1, device) != 0) {
    return std::nullopt;
  }
  return std::string{text.data()};
}

/// The HIP runtime: hipDeviceGetName (HIP runtime API reference, device management).
std::optional<std::string> hip_name(std::int64_t index) {
  std::array<char, kNameBytes> text{};
  for (const char* library : {"libamdhip64.so", "libamdhip64.so.6", "libamdhip64.so.7", "libamdhip64.so.5"}) {
    auto* const get_name = function_of<int(char*, int, int)>(library, "hipDeviceGetName");
    if (get_name != nullptr && get_name(text.data(), kNameBytes - 1, static_cast<int>(index)) == 0 && text[0] != 0) {
      return std::string{text.data()};
    }
  }
  return std::nullopt;
}

std::optional<std::string> cpu_name() {
  std::ifstream file{"/proc/cpuinfo"};
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("model name") && !line.starts_with("Model")) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos && colon + 2 < line.size()) return line.substr(colon + 2);
  }
  return std::nullopt;
}

void set_threads(int threads) {
  at::set_num_threads(threads);
  // OpenBLAS built on pthreads has a pool of its own, which LibTorch's setting does not reach.
  using Setter = void(int);
  if (auto* const set = reinterpret_cast<Setter*>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(threads);
}

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The first line: LibTorch appends a stack trace to what it says.
std::string first_line(std::string_view text) { return std::string{text.substr(0, text.find('\n'))}; }

}  // namespace

c10::Device torch_device(const Place& place) {
  // LibTorch for ROCm calls its devices "cuda".
  return place.type == Place::Type::cpu ? c10::Device{c10::kCPU}
                                        : c10::Device{c10::kCUDA, static_cast<c10::DeviceIndex>(place.index)};
}

void synchronize(const c10::Device& device) {
  if (device.type() != c10::kCPU) torch::cuda::synchronize(device.index());
}

DeviceClock::DeviceClock(const c10::Device& device) : device_{device} {
  if constexpr (kHasEvents) {
    if (device.type() == c10::kCPU) return;
    begin_.emplace(device.type(), c10::EventFlag::BACKEND_DEFAULT);
    end_.emplace(device.type(), c10::EventFlag::BACKEND_DEFAULT);
  }
}

void DeviceClock::start() {
  if (begin_) {
    begin_->record(c10::impl::VirtualGuardImpl{device_.type()}.getStream(device_));
    return;
  }
  synchronize(device_);
  begin_seconds_ = monotonic_seconds();
}

double DeviceClock::stop() {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 5)
  if (begin_) {
    end_->record(c10::impl::VirtualGuardImpl{device_.type()}.getStream(device_));
    end_->synchronize();
    constexpr double kMillisecond = 1e-3;  // cudaEventElapsedTime counts in milliseconds
    return begin_->elapsedTime(*end_) * kMillisecond;
  }
#endif
  synchronize(device_);
  return monotonic_seconds() - begin_seconds_;
}

tl::expected<void, Failed> prepare_device(const workload::Job& job) {
  const bool cpu = job.device.type == Place::Type::cpu;
  try {
    if (!cpu) {
      const auto count = torch::cuda::device_count();
      if (job.device.index >= static_cast<std::int64_t>(count)) {
        return tl::unexpected<Failed>{
            {Failed::Reason::unsupported,
             "LibTorch sees " + std::to_string(count) + " devices, and none is " + workload::to_string(job.device)}};
      }
    }
    if (cpu && job.dtype == units::Precision::tf32) {
      return tl::unexpected<Failed>{{Failed::Reason::unsupported, "a CPU has no tf32 products"}};
    }
    if (job.threads) set_threads(static_cast<int>(*job.threads));
    at::globalContext().setFloat32MatmulPrecision(job.dtype == units::Precision::tf32 ? "high" : "highest");
    return {};
  } catch (...) {
    return tl::unexpected<Failed>{failure_of_current_exception()};
  }
}

void limit_memory(const Place& place) {
  if (place.type != Place::Type::cpu) return;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  rlimit limit{};
  if (pages <= 0 || page_bytes <= 0 || ::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  const rlim_t memory = static_cast<rlim_t>(pages) * static_cast<rlim_t>(page_bytes);
  if (limit.rlim_cur <= memory) return;  // RLIM_INFINITY is the largest value
  limit.rlim_cur = memory;
  (void)::setrlimit(RLIMIT_DATA, &limit);
}

std::string device_name(const Place& place) {
  std::optional<std::string> name;
  switch (place.type) {
    case Place::Type::cpu:
      name = cpu_name();
      break;
    case Place::Type::cuda:
      name = cuda_name(place.index);
      if (!name) name = hip_name(place.index);
      break;
    case Place::Type::hip:
      name = hip_name(place.index);
      break;
  }
  return name ? *name : workload::to_string(place);
}

std::string library_version() {
  // Its headers say which version this was compiled for; the observer's self-test says whether that one is loaded.
  return std::string{"LibTorch "} + TORCH_VERSION;
}

std::int64_t cpu_threads() { return at::get_num_threads(); }

std::optional<std::int64_t> peak_memory_bytes(const Place& place) {
  if (place.type == Place::Type::cpu) {
    rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) != 0) return std::nullopt;
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;  // getrusage(2) counts in KiB
  }
#if FLOPWATT_DEVICE_STATISTICS
  try {
    const auto device = torch_device(place);
    const auto statistics = c10::getDeviceAllocator(device.type())->getDeviceStats(device.index());
    constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    return statistics.allocated_bytes[kAll].peak;
  } catch (const std::exception&) {
    return std::nullopt;
  }
#else
  return std::nullopt;
#endif
}

Failed failure_of_current_exception() {
  try {
    throw;
  } catch (const c10::OutOfMemoryError& error) {
    return {Failed::Reason::out_of_memory, first_line(error.what_without_backtrace())};
  } catch (const c10::NotImplementedError& error) {
    return {Failed::Reason::unsupported, first_line(error.what_without_backtrace())};
  } catch (const std::bad_alloc&) {
    return {Failed::Reason::out_of_memory, "no memory left"};
  } catch (const c10::Error& error) {
    const std::string what = first_line(error.what_without_backtrace());
    // What has no type of its own in every version.
    if (holds(what, "not enough memory") || holds(what, "allocate memory") || holds(what, "out of memory")) {
      return {Failed::Reason::out_of_memory, what};
    }
    const bool unsupported = holds(what, "not implemented for") || holds(what, "not supported") ||
                             holds(what, "No CUDA GPUs") || holds(what, "not compiled with CUDA") ||
                             holds(what, "not linked with support for");
    return {unsupported ? Failed::Reason::unsupported : Failed::Reason::error, what};
  } catch (const std::exception& error) {
    return {Failed::Reason::error, first_line(error.what())};
  } catch (...) {
    return {Failed::Reason::error, "an unknown exception"};
  }
}

double monotonic_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace flopwatt::libtorch
