#include "flopwatt/device/custom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace flopwatt::device {
namespace {

using units::Precision;

Result<void> check(double value, std::string_view option) {
  if (value > 0 && std::isfinite(value)) return {};
  return fail(Errc::usage, fmt::format("{} must be positive and finite, not {}", option, value), std::string{option},
              "give the device's figure");
}

std::vector<Source> stated(std::string_view option) { return {{std::string{option}, ""}}; }

template <class Quantity>
Figure<Quantity> given(Quantity value, std::string_view option) {
  return {value, std::nullopt, stated(option), Confidence::single, ""};
}

void set_peak(Device& device, Precision precision, units::FlopRate rate) {
  const bool integer = precision == Precision::int8 || precision == Precision::int4;
  Peak peak;
  peak.precision = precision;
  peak.path = precision == Precision::float32 ? Path::vector : Path::tensor_dense;
  peak.accumulate = integer ? Accumulate::int32 : Accumulate::fp32;
  peak.rate = rate;
  peak.sources = stated("--peak-tflops");
  peak.confidence = Confidence::single;
  peak.origin = Origin::given;
  const PeakKind replaced = kind(peak);
  std::erase_if(device.peaks, [&replaced](const Peak& other) { return kind(other) == replaced; });
  device.peaks.push_back(std::move(peak));
  std::erase_if(device.unsupported, [precision](const Unsupported& entry) { return entry.precision == precision; });
  std::erase_if(device.differences, [&replaced](const Difference& entry) { return entry.peak_kind == replaced; });
}

void forget_difference(Device& device, std::string_view figure) {
  std::erase_if(device.differences, [figure](const Difference& entry) { return entry.figure == figure; });
}

}  // namespace

Result<Device> with_given(Device device, Precision precision, const GivenFigures& figures) {
  std::string replaced;
  if (figures.peak) {
    FLOPWATT_TRY_VOID(check(figures.peak->in(units::teraflop_per_second), "--peak-tflops"));
    set_peak(device, precision, *figures.peak);
    replaced += fmt::format(" the {} peak,", units::name(precision));
  }
  if (figures.memory_bandwidth) {
    FLOPWATT_TRY_VOID(check(figures.memory_bandwidth->in(units::gigabyte_per_second), "--mem-bw-gbs"));
    device.memory_bandwidth = given(*figures.memory_bandwidth, "--mem-bw-gbs");
    forget_difference(device, "memory bandwidth");
    replaced += " the memory bandwidth,";
  }
  if (figures.board_limit) {
    FLOPWATT_TRY_VOID(check(figures.board_limit->in(units::watt), "--tdp-w"));
    device.board_limit = given(*figures.board_limit, "--tdp-w");
    forget_difference(device, "board limit");
    replaced += " the board limit,";
  }
  if (!replaced.empty()) {
    replaced.pop_back();
    device.notes.push_back("given on the command line:" + replaced);
  }
  return device;
}

Result<Device> make_custom(Precision precision, const GivenFigures& figures) {
  if (figures.empty()) {
    return fail(Errc::usage, "neither a device nor its figures are given", {},
                "name a device, or give --peak-tflops, --mem-bw-gbs and --tdp-w");
  }
  Device device;
  device.name = "custom";
  device.family = "custom";
  return with_given(std::move(device), precision, figures);
}

}  // namespace flopwatt::device
