#include "flopwatt/device/peak.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

namespace flopwatt::device {
namespace {

using units::Precision;

constexpr std::string_view kGiveIt = "or give the peak with --peak-tflops";

bool is_integer(Precision precision) noexcept { return precision == Precision::int8 || precision == Precision::int4; }

// A merged device has one also where its variants differ in every tensor peak.
bool has_tensor_path(const Device& device) {
  return std::any_of(device.peaks.begin(), device.peaks.end(),
                     [](const Peak& peak) { return peak.path != Path::vector; }) ||
         std::any_of(device.differences.begin(), device.differences.end(), [](const Difference& difference) {
           return difference.peak_kind && difference.peak_kind->path != Path::vector;
         });
}

Path default_path(const Device& device, Precision precision) {
  if (precision == Precision::float32) return Path::vector;
  return has_tensor_path(device) ? Path::tensor_dense : Path::vector;
}

// Vector units sum in the type of their operands, so that there is nothing to choose there.
bool fits(const PeakKind& kind, Precision precision, Path path, std::optional<Accumulate> accumulate) {
  if (kind.precision != precision || kind.path != path) return false;
  if (accumulate) return kind.accumulate == *accumulate;
  return path == Path::vector || kind.accumulate == (is_integer(precision) ? Accumulate::int32 : Accumulate::fp32);
}

std::string remedy(const Device& device) {
  const std::string known = known_precisions(device);
  return known.empty() ? std::string{"give the peak with --peak-tflops"}
                       : fmt::format("it has {}; use one of them {}", known, kGiveIt);
}

}  // namespace

std::string known_precisions(const Device& device) {
  std::vector<std::string_view> known;
  for (const Precision precision : units::kPrecisions) {
    if (std::any_of(device.peaks.begin(), device.peaks.end(),
                    [precision](const Peak& peak) { return peak.precision == precision; })) {
      known.push_back(units::name(precision));
    }
  }
  return fmt::format("{}", fmt::join(known, ", "));
}

Result<Peak> peak(const Device& device, Precision precision, const PeakRequest& request) {
  for (const Unsupported& entry : device.unsupported) {
    if (entry.precision == precision) {
      return fail(Errc::usage, fmt::format("{} has no {}: {}", device.name, units::name(precision), entry.reason), {},
                  remedy(device));
    }
  }
  const Path path = request.path.value_or(default_path(device, precision));
  for (const Peak& candidate : device.peaks) {
    if (fits(kind(candidate), precision, path, request.accumulate)) return candidate;
  }
  for (const Difference& difference : device.differences) {
    if (difference.peak_kind && fits(*difference.peak_kind, precision, path, request.accumulate)) {
      return fail(Errc::usage,
                  fmt::format("{} stands for several devices whose {} differs: {}", device.name, difference.figure,
                              difference.values),
                  {}, fmt::format("name one of {}", fmt::join(device.variants, ", ")));
    }
  }
  const std::string accumulate =
      request.accumulate ? fmt::format(" with {} accumulation", name(*request.accumulate)) : "";
  return fail(Errc::usage,
              fmt::format("no {} peak of {} is known on the {} path{}", units::name(precision), device.name, name(path),
                          accumulate),
              {}, remedy(device));
}

std::vector<Peak> peaks_for(const Device& device, Precision precision) {
  std::vector<Peak> found;
  std::copy_if(device.peaks.begin(), device.peaks.end(), std::back_inserter(found),
               [precision](const Peak& peak) { return peak.precision == precision; });
  return found;
}

std::vector<PeakMatch> matching_peaks(const Device& device, units::FlopRate implied, double tolerance) {
  std::vector<std::pair<double, std::size_t>> close;  // distance, then order of the catalogue
  for (std::size_t i = 0; i < device.peaks.size(); ++i) {
    const double distance = std::abs(implied / device.peaks[i].rate - 1.0);
    if (distance <= tolerance) close.emplace_back(distance, i);
  }
  std::sort(close.begin(), close.end());
  std::vector<PeakMatch> found;
  for (const auto& [distance, at] : close) {
    found.push_back({device.peaks[at], implied / device.peaks[at].rate - 1.0});
  }
  return found;
}

}  // namespace flopwatt::device
