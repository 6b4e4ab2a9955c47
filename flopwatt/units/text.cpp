#include "flopwatt/units/text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "flopwatt/base/text.hpp"

namespace flopwatt::units {
namespace {

using Unit = std::pair<std::string_view, double>;

constexpr auto kDurations = std::to_array<Unit>(
    {{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}});
constexpr auto kEnergies = std::to_array<Unit>({{"mJ", 1e-3},
                                                {"J", 1},
                                                {"kJ", 1e3},
                                                {"MJ", 1e6},
                                                {"GJ", 1e9},
                                                {"Wh", 3.6e3},
                                                {"kWh", 3.6e6},
                                                {"MWh", 3.6e9},
                                                {"GWh", 3.6e12}});
constexpr auto kPowers = std::to_array<Unit>({{"mW", 1e-3}, {"W", 1}, {"kW", 1e3}, {"MW", 1e6}});
constexpr auto kDataSizes = std::to_array<Unit>({{"B", 1},
                                                 {"kB", 1e3},
                                                 {"KB", 1e3},
                                                 {"MB", 1e6},
                                                 {"GB", 1e9},
                                                 {"TB", 1e12},
                                                 {"PB", 1e15},
                                                 {"KiB", 0x1p10},
                                                 {"MiB", 0x1p20},
                                                 {"GiB", 0x1p30},
                                                 {"TiB", 0x1p40},
                                                 {"PiB", 0x1p50}});
constexpr auto kFlopRates = std::to_array<Unit>({{"FLOP/s", 1},
                                                 {"kFLOP/s", 1e3},
                                                 {"MFLOP/s", 1e6},
                                                 {"GFLOP/s", 1e9},
                                                 {"TFLOP/s", 1e12},
                                                 {"PFLOP/s", 1e15},
                                                 {"EFLOP/s", 1e18},
                                                 {"MFLOPS", 1e6},
                                                 {"GFLOPS", 1e9},
                                                 {"TFLOPS", 1e12},
                                                 {"PFLOPS", 1e15},
                                                 {"EFLOPS", 1e18}});

/// The number in base units, or an error that lists the units that would do.
Result<double> parse(std::string_view text, std::span<const Unit> units, std::string_view suffix = {}) {
  const std::string_view content = base::trimmed(text);
  double number = 0;
  const auto [end, error] = std::from_chars(content.data(), content.data() + content.size(), number);
  std::string_view unit = base::trimmed(content.substr(static_cast<std::size_t>(end - content.data())));
  if (error == std::errc{} && std::isfinite(number) && unit.ends_with(suffix)) {
    unit.remove_suffix(suffix.size());
    for (const auto& [name, scale] : units) {
      if (unit == name && std::isfinite(number * scale)) return number * scale;
    }
  }
  std::string known;
  for (const auto& [name, scale] : units) known += fmt::format("{}{}{}", known.empty() ? "" : ", ", name, suffix);
  return fail(Errc::usage, fmt::format("'{}' is not a number with a unit", base::excerpt(text)), "",
              fmt::format("write the number and one of: {}", known));
}

template <class Q>
Result<Q> as(Result<double> base_units) {
  return base_units.map([](double value) { return Q::from_base(value); });
}

struct Prefix {
  std::string_view symbol;
  double scale;
};
constexpr auto kDecimal = std::to_array<Prefix>({{"n", 1e-9},
                                                 {"u", 1e-6},
                                                 {"m", 1e-3},
                                                 {"", 1},
                                                 {"k", 1e3},
                                                 {"M", 1e6},
                                                 {"G", 1e9},
                                                 {"T", 1e12},
                                                 {"P", 1e15},
                                                 {"E", 1e18},
                                                 {"Z", 1e21},
                                                 {"Y", 1e24}});
constexpr auto kBinary = std::to_array<Prefix>(
    {{"", 1}, {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60}});

/// `digits` significant digits without an exponent where the number is of everyday size: 140, not 1.4e+02.
std::string plain(double number, int digits) {
  const double size = std::abs(number);
  if (!(size >= 1) || size >= 1e9) return fmt::format("{:.{}g}", number, digits);
  const std::string rounded = fmt::format("{:.{}e}", number, digits - 1);
  double value = 0;
  std::from_chars(rounded.data(), rounded.data() + rounded.size(), value);
  const int whole = static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9)) + 1;
  return whole >= digits ? fmt::format("{:.0f}", value) : fmt::format("{:.{}g}", number, digits);
}

std::string print(double base_units, std::span<const Prefix> prefixes, std::string_view unit, int digits) {
  const Prefix* best = nullptr;
  for (const Prefix& prefix : prefixes) {
    if (best == nullptr || std::abs(base_units) >= prefix.scale) best = &prefix;
  }
  if (base_units == 0 || !std::isfinite(base_units)) return fmt::format("{:.{}g} {}", base_units, digits, unit);
  return fmt::format("{} {}{}", plain(base_units / best->scale, digits), best->symbol, unit);
}

constexpr std::span<const Prefix> kNoSmallPrefix = std::span{kDecimal}.subspan(3);
constexpr std::span<const Prefix> kNoPrefix = std::span{kDecimal}.subspan(3, 1);
constexpr std::span<const Prefix> kSmallPrefix = std::span{kDecimal}.first(4);

}  // namespace

Result<Duration> parse_duration(std::string_view text) { return as<Duration>(parse(text, kDurations)); }
Result<Energy> parse_energy(std::string_view text) { return as<Energy>(parse(text, kEnergies)); }
Result<Power> parse_power(std::string_view text) { return as<Power>(parse(text, kPowers)); }
Result<DataSize> parse_data_size(std::string_view text) { return as<DataSize>(parse(text, kDataSizes)); }
Result<Bandwidth> parse_bandwidth(std::string_view text) { return as<Bandwidth>(parse(text, kDataSizes, "/s")); }
Result<FlopRate> parse_flop_rate(std::string_view text) { return as<FlopRate>(parse(text, kFlopRates)); }

std::string to_text(Duration value, int digits) {
  const double seconds = value.in(second);
  if (seconds >= 48 * 3600) return plain(seconds / 86400, digits) + " d";
  if (seconds >= 2 * 3600) return plain(seconds / 3600, digits) + " h";
  if (seconds >= 120) return plain(seconds / 60, digits) + " min";
  return print(seconds, kSmallPrefix, "s", digits);
}
std::string to_text(Energy value, int digits) { return print(value.in(joule), kDecimal, "J", digits); }
std::string to_text(Power value, int digits) { return print(value.in(watt), kNoSmallPrefix, "W", digits); }
std::string to_text(DataSize value, int digits) { return print(value.in(byte), kNoSmallPrefix, "B", digits); }
std::string to_text(Bandwidth value, int digits) {
  return print(value.in(byte_per_second), kNoSmallPrefix, "B/s", digits);
}
std::string to_text(FlopCount value, int digits) { return print(value.in(flop), kNoSmallPrefix, "FLOP", digits); }
std::string to_text(FlopRate value, int digits) {
  return print(value.in(flop_per_second), kNoSmallPrefix, "FLOP/s", digits);
}
std::string to_text(TokenRate value, int digits) {
  return print(value.in(token_per_second), kNoPrefix, "token/s", digits);
}
std::string to_binary_text(DataSize value, int digits) { return print(value.in(byte), kBinary, "B", digits); }

}  // namespace flopwatt::units
