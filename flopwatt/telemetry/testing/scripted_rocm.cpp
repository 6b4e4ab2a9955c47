// A librocm_smi64 and a libamd_smi in one, which do what a script says (script.hpp), from the variable
// FLOPWATT_SCRIPTED_ROCM or flopwatt_script().
//
// devices=N; init=!CODE; count=!CODE      name, id, board=N, partition=N     identity; address=!CODE
// watts, high, …  the load                current, average, energy, cap, busy, memory, temp
//                                         "!CODE" fails, a number is said in place of the truth (raw unit)
// energy_mode=frozen; resolution=µJ; hang=CALL; lost_at=T
// layout=old|new   amdsmi_power_info_t before and after its beginning changed
//
// The two libraries number their errors differently; a script gives the code of the library that it is for.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "flopwatt/telemetry/testing/script.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using flopwatt::telemetry::testing::Script;

constexpr std::uint32_t kSuccess = 0;

Script& script() {
  static Script* const instance = new Script;  // never destroyed: a hung thread may still wait in it
  return *instance;
}

template <class Number>
std::uint32_t answer(std::size_t device, const char* key, double truth, Number* out) {
  script().wait_if_hung(device, key);
  if (script().time() >= script().number(device, "lost_at", 1e300)) return 0xFFFFFFFF;
  const auto set = script().find(device, key);
  if (const auto code = Script::code(set)) return *code;
  // A counter in steps of 0 has no finite value: the driver then gives its largest number.
  constexpr auto kMost = std::numeric_limits<Number>::max();
  const bool fits = std::isfinite(truth) && truth < static_cast<double>(kMost);
  *out = set    ? static_cast<Number>(std::strtoll(set->c_str(), nullptr, 10))
         : fits ? static_cast<Number>(std::round(truth))
                : kMost;
  return kSuccess;
}

double watts(std::size_t device) {
  const double now = script().time();
  return script().mean_power(device, now - 1e-3, now);
}

std::uint32_t energy(std::size_t device, std::uint64_t* count, float* resolution, std::uint64_t* timestamp) {
  const double step = script().number(device, "resolution", 15.3);
  const bool frozen = script().find(device, "energy_mode") == "frozen";
  const double joules = frozen ? 777 : 777 + script().energy(device, script().time());
  *resolution = static_cast<float>(step);
  *timestamp = frozen ? 1000 : static_cast<std::uint64_t>(1e9 * script().time());
  return answer(device, "energy", std::floor(joules * 1e6 / step), count);
}

std::uint32_t address(std::size_t device, std::uint64_t* id) {
  if (const auto code = Script::code(script().find(device, "address"))) return *code;
  const auto board = static_cast<std::uint64_t>(script().number(device, "board", static_cast<double>(device) + 3));
  const auto partition = static_cast<std::uint64_t>(script().number(device, "partition", 0));
  *id = (board << 8U) | (partition << 28U);
  return kSuccess;
}

std::uint32_t name(std::size_t device, char* out, std::size_t size) {
  const std::string text = script().find(device, "name").value_or("AMD Instinct MI300X");
  if (const auto code = Script::code(text)) return *code;
  std::memset(out, 0, size);
  std::memcpy(out, text.data(), std::min(size - 1, text.size()));
  return kSuccess;
}

std::size_t index_of(void* handle) { return reinterpret_cast<std::uintptr_t>(handle) - 1; }

}  // namespace

EXPORT void flopwatt_script(const char* text) {
  script().hold();
  script().parse(text);
}
EXPORT void flopwatt_script_time(double seconds) { script().set_time(seconds); }
EXPORT void flopwatt_script_release() { script().release(); }

// --- ROCm SMI ---

