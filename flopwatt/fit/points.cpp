#include "flopwatt/fit/points.hpp"

#include <optional>
#include <unordered_map>
#include <utility>

#include "flopwatt/fit/lines.hpp"
#include "flopwatt/stats/ols.hpp"

namespace flopwatt::fit {
namespace {

using power::Form;

constexpr Form kLineForms[] = {Form::linear, Form::dtype, Form::cell};

Point measured(const dataset::Dataset& dataset, const Sample& sample, bool has_mfu) {
  const dataset::Observation& row = *sample.observation;
  Point point;
  point.place = dataset.place(row);
  point.place = point.place.substr(point.place.find_last_of("/\\") + 1);
  point.model = row.model;
  point.dtype = sample.dtype;
  point.batch = sample.batch;
  point.sequence = row.sequence;
  point.configuration = sample.configuration;
  point.power_watts = sample.power_watts;
  if (has_mfu) point.mfu_pct = sample.mfu_pct;
  if (row.gpu_utilization) point.utilization_pct = 100 * *row.gpu_utilization;
  if (row.meter_active_power) point.meter_watts = row.meter_active_power->in(units::watt);
  return point;
}

/// None where the points are too few or do not vary.
std::optional<StraightLine> straight_line(const std::vector<double>& x, const std::vector<double>& y) {
  const auto fit = stats::fit_simple_ols(x, y);
  if (!fit) return std::nullopt;
  return StraightLine{fit->n, fit->intercept, fit->slope, fit->r2};
}

/// A meter that shows nothing but zeros was not connected.
std::optional<StraightLine> meter_line(const std::vector<Point>& points) {
  std::vector<double> device, meter;
  bool reads = false;
  for (const Point& point : points) {
    if (!point.meter_watts) continue;
    device.push_back(point.power_watts);
    meter.push_back(*point.meter_watts);
    reads = reads || *point.meter_watts > 0;
  }
  return reads ? straight_line(device, meter) : std::nullopt;
}

std::map<units::Precision, StraightLine> utilization_lines(const std::vector<Point>& points) {
  std::map<units::Precision, std::pair<std::vector<double>, std::vector<double>>> columns;
  for (const Point& point : points) {
    if (!point.utilization_pct || !point.mfu_pct) continue;  // the rows of the device's own line
    columns[point.dtype].first.push_back(*point.utilization_pct);
    columns[point.dtype].second.push_back(point.power_watts);
  }
  std::map<units::Precision, StraightLine> out;
  for (const auto& [dtype, xy] : columns) {
    if (const auto line = straight_line(xy.first, xy.second)) out.emplace(dtype, *line);
  }
  return out;
}

/// Unlike the fit, which starts from the mean of the variants, an MBU needs the one true bandwidth.
std::optional<double> certain_bandwidth(const DeviceFacts& facts) {
  if (!facts.device || !facts.device->memory_bandwidth) return std::nullopt;
  return facts.device->memory_bandwidth->value.in(units::byte_per_second);
}

}  // namespace

Details details(const dataset::Dataset& dataset, const DeviceFacts& facts, const Selection& selection,
                const Rates& rates, const std::map<Form, HeldOutRows>& held_out, const DeviceFit& fitted) {
  Details out;
  out.peak_bytes_per_second = certain_bandwidth(facts);
  std::unordered_map<const dataset::Observation*, std::size_t> place;
  for (const Sample& sample : selection.usable) {
    place.emplace(sample.observation, out.points.size());
    out.points.push_back(measured(dataset, sample, false));
  }
  const auto point_of = [&](const dataset::Observation* row) -> Point& { return out.points[place.at(row)]; };
  for (const Sample& sample : selection.samples) {
    Point& point = point_of(sample.observation);
    point.mfu_pct = sample.mfu_pct;
    for (const Form form : kLineForms) {
      const power::Line* line = line_of(fitted.calibration.lines, form, sample);
      if (line == nullptr) continue;
      point.predicted_watts[form] = line->intercept_watts + line->slope_watts_per_pct * sample.mfu_pct;
    }
  }
  for (const RateSample& row : rates.samples) {
    Point& point = point_of(row.sample->observation);
    point.flops_per_second = row.flops.in(units::flop_per_second);
    point.bytes_per_second = row.fused_bytes_per_second;
    if (out.peak_bytes_per_second) point.mbu_pct = 100 * row.fused_bytes_per_second / *out.peak_bytes_per_second;
    if (fitted.calibration.saturating) {
      point.predicted_watts[Form::saturating] =
          fitted.calibration.saturating->watts(row.sample->dtype, row.flops, row.traffic);
    }
  }
  for (const auto& [form, rows] : held_out) {
    for (const HeldOut& row : rows.rows) point_of(row.observation).held_out_watts[form] = row.predicted_watts;
  }
  if (fitted.utilization) out.utilization = utilization_lines(out.points);
  out.meter = meter_line(out.points);
  return out;
}

}  // namespace flopwatt::fit
