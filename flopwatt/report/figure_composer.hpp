#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flopwatt/io/json_writer.hpp"
#include "flopwatt/report/figures.hpp"

/// How a figure comes from its template in figures/: a Vega-Lite specification in which strings "@name" stand for what
/// the data decide.

namespace flopwatt::report {

[[nodiscard]] std::string json_text(std::string_view text);
template <class Range>
[[nodiscard]] std::string json_list(const Range& values) {
  io::JsonWriter json{io::JsonWriter::Style::compact};
  json.begin_array();
  for (const auto& value : values) json.value(value);
  json.end_array();
  return std::move(json).take();
}

/// What stands for "@name" in a template, as JSON.
using Fills = std::map<std::string, std::string, std::less<>>;

/// Different keys of all points, sorted.  `key_of` gives an optional.
template <class Key>
[[nodiscard]] std::vector<Key> distinct(const answers::Fit& answer, const auto& key_of) {
  std::set<Key> keys;
  for (const fit::DeviceFit& device : answer.result.devices) {
    if (!device.details) continue;
    for (const fit::Point& point : device.details->points) {
      if (const auto key = key_of(point)) keys.insert(*key);
    }
  }
  return {keys.begin(), keys.end()};
}

/// Names of the dtypes that occur, in the order of units::Precision.
[[nodiscard]] std::vector<std::string> dtype_names(const answers::Fit& answer);

template <class Predicate>
[[nodiscard]] bool any_point(const fit::DeviceFit& device, const Predicate& has) {
  return device.details && std::any_of(device.details->points.begin(), device.details->points.end(), has);
}
template <class Predicate>
[[nodiscard]] bool any_point(const answers::Fit& answer, const Predicate& has) {
  return std::any_of(answer.result.devices.begin(), answer.result.devices.end(),
                     [&](const fit::DeviceFit& device) { return any_point(device, has); });
}

/// Collects the figures of an answer.
class FigureComposer {
 public:
  explicit FigureComposer(const answers::Fit& answer);

  /// Adds `figure`, its specification filled into the template: by what all figures share, and by `own`.
  void add(Figure figure, std::string_view spec_template, const Fills& own = {});
  [[nodiscard]] FigureSet& set() noexcept { return set_; }

 private:
  Fills fills_;
  FigureSet set_;
};

/// Whether any class was tested on models that were left out.
[[nodiscard]] bool has_held_out(const answers::Fit& answer);
/// The residuals against everything that is known of a row; none without rows that were left out.
void add_residual_figures(const answers::Fit& answer, FigureComposer& compose);

}  // namespace flopwatt::report
