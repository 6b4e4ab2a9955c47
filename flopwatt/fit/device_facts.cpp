#include "flopwatt/fit/device_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "flopwatt/device/peak.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::fit {
namespace {

/// An implied peak is the catalogue's where they differ by less: the catalogue prints three digits.
constexpr double kSamePeak = 0.01;

std::string describe(const device::Peak& peak) {
  return fmt::format("{} {} ({} accumulation)", units::name(peak.precision), device::name(peak.path),
                     device::name(peak.accumulate));
}

power::Peak to_power(const device::Peak& peak, units::Precision dtype, std::string_view known_by) {
  return {dtype,
          peak.rate,
          std::string{device::name(peak.path)},
          std::string{device::name(peak.accumulate)},
          std::string{known_by},
          fmt::format("{}: {}", describe(peak), device::to_text(peak.sources))};
}

/// A path on which a program may have run products of this dtype.
bool can_run(const device::Peak& peak, units::Precision dtype) {
  using units::Precision;
  if (peak.path == device::Path::tensor_sparse) return false;
  if (dtype == Precision::float32) return peak.precision == Precision::float32 || peak.precision == Precision::tf32;
  return peak.precision == dtype && peak.path == device::Path::tensor_dense;
}

std::optional<double> bandwidth(const device::Catalogue& catalogue, const device::Device& found,
                                std::string_view label) {
  if (found.memory_bandwidth) return found.memory_bandwidth->value.in(units::byte_per_second);
  double sum = 0, n = 0;
  for (const device::Device* variant : catalogue.find_all(label)) {
    if (!variant->memory_bandwidth) continue;
    sum += variant->memory_bandwidth->value.in(units::byte_per_second);
    n += 1;
  }
  if (n == 0) return std::nullopt;
  return sum / n;
}

}  // namespace

DeviceFacts device_facts(const device::Catalogue& catalogue, std::string_view label) {
  DeviceFacts facts;
  facts.name = label;
  auto found = catalogue.resolve(label);
  if (!found) {
    facts.notes.push_back(catalogue.not_here(label) + ": its limit and its peaks are not known");
    return facts;
  }
  facts.name = found->name;
  facts.family = !found->variants.empty();
  if (found->board_limit) facts.limit_watts = found->board_limit->value.in(units::watt);
  facts.bytes_per_second = bandwidth(catalogue, *found, label);
  if (facts.family) {
    facts.notes.push_back(
        fmt::format("the data say {} without naming the variant ({}); figures in which they differ come "
                    "from the rows",
                    found->name, fmt::join(found->variants, ", ")));
  }
  facts.device = std::move(*found);
  return facts;
}

Result<power::Peak> catalogue_peak(const DeviceFacts& facts, units::Precision dtype) {
  if (!facts.device) {
    return fail(Errc::bad_data, fmt::format("{} is not in the device catalogue", base::excerpt(facts.name)), "--peaks",
                "name its peaks in a file");
  }
  FLOPWATT_TRY(const device::Peak peak, device::peak(*facts.device, dtype));
  return to_power(peak, dtype, "catalogue");
}

Result<power::Peak> executed_peak(const DeviceFacts& facts, units::Precision dtype, units::FlopRate achieved) {
  if (!facts.device) return catalogue_peak(facts, dtype);
  const device::Peak* best = nullptr;
  for (const device::Peak& peak : facts.device->peaks) {
    if (!can_run(peak, dtype) || peak.rate < achieved) continue;
    if (best == nullptr || peak.rate < best->rate) best = &peak;
  }
  if (best == nullptr) {
    return fail(Errc::bad_data,
                fmt::format("{} in {}: {} were achieved, faster than every path that the catalogue knows", facts.name,
                            units::name(dtype), units::to_text(achieved)),
                "--peaks", "check the rows with flopwatt audit, or name the peaks in a file");
  }
  return to_power(*best, dtype, "audited");
}

void explain(power::Peak& peak, const DeviceFacts& facts) {
  if (!facts.device) return;
  const std::vector<device::PeakMatch> matches = device::matching_peaks(*facts.device, peak.rate, kSamePeak);
  std::vector<const device::Peak*> same;
  for (const device::PeakMatch& match : matches) {
    if (can_run(match.peak, peak.dtype)) same.push_back(&match.peak);
  }
  if (same.empty()) {  // then a figure that no run of this dtype can reach, such as a sparse one
    for (const device::PeakMatch& match : matches) {
      if (match.peak.precision == peak.dtype) same.push_back(&match.peak);
    }
  }
  if (same.empty()) {
    peak.source += "; no peak of the catalogue explains it";
    return;
  }
  std::string names;
  bool one_path = true;
  for (const device::Peak* candidate : same) {
    names += (names.empty() ? "" : " or ") + describe(*candidate);
    one_path = one_path && candidate->path == same.front()->path;
  }
  peak.source += fmt::format("; the catalogue's {}", names);
  if (!one_path) return;
  peak.path = device::name(same.front()->path);
  peak.accumulate = device::name(same.front()->accumulate);
}

}  // namespace flopwatt::fit
