#include "flopwatt/report/fit_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flopwatt/base/counted.hpp"

namespace flopwatt::report {

Cell number(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  // A bias of -0.02 is no negative zero.
  if (text.starts_with('-') && text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
  return {std::move(text), value};
}
Cell number(const std::optional<double>& value, int decimals) { return value ? number(*value, decimals) : Cell{"–"}; }

Cell with_ci(const std::optional<double>& value, const std::optional<fit::Interval>& ci, int decimals) {
  if (!value) return {"–"};
  if (!ci) return number(*value, decimals);
  return {fmt::format("{:.{}f} ± {:.{}f}", *value, decimals, ci->half_width(), decimals), *value};
}

std::string path_text(const power::Peak& peak) {
  if (peak.path.empty()) {
    if (peak.known_by == "file") return "not stated";
    return peak.source.find(" or ") == std::string::npos ? "unknown" : "several have it";
  }
  std::string text = peak.path;
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string rows_lost(const fit::DeviceFit& device) {
  std::string text;
  if (device.averaged.samples > 0) {
    text = fmt::format("{} averaged over {}", base::counted(device.averaged.samples, "sample"),
                       base::counted(device.averaged.runs, "run"));
  }
  std::string dropped;
  for (const power::DroppedRows& reason : device.dropped) {
    dropped += fmt::format("{}{} × {}", dropped.empty() ? "left out: " : ", ", reason.rows, reason.reason);
  }
  return text + (text.empty() || dropped.empty() ? "" : "; ") + dropped;
}

std::vector<Fact> rows_of(const fit::FitResult& result) {
  std::vector<Fact> facts;
  for (const fit::DeviceFit& d : result.devices) {
    std::string filter = "filter: power, known dtype, whole batch, MFU";
    if (const std::string lost = rows_lost(d); !lost.empty()) filter += "; " + lost;
    std::string rows = fmt::format("{} of {} rows", d.rows, d.rows_read);
    const auto saturating = d.models.find(power::Form::saturating);
    if (saturating != d.models.end() && saturating->second.rows != d.rows)
      rows += fmt::format(", the saturating class {} (it needs no MFU but a model that can be counted)",
                          saturating->second.rows);
    facts.push_back({d.device, rows, filter});
  }
  return facts;
}

}  // namespace flopwatt::report
