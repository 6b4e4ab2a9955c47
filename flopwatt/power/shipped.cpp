#include <fmt/format.h>

#include <cctype>

#include "flopwatt/power/calibration.hpp"
#include "flopwatt/power/embedded.hpp"

namespace flopwatt::power {
namespace {

constexpr std::string_view kPriorFile = "prior.json";

std::string folded(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == ' ' || c == '-' || c == '_') continue;
    out.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  }
  return out;
}

}  // namespace

Result<std::vector<Calibration>> shipped_calibrations() {
  std::vector<Calibration> out;
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == kPriorFile) continue;
    FLOPWATT_TRY(out.emplace_back(), read_calibration(file.content, file.name));
  }
  return out;
}

Result<Calibration> shipped_calibration(std::string_view device, std::string_view family) {
  FLOPWATT_TRY(std::vector<Calibration> all, shipped_calibrations());
  std::string names;
  for (Calibration& calibration : all) {
    if (folded(calibration.device) == folded(device)) return std::move(calibration);
    names += (names.empty() ? "" : ", ") + calibration.device;
  }
  for (Calibration& calibration : all) {
    if (!calibration.family || family.empty() || folded(calibration.device) != folded(family)) continue;
    calibration.notes.push_back(
        fmt::format("measured on {}, variant not named; used for {}", calibration.device, device));
    return std::move(calibration);
  }
  return fail(Errc::usage, fmt::format("no calibration of {} ships with flopwatt", base::excerpt(device)), {},
              fmt::format("fit one from measured data (flopwatt fit); there are {}", names));
}

}  // namespace flopwatt::power
