#include "flopwatt/engine/power_source.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "flopwatt/units/text.hpp"

namespace flopwatt::engine {

Result<PowerSource> PowerSource::open(const Facts& facts, const device::Device& device,
                                      const std::string& calibration_file) {
  PowerSource source;
  source.device_ = device;
  if (calibration_file.empty()) {
    source.found_ = facts.calibration(device);
  } else {
    FLOPWATT_TRY(source.found_, read_calibration_file(calibration_file));
    if (!belongs_to(source.found_->calibration, device)) {
      return fail(Errc::usage,
                  fmt::format("{} was measured on {}, not on {}", calibration_file,
                              base::excerpt(source.found_->calibration.device), device.name),
                  "--calibration", "name its device by --device, or use a calibration of this one");
    }
  }
  if (!source.found_ && !device.board_limit) {
    return fail(Errc::usage, fmt::format("{} has no calibration and no known board limit", device.name), "--device",
                "state --tdp-w or give a --calibration");
  }
  return source;
}

Result<power::Prediction> PowerSource::predict(power::Query query) const {
  if (device_.board_limit) query.limit = device_.board_limit->value;
  if (found_) {
    auto prediction = power::predict(found_->calibration, query);
    if (!prediction && prediction.error().code == Errc::bad_data && prediction.error().where.empty()) {
      prediction.error().where = found_->origin == "shipped" ? "shipped calibration" : found_->origin;
    }
    return prediction;
  }
  power::Prior prior;
  prior.limit = device_.board_limit->value;
  if (device_.idle) prior.idle = device_.idle->value;
  if (const auto peak = device::peak(device_, query.dtype)) prior.peak = peak->rate;
  if (device_.memory_bandwidth) prior.bandwidth = device_.memory_bandwidth->value;
  return power::predict_uncalibrated(device_.name, prior, query);
}

Result<units::FlopRate> PowerSource::flop_rate(units::Precision dtype, double mfu) const {
  if (found_) return power::flop_rate(found_->calibration, dtype, mfu);
  FLOPWATT_TRY(const device::Peak peak, peak_of(device_, dtype));
  return mfu * peak.rate;
}

std::optional<units::FlopRate> PowerSource::peak(units::Precision dtype) const {
  const Result<units::FlopRate> rate = flop_rate(dtype, 1);
  if (!rate || !(*rate > units::FlopRate{})) return std::nullopt;
  return *rate;
}

std::optional<answers::Flag> PowerSource::peak_flag(units::Precision dtype, bool of_catalogue) const {
  const power::Peak* measured = found_ ? power::peak_of_rows(found_->calibration, dtype) : nullptr;
  const Result<device::Peak> catalogue = device::peak(device_, dtype);
  if (measured == nullptr || measured->path.empty() || !catalogue) return std::nullopt;
  if (measured->path == device::name(catalogue->path)) return std::nullopt;
  const auto words = [](std::string_view path) {
    std::string text{path};
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
  };
  const std::string of_rows = fmt::format("{} ({})", units::to_text(measured->rate), words(measured->path));
  const std::string of_device =
      fmt::format("{} ({})", units::to_text(catalogue->rate), words(device::name(catalogue->path)));
  const std::string_view dtype_name = units::name(dtype);
  const std::string text =
      of_catalogue ? fmt::format("the MFU is of {}, the catalogue's {} peak of {}; the calibration's {} rows ran on {}",
                                 of_device, dtype_name, device_.name, dtype_name, of_rows)
                   : fmt::format(
                         "the MFU is of {}, which the calibration's {} rows ran on; the catalogue's {} peak of "
                         "{} is {}",
                         of_rows, dtype_name, dtype_name, device_.name, of_device);
  return answers::Flag{"peak_path_differs", text};
}

std::optional<answers::Flag> PowerSource::synthetic_flag() const {
  if (!found_) return std::nullopt;
  const auto& findings = found_->calibration.findings;
  const auto found =
      std::ranges::find_if(findings, [](const power::Finding& one) { return one.code == "synthetic_power"; });
  if (found == findings.end()) return std::nullopt;
  return answers::Flag{found->code, fmt::format("the calibration is no measurement: {}", found->text)};
}

answers::CalibrationUsed PowerSource::used(units::Precision dtype) const {
  answers::CalibrationUsed used;
  if (!found_) return used;
  used.device = found_->calibration.device;
  used.origin = found_->origin;
  if (const power::Peak* peak = power::peak_of_rows(found_->calibration, dtype)) used.peak = *peak;
  return used;
}

}  // namespace flopwatt::engine
