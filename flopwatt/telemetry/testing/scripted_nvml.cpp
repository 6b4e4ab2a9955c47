// A libnvidia-ml.so.1 that does what a script says, loaded by the real loader in the tests.  The script comes from the
// variable FLOPWATT_SCRIPTED_NVML or from flopwatt_script(); see script.hpp for its form.
//
// devices=N             how many                      init=!CODE, count=!CODE, handle=!CODE
// name, uuid, bus       identity                      arch=9, cc=90        Hopper
// watts, high, …        the load (script.hpp)         boxcar=1             usage is the mean of the last second
// sampled=0.25          instant looks only at the first quarter of every 100 ms
// usage, instant, average, module, energy, limit, util, memory, clock, temp, processes
//                       "!CODE" fails, a number is what is said instead of the truth (raw unit of the call)
// energy_mode=frozen|zero, energy_step=MJ, reset_at=T, energy_cost=MS   how the counter misbehaves
// lost_at=T, back_at=T  every call says GPU_IS_LOST   reload_at=T          every call says version mismatch
// mig=N, vgpu=1         instances; a guest            hang=CALL            that call never returns
//
// With FLOPWATT_SCRIPTED_OLD_DRIVER the calls that came with later drivers are not there at all.

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>

#include "flopwatt/telemetry/nvml_abi.hpp"
#include "flopwatt/telemetry/testing/script.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace flopwatt::telemetry::nvml;
using flopwatt::telemetry::testing::Script;

Script& script() {
  static Script* const instance = new Script;  // never destroyed: a hung thread may still wait in it
  return *instance;
}

// A handle is 1 + device + 256 · (1 + instance).
std::size_t device_of(Device handle) { return (reinterpret_cast<std::uintptr_t>(handle) - 1) % 256; }
std::size_t instance_of(Device handle) { return (reinterpret_cast<std::uintptr_t>(handle) - 1) / 256; }

/// Hangs, is lost, was reloaded: what may come before any answer.
std::uint32_t before(Device handle, const char* call) {
  if (handle == nullptr) return kInvalidArgument;
  const std::size_t device = device_of(handle);
  script().wait_if_hung(device, call);
  const double now = script().time();
  if (now >= script().number(device, "reload_at", 1e300)) return kLibRmVersionMismatch;
  if (now >= script().number(device, "lost_at", 1e300) && now < script().number(device, "back_at", 1e300)) {
    return kGpuIsLost;
  }
  return kSuccess;
}

/// A number that the script may replace or refuse.
template <class Number>
std::uint32_t answer(Device handle, const char* key, double truth, Number* out) {
  if (const std::uint32_t code = before(handle, key); code != kSuccess) return code;
  const auto set = script().find(device_of(handle), key);
  if (const auto code = Script::code(set)) return *code;
  // Through signed, so that a script can say -1 and mean all bits set.
  *out = set ? static_cast<Number>(std::strtoll(set->c_str(), nullptr, 10)) : static_cast<Number>(std::round(truth));
  return kSuccess;
}

std::uint32_t text(Device handle, const char* key, const std::string& otherwise, char* out, std::uint32_t size) {
  if (const std::uint32_t code = before(handle, key); code != kSuccess) return code;
  const std::string value = script().find(device_of(handle), key).value_or(otherwise);
  if (const auto code = Script::code(value)) return *code;
  if (value.size() + 1 > size) return kInsufficientSize;
  std::memcpy(out, value.c_str(), value.size() + 1);
  return kSuccess;
}

double usage_milliwatts(std::size_t device) {
  const double now = script().time();
  const double window = script().number(device, "boxcar", 0) > 0 ? 1.0 : 1e-3;
  return 1e3 * script().mean_power(device, now - window, now);
}

[[maybe_unused]] double instant_milliwatts(std::size_t device) {
  const double now = script().time();
  if (!script().find(device, "sampled")) return 1e3 * script().mean_power(device, now - 1e-3, now);
  const double period = 0.1;
  const double begin = std::floor(now / period + 1e-9) * period - period;  // of the last whole period
  return 1e3 * script().mean_power(device, begin, begin + period * script().number(device, "sampled", 1));
}

}  // namespace

EXPORT void flopwatt_script(const char* text) {
  script().hold();
  script().parse(text);
}
EXPORT void flopwatt_script_time(double seconds) { script().set_time(seconds); }
EXPORT void flopwatt_script_release() { script().release(); }

