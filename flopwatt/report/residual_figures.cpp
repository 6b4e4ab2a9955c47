#include <fmt/format.h>

#include <map>
#include <optional>
#include <tuple>

#include "flopwatt/report/figure_composer.hpp"
#include "flopwatt/report/figure_data.hpp"

namespace flopwatt::report {
namespace {

using power::Form;

template <class T>
std::vector<std::string> labels(const std::vector<T>& values) {
  std::vector<std::string> out;
  for (const T& value : values) out.push_back(fmt::format("{}", value));
  return out;
}

/// The form with the smallest mean leave-one-model-out error over the devices that have every form's.
Form best_form(const answers::Fit& answer) {
  std::map<Form, std::pair<double, std::size_t>> sums;
  for (const fit::DeviceFit& device : answer.result.devices) {
    for (const auto& [form, folds] : device.leave_one_model_out) {
      sums[form].first += folds.pooled.mape_pct;
      ++sums[form].second;
    }
  }
  Form best = Form::linear;
  double least = 0;
  std::size_t most = 0;
  for (const auto& [form, sum] : sums) {
    const double mean = sum.first / static_cast<double>(sum.second);
    if (sum.second > most || (sum.second == most && mean < least))
      std::tie(best, least, most) = std::tuple{form, mean, sum.second};
  }
  return best;
}

struct PointAxis {
  std::string_view name, field, title, label;
  bool (*has)(const fit::Point&);
};

constexpr PointAxis kAxes[] = {
    {"MFU", "mfu_pct", "MFU (% of the peak in Table 2)", "datum.label",
     [](const fit::Point& p) { return p.mfu_pct.has_value(); }},
    {"MBU", "mbu_pct", "MBU, definition step (% of peak bandwidth)", "datum.label",
     [](const fit::Point& p) { return p.mbu_pct.has_value(); }},
    {"memory traffic", "bytes_per_second", "memory traffic, definition step (GB/s)", "format(datum.value / 1e9, ',~r')",
     [](const fit::Point& p) { return p.bytes_per_second.has_value(); }},
    {"power", "power_watts", "measured power (W)", "datum.label", [](const fit::Point&) { return true; }}};

/// "residuals-memory-traffic"
std::string file_name(std::string_view axis) {
  std::string name{"residuals-"};
  for (const char c : axis) name += static_cast<char>(c == ' ' ? '-' : c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return name;
}

void add_groups(const answers::Fit& answer, const std::string& form, FigureComposer& compose) {
  const auto models = distinct<std::string>(answer, [](const fit::Point& p) { return std::optional{p.model}; });
  const auto batches = distinct<std::int64_t>(answer, [](const fit::Point& p) { return std::optional{p.batch}; });
  const auto sequences = distinct<double>(answer, [](const fit::Point& p) { return p.sequence; });
  const std::pair<std::string, std::vector<std::string>> groups[] = {
      {"model", models}, {"batch", labels(batches)}, {"dtype", dtype_names(answer)}, {"sequence", labels(sequences)}};
  for (const auto& [axis, in_order] : groups) {
    if (in_order.empty()) {
      compose.set().absent.push_back(fmt::format("Residuals against {}: not recorded.", axis));
      continue;
    }
    std::string reading = fmt::format(
        "Errors of the {} class with each model held out. Tick: median; bar: middle half; line: 5th to 95th "
        "percentile. "
        "A bar off zero is a bias.",
        form);
    if (axis == "sequence" && in_order.size() == 1) {
      reading += fmt::format(
          " Every row has {} tokens a sequence: these data say nothing about how the error changes with sequence "
          "length.",
          in_order.front());
    }
    compose.add({.name = "residuals-" + axis,
                 .section = "residuals",
                 .title = "Residuals against " + axis,
                 .reading = reading,
                 .data = "residuals.csv",
                 .spec = {}},
                "residuals-groups.vl.json", {{"axis", json_text(axis)}, {"groups", json_list(in_order)}});
  }
}

void add_points(const answers::Fit& answer, const std::string& form, FigureComposer& compose) {
  for (const PointAxis& axis : kAxes) {
    if (!any_point(answer, axis.has)) {
      compose.set().absent.push_back(fmt::format("Residuals against {}: not known for any row.", axis.name));
      continue;
    }
    std::string without;
    for (const fit::DeviceFit& device : answer.result.devices) {
      if (!any_point(device, axis.has)) without += (without.empty() ? "" : ", ") + device.device;
    }
    std::string reading = fmt::format("Each point is a row, predicted by the {} class with its model held out.", form);
    if (!without.empty()) {
      reading += fmt::format(" Without {}: {}.", without,
                             axis.name == "MBU" ? "its peak bandwidth is not known, or not the same for all variants "
                                                  "that the name fits"
                                                : "not known there");
    }
    compose.add(
        {.name = file_name(axis.name),
         .section = "residuals",
         .title = fmt::format("Residuals against {}", axis.name),
         .reading = reading,
         .data = "rows.csv",
         .spec = {}},
        "residuals-points.vl.json",
        {{"field", json_text(axis.field)},
         {"axis_title", json_text(axis.title)},
         {"axis_label", json_text(axis.label)},
         {"error_formula", json_text(fmt::format("100 * (datum.{}_held_out_watts / datum.power_watts - 1)", form))},
         {"filter",
          json_text(fmt::format("isValid(datum.{}_held_out_watts) && isValid(datum.{})", form, axis.field))}});
  }
}

}  // namespace

bool has_held_out(const answers::Fit& answer) {
  return any_point(answer, [](const fit::Point& p) { return !p.held_out_watts.empty(); });
}

void add_residual_figures(const answers::Fit& answer, FigureComposer& compose) {
  if (!has_held_out(answer)) return;
  const Form form = best_form(answer);
  compose.set().residual_form = form;
  compose.set().data.push_back({"residuals.csv", residuals_csv(answer, form)});
  add_groups(answer, std::string{power::name(form)}, compose);
  add_points(answer, std::string{power::name(form)}, compose);
}

}  // namespace flopwatt::report
