#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "flopwatt/fit/fit.hpp"
#include "flopwatt/io/json_reader.hpp"
#include "flopwatt/io/toml.hpp"

namespace flopwatt::fit {

std::optional<PeaksFrom> parse_peaks_from(std::string_view text) noexcept {
  if (text == "recorded") return PeaksFrom::recorded;
  if (text == "catalogue") return PeaksFrom::catalogue;
  if (text == "audited") return PeaksFrom::audited;
  return std::nullopt;  // a file name: the caller reads it
}

Result<PeakTable> read_peaks(std::string_view text, std::string_view where) {
  FLOPWATT_TRY(const io::Json document, io::parse_toml(text, where));
  FLOPWATT_TRY(const io::JsonObject root, io::JsonObject::root(document, where));
  PeakTable table;
  table.source = where;
  for (const std::string& device : root.keys()) {
    FLOPWATT_TRY(const io::JsonObject dtypes, root.require_object(device));
    auto& peaks = table.peaks[device];
    for (const std::string& key : dtypes.keys()) {
      const auto dtype = units::parse_precision(key);
      if (!dtype) return fail(dtypes.error(key, "is no dtype", "write TFLOP/s by dtype: float32 = 156"));
      FLOPWATT_TRY(const double teraflops, dtypes.require_number(key, std::numeric_limits<double>::min()));
      if (!peaks.emplace(*dtype, teraflops * units::teraflop_per_second).second) {
        return fail(dtypes.error(key, fmt::format("{} is stated twice", units::name(*dtype))));
      }
    }
  }
  if (table.peaks.empty()) return fail(Errc::bad_data, "no device in the table of peaks", std::string{where});
  return table;
}

std::optional<units::FlopRate> find_peak(const PeakTable& table, std::string_view device, units::Precision dtype) {
  for (const auto& [name, peaks] : table.peaks) {
    if (!dataset::same_device(name, device)) continue;
    const auto found = peaks.find(dtype);
    if (found != peaks.end()) return found->second;
  }
  return std::nullopt;
}

}  // namespace flopwatt::fit
