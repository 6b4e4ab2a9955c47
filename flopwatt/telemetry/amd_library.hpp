#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "flopwatt/telemetry/reading.hpp"
#include "flopwatt/telemetry/source.hpp"

namespace flopwatt::telemetry::amd {

/// An energy counter as the firmware keeps it.
struct Energy {
  std::uint64_t count = 0;
  double resolution_microjoules = 0;  ///< of one count
  std::uint64_t timestamp_ns = 0;     ///< on the device's clock, when it was last brought up to date
};

/// What ROCm SMI and AMD SMI have in common; a device is a number from 0.
class Library {
 public:
  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  virtual ~Library() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::uint32_t count() const = 0;
  [[nodiscard]] virtual std::string market_name(std::uint32_t device) const = 0;
  [[nodiscard]] virtual std::string uuid(std::uint32_t device) const = 0;
  /// Domain, partition, bus, device and function in 64 bits (rocm_smi.h, rsmi_dev_pci_id_get).
  [[nodiscard]] virtual Reading<std::uint64_t> address(std::uint32_t device) const = 0;
  [[nodiscard]] virtual Reading<units::Power> current_power(std::uint32_t device) const = 0;
  [[nodiscard]] virtual Reading<units::Power> average_power(std::uint32_t device) const = 0;
  [[nodiscard]] virtual Reading<Energy> energy(std::uint32_t device) const = 0;
  [[nodiscard]] virtual Reading<units::Power> limit(std::uint32_t device) const = 0;
  [[nodiscard]] virtual Reading<double> utilization(std::uint32_t device) const = 0;
  [[nodiscard]] virtual Reading<units::DataSize> memory_used(std::uint32_t device) const = 0;
  [[nodiscard]] virtual Reading<units::DataSize> memory_total(std::uint32_t device) const = 0;
  [[nodiscard]] virtual Reading<double> temperature(std::uint32_t device) const = 0;
};

/// Watts that can be; AMD's libraries say 0xFFFF or 0xFFFFFFFF for "not supported".
[[nodiscard]] Reading<units::Power> checked_power(double watts) noexcept;

/// The devices of such a library: identity, dual dies and partitions, kinds of power.
[[nodiscard]] OpenedSource make_source(std::unique_ptr<Library> library);

}  // namespace flopwatt::telemetry::amd
