#include "flopwatt/fit/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "flopwatt/base/version.hpp"

namespace flopwatt::fit {
namespace {

void widen(std::optional<power::Range>& range, double value) {
  if (!range) {
    range = power::Range{value, value};
    return;
  }
  range->lo = std::min(range->lo, value);
  range->hi = std::max(range->hi, value);
}

power::InputRanges ranges(const Selection& selection, const Rates& rates) {
  power::InputRanges out;
  std::map<units::Precision, std::optional<power::Range>> flops;
  for (const Sample& sample : selection.samples) {
    for (const power::Peak& peak : selection.peaks) {
      if (peak.dtype == sample.dtype) {
        widen(flops[sample.dtype], sample.mfu_pct / 100 * peak.rate.in(units::flop_per_second));
      }
    }
  }
  for (const RateSample& row : rates.samples) {
    widen(flops[row.sample->dtype], row.flops.in(units::flop_per_second));
    widen(out.bytes_per_second, (row.traffic.parameters + row.traffic.activations).in(units::byte_per_second));
  }
  for (const Sample& sample : selection.usable) {
    widen(out.batch, static_cast<double>(sample.batch));
    if (sample.observation->sequence) widen(out.sequence, *sample.observation->sequence);
    if (const auto tokens = dataset::tokens_per_step(*sample.observation)) {
      widen(out.tokens_per_step, tokens->in(units::token));
    }
  }
  for (const auto& [dtype, range] : flops) out.flops_per_second[dtype] = *range;
  return out;
}

std::string file_name(std::string_view path) {
  const auto slash = path.find_last_of("/\\");
  return std::string{slash == std::string_view::npos ? path : path.substr(slash + 1)};
}

}  // namespace

std::optional<double> idle_watts(const dataset::Dataset& dataset) {
  double sum = 0, n = 0;
  for (const dataset::Observation& row : dataset.idle) {
    if (!row.power || !(row.power->in(units::watt) > 0)) continue;
    sum += row.power->in(units::watt);
    n += 1;
  }
  if (n == 0) return std::nullopt;
  return sum / n;
}

Result<void> fill_provenance(const dataset::Dataset& dataset, const DeviceFacts& facts, const Selection& selection,
                             const Rates& rates, DeviceFit& out) {
  power::Calibration& calibration = out.calibration;
  calibration.device = facts.name;
  calibration.family = facts.family;
  calibration.label = dataset.device;
  calibration.tool = fmt::format("flopwatt {}", base::kVersion);
  for (const dataset::File& file : dataset.files) {
    calibration.sources.push_back({file_name(file.name), file.sha256, file.rows});
  }
  calibration.rows_read = out.rows_read;
  calibration.rows_used = out.rows;
  calibration.dropped = out.dropped;
  calibration.peaks = selection.peaks;
  calibration.idle_watts = idle_watts(dataset);
  calibration.limit_watts = facts.limit_watts;
  calibration.repeat_noise_pct = out.residual_sd_pct.repeat_noise;
  calibration.ranges = ranges(selection, rates);
  calibration.notes = out.notes;
  return {};
}

}  // namespace flopwatt::fit
