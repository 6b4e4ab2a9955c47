#include "flopwatt/telemetry/source.hpp"

#include <fmt/format.h>

namespace flopwatt::telemetry {

std::string DeviceInfo::id() const {
  if (!uuid.empty()) return uuid;
  if (!pci_id.empty()) return pci_id;
  if (!path.empty()) return path;
  return fmt::format("{}:{}", source, index);
}

base::Error SourceAbsence::error() const {
  return {.code = base::Errc::unavailable,
          .what = detail.empty() ? std::string{text(reason)} : fmt::format("{} ({})", detail, text(reason)),
          .where = source,
          .remedy = remedy};
}

std::vector<std::size_t> outermost(std::span<const DeviceInfo> devices) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!devices[i].part_of) indices.push_back(i);
  }
  return indices;
}

}  // namespace flopwatt::telemetry
