#pragma once

/// Our own declarations of the part of NVML's published binary interface that is used here, so that neither NVIDIA's
/// header nor its library is needed to build.  Names, numbers and layouts are those of the NVML API reference
/// (docs.nvidia.com/deploy/nvml-api); the layouts were held against two independent bindings, NVIDIA's go-nvml
/// (types_gen.go) and nvml-wrapper-sys 0.7.0.

#include <cstddef>
#include <cstdint>

namespace flopwatt::telemetry::nvml {

using Device = void*;

/// nvmlReturn_t.
enum Return : std::uint32_t {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kInsufficientSize = 7,
  kInsufficientPower = 8,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kOperatingSystem = 17,
  kLibRmVersionMismatch = 18,
  kNoData = 21,
  kUnknown = 999,
};

struct PciInfo {  // nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3
  char bus_id_legacy[16];
  std::uint32_t domain;
  std::uint32_t bus;
  std::uint32_t device;
  std::uint32_t device_id;
  std::uint32_t subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, bus_id) == 36);

struct Memory {  // nvmlMemory_t, bytes
  std::uint64_t total;
  std::uint64_t free;
  std::uint64_t used;
};
static_assert(sizeof(Memory) == 24);

struct Utilization {  // nvmlUtilization_t, percent
  std::uint32_t gpu;
  std::uint32_t memory;
};
static_assert(sizeof(Utilization) == 8);

union Value {  // nvmlValue_t
  double real;
  std::int32_t int32;
  std::uint32_t uint32;
  std::uint64_t uint64;
  std::int64_t int64;
};
static_assert(sizeof(Value) == 8);

enum ValueType : std::uint32_t {  // nvmlValueType_t
  kDouble = 0,
  kUnsignedInt = 1,
  kUnsignedLong = 2,
  kUnsignedLongLong = 3,
  kSignedLongLong = 4,
  kSignedInt = 5,
};

struct FieldValue {  // nvmlFieldValue_t
  std::uint32_t field;
  std::uint32_t scope;
  std::int64_t timestamp;  // µs since 1970
  std::int64_t latency;    // µs
  std::uint32_t type;
  std::uint32_t result;
  Value value;
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, value) == 32);

struct Sample {             // nvmlSample_t
  std::uint64_t timestamp;  // µs, of a clock that is not 1970's on every driver
  Value value;
};
static_assert(sizeof(Sample) == 16);

inline constexpr std::uint32_t kFieldTotalEnergy = 83;    // NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION, mJ
inline constexpr std::uint32_t kFieldPowerAverage = 185;  // NVML_FI_DEV_POWER_AVERAGE, mW over 1 s
inline constexpr std::uint32_t kFieldPowerInstant = 186;  // NVML_FI_DEV_POWER_INSTANT, mW
inline constexpr std::uint32_t kScopeGpu = 0;             // NVML_POWER_SCOPE_GPU
inline constexpr std::uint32_t kScopeModule = 1;          // NVML_POWER_SCOPE_MODULE

inline constexpr std::uint32_t kArchitectureAmpere = 7;  // NVML_DEVICE_ARCH_AMPERE
inline constexpr std::uint32_t kArchitectureHopper = 9;
inline constexpr std::uint32_t kArchitectureUnknown = 0xFFFFFFFF;

inline constexpr std::uint32_t kClockSm = 1;      // NVML_CLOCK_SM
inline constexpr std::uint32_t kClockMemory = 2;  // NVML_CLOCK_MEM
inline constexpr std::uint32_t kTemperatureGpu = 0;
inline constexpr std::uint32_t kSamplingPower = 0;  // NVML_TOTAL_POWER_SAMPLES

enum Virtualization : std::uint32_t {  // nvmlGpuVirtualizationMode_t
  kBareMetal = 0,
  kPassthrough = 1,
  kVgpu = 2,
  kHostVgpu = 3,
  kHostVsga = 4,
};

/// FLOPWATT_NVML_CALLS(X): X(member, "exported name", parameters) for every call that is used.
#define FLOPWATT_NVML_CALLS(X)                                                                        \
  X(init, "nvmlInit_v2", ())                                                                          \
  X(shutdown, "nvmlShutdown", ())                                                                     \
  X(driver_version, "nvmlSystemGetDriverVersion", (char*, std::uint32_t))                             \
  X(count, "nvmlDeviceGetCount_v2", (std::uint32_t*))                                                 \
  X(handle, "nvmlDeviceGetHandleByIndex_v2", (std::uint32_t, Device*))                                \
  X(name, "nvmlDeviceGetName", (Device, char*, std::uint32_t))                                        \
  X(uuid, "nvmlDeviceGetUUID", (Device, char*, std::uint32_t))                                        \
  X(pci, "nvmlDeviceGetPciInfo_v3", (Device, PciInfo*))                                               \
  X(architecture, "nvmlDeviceGetArchitecture", (Device, std::uint32_t*))                              \
  X(compute_capability, "nvmlDeviceGetCudaComputeCapability", (Device, std::int32_t*, std::int32_t*)) \
  X(power, "nvmlDeviceGetPowerUsage", (Device, std::uint32_t*))                                       \
  X(limit, "nvmlDeviceGetEnforcedPowerLimit", (Device, std::uint32_t*))                               \
  X(energy, "nvmlDeviceGetTotalEnergyConsumption", (Device, std::uint64_t*))                          \
  X(fields, "nvmlDeviceGetFieldValues", (Device, std::int32_t, FieldValue*))                          \
  X(utilization, "nvmlDeviceGetUtilizationRates", (Device, Utilization*))                             \
  X(memory, "nvmlDeviceGetMemoryInfo", (Device, Memory*))                                             \
  X(clock, "nvmlDeviceGetClockInfo", (Device, std::uint32_t, std::uint32_t*))                         \
  X(temperature, "nvmlDeviceGetTemperature", (Device, std::uint32_t, std::uint32_t*))                 \
  X(processes, "nvmlDeviceGetComputeRunningProcesses_v3", (Device, std::uint32_t*, void*))            \
  X(mig_mode, "nvmlDeviceGetMigMode", (Device, std::uint32_t*, std::uint32_t*))                       \
  X(mig_count, "nvmlDeviceGetMaxMigDeviceCount", (Device, std::uint32_t*))                            \
  X(mig_handle, "nvmlDeviceGetMigDeviceHandleByIndex", (Device, std::uint32_t, Device*))              \
  X(virtualization, "nvmlDeviceGetVirtualizationMode", (Device, std::uint32_t*))

}  // namespace flopwatt::telemetry::nvml