EXPORT std::uint32_t rsmi_init(std::uint64_t) {
  if (const char* text = std::getenv("FLOPWATT_SCRIPTED_ROCM"); text != nullptr) script().parse(text);
  script().wait_if_hung(0, "init");
  return Script::code(script().find(0, "init")).value_or(kSuccess);
}
EXPORT std::uint32_t rsmi_shut_down() { return kSuccess; }
EXPORT std::uint32_t rsmi_num_monitor_devices(std::uint32_t* count) {
  if (const auto code = Script::code(script().find(0, "count"))) return *code;
  *count = static_cast<std::uint32_t>(script().number(0, "devices", 1));
  return kSuccess;
}
EXPORT std::uint32_t rsmi_dev_name_get(std::uint32_t device, char* out, std::size_t size) {
  return name(device, out, size);
}
EXPORT std::uint32_t rsmi_dev_unique_id_get(std::uint32_t device, std::uint64_t* id) {
  return answer(device, "id", 0x1234 + device, id);
}
EXPORT std::uint32_t rsmi_dev_pci_id_get(std::uint32_t device, std::uint64_t* id) { return address(device, id); }
EXPORT std::uint32_t rsmi_dev_power_ave_get(std::uint32_t device, std::uint32_t, std::uint64_t* microwatts) {
  return answer(device, "average", 1e6 * watts(device), microwatts);
}
EXPORT std::uint32_t rsmi_dev_current_socket_power_get(std::uint32_t device, std::uint64_t* microwatts) {
  return answer(device, "current", 1e6 * watts(device), microwatts);
}
EXPORT std::uint32_t rsmi_dev_energy_count_get(std::uint32_t device, std::uint64_t* count, float* resolution,
                                               std::uint64_t* timestamp) {
  return energy(device, count, resolution, timestamp);
}
EXPORT std::uint32_t rsmi_dev_power_cap_get(std::uint32_t device, std::uint32_t, std::uint64_t* microwatts) {
  return answer(device, "cap", 750e6, microwatts);
}
EXPORT std::uint32_t rsmi_dev_busy_percent_get(std::uint32_t device, std::uint32_t* percent) {
  return answer(device, "busy", 90, percent);
}
EXPORT std::uint32_t rsmi_dev_memory_usage_get(std::uint32_t device, std::uint32_t, std::uint64_t* bytes) {
  return answer(device, "memory", 64.0 * 1073741824.0, bytes);
}
EXPORT std::uint32_t rsmi_dev_memory_total_get(std::uint32_t, std::uint32_t, std::uint64_t* bytes) {
  *bytes = std::uint64_t{192} << 30U;
  return kSuccess;
}
EXPORT std::uint32_t rsmi_dev_temp_metric_get(std::uint32_t device, std::uint32_t, std::uint32_t, std::int64_t* value) {
  return answer(device, "temp", 61000, value);
}

// --- AMD SMI: one socket, all devices in it ---

EXPORT std::uint32_t amdsmi_init(std::uint64_t) { return rsmi_init(0); }
EXPORT std::uint32_t amdsmi_shut_down() { return kSuccess; }
EXPORT std::uint32_t amdsmi_get_socket_handles(std::uint32_t* count, void** handles) {
  *count = 1;
  handles[0] = reinterpret_cast<void*>(std::uintptr_t{1});
  return kSuccess;
}
EXPORT std::uint32_t amdsmi_get_processor_handles(void*, std::uint32_t* count, void** handles) {
  if (const std::uint32_t code = rsmi_num_monitor_devices(count); code != kSuccess) return code;
  for (std::uint32_t i = 0; i < *count; ++i) handles[i] = reinterpret_cast<void*>(std::uintptr_t{1} + i);
  return kSuccess;
}
EXPORT std::uint32_t amdsmi_get_gpu_asic_info(void* handle, char* info) { return name(index_of(handle), info, 256); }
EXPORT std::uint32_t amdsmi_get_gpu_device_uuid(void* handle, std::uint32_t* length, char* out) {
  const std::string text = "aaff74a1-0000-1000-8000-00000000000" + std::to_string(index_of(handle));
  if (*length < text.size() + 1) return 41;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return kSuccess;
}
EXPORT std::uint32_t amdsmi_get_gpu_bdf_id(void* handle, std::uint64_t* id) { return address(index_of(handle), id); }
EXPORT std::uint32_t amdsmi_get_power_info(void* handle, std::uint32_t* words) {
  const std::size_t device = index_of(handle);
  std::uint32_t current = 0;
  std::uint32_t average = 0;
  if (const std::uint32_t code = answer(device, "current", watts(device), &current); code != kSuccess) return code;
  if (const std::uint32_t code = answer(device, "average", watts(device), &average); code != kSuccess) return code;
  const bool old = script().find(device, "layout") == "old";
  std::size_t at = 0;
  if (!old) {
    words[at++] = current != 0xFFFFFFFF ? current : average;
    words[at++] = 0;
  }
  words[at++] = current;
  words[at++] = average;
  words[at++] = 850;  // mV
  return kSuccess;
}
EXPORT std::uint32_t amdsmi_get_energy_count(void* handle, std::uint64_t* count, float* resolution,
                                             std::uint64_t* timestamp) {
  return energy(index_of(handle), count, resolution, timestamp);
}
EXPORT std::uint32_t amdsmi_get_power_cap_info(void* handle, std::uint32_t, std::uint64_t* info) {
  return answer(index_of(handle), "cap", 750e6, info);
}
EXPORT std::uint32_t amdsmi_get_gpu_activity(void* handle, std::uint32_t* info) {
  return answer(index_of(handle), "busy", 90, info);
}
EXPORT std::uint32_t amdsmi_get_gpu_memory_usage(void* handle, std::uint32_t, std::uint64_t* bytes) {
  return answer(index_of(handle), "memory", 64.0 * 1073741824.0, bytes);
}
EXPORT std::uint32_t amdsmi_get_gpu_memory_total(void*, std::uint32_t, std::uint64_t* bytes) {
  *bytes = std::uint64_t{192} << 30U;
  return kSuccess;
}
EXPORT std::uint32_t amdsmi_get_temp_metric(void* handle, std::uint32_t, std::uint32_t, std::int64_t* celsius) {
  return answer(index_of(handle), "temp", 61, celsius);
}