EXPORT std::uint32_t nvmlInit_v2() {
  if (const char* text = std::getenv("FLOPWATT_SCRIPTED_NVML"); text != nullptr) script().parse(text);
  script().wait_if_hung(0, "init");
  return Script::code(script().find(0, "init")).value_or(kSuccess);
}
EXPORT std::uint32_t nvmlShutdown() { return kSuccess; }
EXPORT std::uint32_t nvmlSystemGetDriverVersion(char* out, std::uint32_t size) {
  if (size < 11) return kInsufficientSize;
  std::memcpy(out, "555.55.555", 11);
  return kSuccess;
}
EXPORT std::uint32_t nvmlDeviceGetCount_v2(std::uint32_t* count) {
  if (const auto code = Script::code(script().find(0, "count"))) return *code;
  *count = static_cast<std::uint32_t>(script().number(0, "devices", 1));
  return kSuccess;
}
EXPORT std::uint32_t nvmlDeviceGetHandleByIndex_v2(std::uint32_t index, Device* handle) {
  if (const auto code = Script::code(script().find(index, "handle"))) return *code;
  *handle = reinterpret_cast<Device>(std::uintptr_t{1} + index);
  return kSuccess;
}
EXPORT std::uint32_t nvmlDeviceGetName(Device handle, char* out, std::uint32_t size) {
  const bool instance = handle != nullptr && instance_of(handle) > 0;
  return text(handle, "name", instance ? "NVIDIA H100 80GB HBM3 MIG 1g.10gb" : "NVIDIA H100 80GB HBM3", out, size);
}
EXPORT std::uint32_t nvmlDeviceGetUUID(Device handle, char* out, std::uint32_t size) {
  const std::string device = std::to_string(handle == nullptr ? 0 : device_of(handle));
  if (handle != nullptr && instance_of(handle) > 0) {
    const std::string uuid = "MIG-" + device + "000-" + std::to_string(instance_of(handle)) + "aaa";
    if (uuid.size() + 1 > size) return kInsufficientSize;
    std::memcpy(out, uuid.c_str(), uuid.size() + 1);
    return kSuccess;
  }
  return text(handle, "uuid", "GPU-" + device + "1111111-2222-3333-4444-555555555555", out, size);
}
EXPORT std::uint32_t nvmlDeviceGetPciInfo_v3(Device handle, PciInfo* pci) {
  std::memset(pci, 0, sizeof(*pci));
  const std::string device = std::to_string(handle == nullptr ? 0 : device_of(handle));
  return text(handle, "bus", "00000000:" + device + "B:00.0", pci->bus_id, sizeof(pci->bus_id));
}
EXPORT std::uint32_t nvmlDeviceGetPowerUsage(Device handle, std::uint32_t* milliwatts) {
  return answer(handle, "usage", handle == nullptr ? 0 : usage_milliwatts(device_of(handle)), milliwatts);
}
EXPORT std::uint32_t nvmlDeviceGetEnforcedPowerLimit(Device handle, std::uint32_t* milliwatts) {
  return answer(handle, "limit", 700e3, milliwatts);
}
EXPORT std::uint32_t nvmlDeviceGetUtilizationRates(Device handle, Utilization* percent) {
  percent->memory = 30;
  return answer(handle, "util", 80, &percent->gpu);
}
EXPORT std::uint32_t nvmlDeviceGetMemoryInfo(Device handle, Memory* memory) {
  memory->total = std::uint64_t{80} << 30U;
  const std::uint32_t code = answer(handle, "memory", 32.0 * 1073741824.0, &memory->used);
  memory->free = memory->total - memory->used;
  return code;
}
EXPORT std::uint32_t nvmlDeviceGetClockInfo(Device handle, std::uint32_t which, std::uint32_t* megahertz) {
  return answer(handle, "clock", which == kClockMemory ? 2619 : 1980, megahertz);
}
EXPORT std::uint32_t nvmlDeviceGetTemperature(Device handle, std::uint32_t, std::uint32_t* celsius) {
  return answer(handle, "temp", 55, celsius);
}
EXPORT std::uint32_t nvmlDeviceGetVirtualizationMode(Device handle, std::uint32_t* mode) {
  if (const std::uint32_t code = before(handle, "virtualization"); code != kSuccess) return code;
  *mode = script().find(device_of(handle), "vgpu") ? kVgpu : kBareMetal;
  return kSuccess;
}
EXPORT std::uint32_t nvmlDeviceGetCudaComputeCapability(Device handle, std::int32_t* major, std::int32_t* minor) {
  const double both = script().number(handle == nullptr ? 0 : device_of(handle), "cc", 90);
  *major = static_cast<std::int32_t>(both / 10);
  *minor = static_cast<std::int32_t>(both) % 10;
  return before(handle, "cc");
}

