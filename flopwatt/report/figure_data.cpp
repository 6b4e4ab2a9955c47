#include "flopwatt/report/figure_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "flopwatt/io/csv_writer.hpp"
#include "flopwatt/stats/error_metrics.hpp"

namespace flopwatt::report {
namespace {

using power::Form;

const std::vector<fit::Point>& points(const fit::DeviceFit& device) {
  static const std::vector<fit::Point> kNone;
  return device.details ? device.details->points : kNone;
}

template <class Key>
std::optional<double> look_up(const std::map<Key, double>& values, const Key& key) {
  const auto found = values.find(key);
  if (found == values.end()) return std::nullopt;
  return found->second;
}

std::optional<double> utilization_watts(const fit::DeviceFit& device, const fit::Point& point) {
  if (!device.utilization || !point.utilization_pct || !point.mfu_pct) return std::nullopt;
  return device.utilization->intercept_watts + device.utilization->slope_watts_per_pct * *point.utilization_pct;
}

std::optional<double> utilization_line_watts(const fit::DeviceFit& device, const fit::Point& point) {
  if (!device.details || !point.utilization_pct || !point.mfu_pct) return std::nullopt;
  const auto line = device.details->utilization.find(point.dtype);
  if (line == device.details->utilization.end()) return std::nullopt;
  return line->second.intercept + line->second.slope * *point.utilization_pct;
}

std::optional<double> meter_line_watts(const fit::DeviceFit& device, const fit::Point& point) {
  if (!device.details || !device.details->meter || !point.meter_watts) return std::nullopt;
  return device.details->meter->intercept + device.details->meter->slope * point.power_watts;
}

/// Ascending errors of one form on one device.
std::vector<double> in_sample_errors(const fit::DeviceFit& device, Form form) {
  std::vector<double> errors;
  for (const fit::Point& point : points(device)) {
    if (const auto predicted = look_up(point.predicted_watts, form))
      errors.push_back(error_pct(*predicted, point.power_watts));
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

/// The smallest of 1, 2, 5, 10, 20, … that makes at most `bins` of the range.
double bin_width(double range, double bins) {
  double width = 1;
  for (std::size_t step = 0; range / width > bins; ++step) width *= step % 3 == 1 ? 2.5 : 2;
  return width;
}

std::vector<std::string> names(const std::vector<RowColumn>& columns) {
  std::vector<std::string> out;
  for (const RowColumn& column : columns) out.push_back(column.name);
  return out;
}

}  // namespace

double error_pct(double predicted_watts, double measured_watts) noexcept {
  return 100 * (predicted_watts / measured_watts - 1);
}

std::string axis_label(double value) { return fmt::format("{}", value); }

std::vector<FormColumn> form_columns(const answers::Fit& answer) {
  std::set<Form> forms;
  for (const fit::DeviceFit& device : answer.result.devices) {
    for (const auto& [form, summary] : device.models) forms.insert(form);
  }
  std::vector<FormColumn> out;
  for (const Form form : forms) {
    const std::string name{power::name(form)};
    out.push_back({form, name, name + "_watts"});
  }
  return out;
}

std::vector<RowColumn> row_columns(const answers::Fit& answer) {
  std::vector<RowColumn> columns{{"device", false}, {"place", false}, {"model", false}, {"dtype", false}};
  for (const char* name : {"batch", "sequence", "configuration", "power_watts", "mfu_pct", "utilization_pct", "mbu_pct",
                           "flops_per_second", "bytes_per_second", "meter_watts"}) {
    columns.push_back({name});
  }
  for (const FormColumn& form : form_columns(answer)) columns.push_back({form.column});
  for (const FormColumn& form : form_columns(answer)) columns.push_back({form.name + "_held_out_watts"});
  for (const char* name : {"utilization_watts", "utilization_line_watts", "meter_line_watts"})
    columns.push_back({name});
  return columns;
}

std::size_t point_stride(const answers::Fit& answer) {
  std::size_t rows = 0;
  for (const fit::DeviceFit& device : answer.result.devices) rows += points(device).size();
  return rows == 0 ? 1 : (rows + kMostPoints - 1) / kMostPoints;
}

std::string rows_csv(const answers::Fit& answer) {
  const std::vector<FormColumn> forms = form_columns(answer);
  const std::size_t stride = point_stride(answer);
  io::CsvWriter csv{names(row_columns(answer))};
  for (const fit::DeviceFit& device : answer.result.devices) {
    for (std::size_t i = 0; i < points(device).size(); i += stride) {
      const fit::Point& point = points(device)[i];
      csv.field(device.device).field(point.place).field(point.model).field(units::name(point.dtype));
      csv.field(point.batch).field(point.sequence).field(point.configuration).field(point.power_watts);
      csv.field(point.mfu_pct).field(point.utilization_pct).field(point.mbu_pct).field(point.flops_per_second);
      csv.field(point.bytes_per_second).field(point.meter_watts);
      for (const FormColumn& form : forms) csv.field(look_up(point.predicted_watts, form.form));
      for (const FormColumn& form : forms) csv.field(look_up(point.held_out_watts, form.form));
      csv.field(utilization_watts(device, point)).field(utilization_line_watts(device, point));
      csv.field(meter_line_watts(device, point)).end_row();
    }
  }
  return std::move(csv).take();
}

std::string batches_csv(const answers::Fit& answer) {
  io::CsvWriter csv{{"device", "quantity", "batch", "rows", "mean_pct", "p10_pct", "p90_pct"}};
  const auto write = [&](const std::string& device, std::string_view quantity,
                         std::map<std::int64_t, std::vector<double>>& batches) {
    for (auto& [batch, values] : batches) {
      double sum = 0;
      for (const double value : values) sum += value;
      std::sort(values.begin(), values.end());
      csv.field(device).field(quantity).field(batch).field(values.size());
      csv.field(sum / static_cast<double>(values.size())).field(stats::quantile_of_sorted(values, 0.1));
      csv.field(stats::quantile_of_sorted(values, 0.9)).end_row();
    }
  };
  for (const fit::DeviceFit& device : answer.result.devices) {
    std::map<std::int64_t, std::vector<double>> mfu, utilization;
    for (const fit::Point& point : points(device)) {
      if (!point.mfu_pct) continue;
      mfu[point.batch].push_back(*point.mfu_pct);
      if (device.utilization && point.utilization_pct) utilization[point.batch].push_back(*point.utilization_pct);
    }
    write(device.device, "MFU", mfu);
    write(device.device, "utilization", utilization);
  }
  return std::move(csv).take();
}

std::string errors_csv(const answers::Fit& answer) {
  constexpr double kBins = 60;
  const std::vector<FormColumn> forms = form_columns(answer);
  double lowest = 0, highest = 0;
  for (const fit::DeviceFit& device : answer.result.devices) {
    for (const FormColumn& form : forms) {
      const std::vector<double> errors = in_sample_errors(device, form.form);
      if (errors.empty()) continue;
      lowest = std::min(lowest, errors.front());
      highest = std::max(highest, errors.back());
    }
  }
  const double width = bin_width(highest - lowest, kBins);
  io::CsvWriter csv{{"device", "class", "error_from_pct", "error_to_pct", "rows", "share_pct"}};
  for (const fit::DeviceFit& device : answer.result.devices) {
    for (const FormColumn& form : forms) {
      const std::vector<double> errors = in_sample_errors(device, form.form);
      if (errors.empty()) continue;
      // One empty bin at each end, so that the outline comes down to zero.
      const double first = std::floor(errors.front() / width) - 1, last = std::floor(errors.back() / width) + 1;
      std::vector<std::size_t> bins(static_cast<std::size_t>(last - first) + 1);
      for (const double error : errors) ++bins[static_cast<std::size_t>(std::floor(error / width) - first)];
      for (std::size_t i = 0; i < bins.size(); ++i) {
        const double from = (first + static_cast<double>(i)) * width;
        csv.field(device.device).field(form.name).field(from).field(from + width).field(bins[i]);
        csv.field(100 * static_cast<double>(bins[i]) / static_cast<double>(errors.size())).end_row();
      }
    }
  }
  return std::move(csv).take();
}

std::string held_out_csv(const answers::Fit& answer) {
  io::CsvWriter csv{{"device", "class", "share_pct", "error_pct"}};
  for (const fit::DeviceFit& device : answer.result.devices) {
    for (const FormColumn& form : form_columns(answer)) {
      std::vector<double> errors;
      for (const fit::Point& point : points(device)) {
        if (const auto predicted = look_up(point.held_out_watts, form.form))
          errors.push_back(std::abs(error_pct(*predicted, point.power_watts)));
      }
      if (errors.empty()) continue;
      std::sort(errors.begin(), errors.end());
      for (int share = 0; share <= 100; ++share) {
        csv.field(device.device).field(form.name).field(share);
        csv.field(stats::quantile_of_sorted(errors, share / 100.0)).end_row();
      }
    }
  }
  return std::move(csv).take();
}

std::string residuals_csv(const answers::Fit& answer, Form form) {
  io::CsvWriter csv{
      {"device", "class", "axis", "group", "rows", "p5_pct", "p25_pct", "median_pct", "p75_pct", "p95_pct"}};
  const auto write = [&](const fit::DeviceFit& device, std::string_view axis, const auto& label_of) {
    std::map<std::string, std::vector<double>> groups;
    for (const fit::Point& point : points(device)) {
      const auto predicted = look_up(point.held_out_watts, form);
      const std::optional<std::string> label = label_of(point);
      if (predicted && label) groups[*label].push_back(error_pct(*predicted, point.power_watts));
    }
    for (auto& [label, errors] : groups) {
      std::sort(errors.begin(), errors.end());
      csv.field(device.device).field(power::name(form)).field(axis).field(label).field(errors.size());
      for (const double at : {0.05, 0.25, 0.5, 0.75, 0.95}) csv.field(stats::quantile_of_sorted(errors, at));
      csv.end_row();
    }
  };
  using Label = std::optional<std::string>;
  for (const fit::DeviceFit& device : answer.result.devices) {
    write(device, "model", [](const fit::Point& p) -> Label { return p.model; });
    write(device, "batch", [](const fit::Point& p) -> Label { return fmt::format("{}", p.batch); });
    write(device, "dtype", [](const fit::Point& p) -> Label { return std::string{units::name(p.dtype)}; });
    write(device, "sequence",
          [](const fit::Point& p) -> Label { return p.sequence ? Label{axis_label(*p.sequence)} : std::nullopt; });
  }
  return std::move(csv).take();
}

}  // namespace flopwatt::report