#ifdef FLOPWATT_SCRIPTED_OLD_DRIVER

EXPORT std::uint32_t nvmlDeviceGetComputeRunningProcesses(Device handle, std::uint32_t* count, void*) {
  if (const std::uint32_t code = answer(handle, "processes", 1, count); code != kSuccess) return code;
  return *count == 0 ? kSuccess : kInsufficientSize;
}

#else

EXPORT std::uint32_t nvmlDeviceGetArchitecture(Device handle, std::uint32_t* architecture) {
  return answer(handle, "arch", 9, architecture);
}
EXPORT std::uint32_t nvmlDeviceGetTotalEnergyConsumption(Device handle, std::uint64_t* millijoules) {
  const std::size_t device = handle == nullptr ? 0 : device_of(handle);
  const double now = script().time();
  const double reset = script().number(device, "reset_at", 1e300);
  double truth = now >= reset ? script().energy(device, now) - script().energy(device, reset)
                              : 5000 + script().energy(device, now);
  const std::string mode = script().find(device, "energy_mode").value_or("");
  if (mode == "frozen") truth = 5000;
  if (mode == "zero") truth = 0;
  const double step = script().number(device, "energy_step", 1);
  std::this_thread::sleep_for(std::chrono::duration<double>(1e-3 * script().number(device, "energy_cost", 0)));
  return answer(handle, "energy", std::floor(1e3 * truth / step + 1e-6) * step, millijoules);
}
EXPORT std::uint32_t nvmlDeviceGetFieldValues(Device handle, std::int32_t count, FieldValue* values) {
  if (const std::uint32_t code = before(handle, "fields"); code != kSuccess) return code;
  const std::size_t device = device_of(handle);
  for (FieldValue* value = values; value != values + count; ++value) {
    const bool average = value->field == kFieldPowerAverage;
    if (!average && value->field != kFieldPowerInstant) {
      value->result = kInvalidArgument;
      continue;
    }
    const bool module = value->scope == kScopeModule;
    if (module && !script().find(device, "module")) {
      value->result = kNotSupported;
      continue;
    }
    const char* key = module ? "module" : average ? "average" : "instant";
    const double now = script().time();
    const double truth = average ? 1e3 * script().mean_power(device, now - 1, now) : instant_milliwatts(device);
    value->type = static_cast<std::uint32_t>(script().number(device, "field_type", kUnsignedInt));
    if (value->type == kSignedInt) {
      value->result = answer(handle, key, truth, &value->value.int32);
    } else if (value->type == kDouble) {
      value->result = answer(handle, key, truth, &value->value.real);
      if (script().find(device, "field_nan")) value->value.real = std::nan("");
    } else {
      value->result = answer(handle, key, truth, &value->value.uint32);
    }
  }
  return kSuccess;
}
EXPORT std::uint32_t nvmlDeviceGetComputeRunningProcesses_v3(Device handle, std::uint32_t* count, void*) {
  if (const std::uint32_t code = answer(handle, "processes", 1, count); code != kSuccess) return code;
  return *count == 0 ? kSuccess : kInsufficientSize;
}
EXPORT std::uint32_t nvmlDeviceGetMigMode(Device handle, std::uint32_t* current, std::uint32_t* pending) {
  if (const std::uint32_t code = before(handle, "mig"); code != kSuccess) return code;
  *current = *pending = script().find(device_of(handle), "mig") ? 1 : 0;
  return kSuccess;
}
EXPORT std::uint32_t nvmlDeviceGetMaxMigDeviceCount(Device, std::uint32_t* count) {
  *count = 7;
  return kSuccess;
}
EXPORT std::uint32_t nvmlDeviceGetMigDeviceHandleByIndex(Device handle, std::uint32_t index, Device* instance) {
  if (handle == nullptr || index >= script().number(device_of(handle), "mig", 0)) return kNotFound;
  *instance = reinterpret_cast<Device>(std::uintptr_t{1} + device_of(handle) + 256 * (index + std::uintptr_t{1}));
  return kSuccess;
}

#endif
