#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "flopwatt/base/text.hpp"
#include "flopwatt/dataset/dataset.hpp"
#include "flopwatt/io/csv.hpp"
#include "flopwatt/io/hash.hpp"

namespace flopwatt::dataset {
namespace {

using io::CsvTable;

/// A numeric column: its name in a raw file (an aggregated file appends "_mean"), and where its value goes.
struct NumericColumn {
  std::string_view name;
  void (*store)(Observation&, double);
};

template <auto Member>
void plain(Observation& o, double value) {
  o.*Member = value;
}
template <auto Member>
void percent(Observation& o, double value) {
  o.*Member = value / 100;
}
template <auto Member>
void watts(Observation& o, double value) {
  o.*Member = value * units::watt;
}
template <auto Member>
void milliseconds(Observation& o, double value) {
  o.*Member = value * units::millisecond;
}

/// Columns that an aggregated file holds as means.
constexpr std::array kMeasured{
    NumericColumn{"tokens_per_second",
                  [](Observation& o, double v) { o.tokens_per_second = v * units::token_per_second; }},
    NumericColumn{"mfu_percentage", percent<&Observation::mfu_formula>},
    NumericColumn{"mfu_percentage_calflops", percent<&Observation::mfu>},
    NumericColumn{"sequence_length", plain<&Observation::sequence>},
    NumericColumn{"gpu_utilization", percent<&Observation::gpu_utilization>},
    NumericColumn{"memory_utilization", percent<&Observation::memory_utilization>},
    NumericColumn{"memory_used_mb", [](Observation& o, double v) { o.memory_used = v * 1048576.0 * units::byte; }},
    NumericColumn{"temperature_celsius", plain<&Observation::temperature_celsius>},
    NumericColumn{"power_draw_watts", watts<&Observation::power>},
    NumericColumn{"num_layers", plain<&Observation::layers>},
    NumericColumn{"num_heads", plain<&Observation::heads>},
    NumericColumn{"head_dim", plain<&Observation::head_dim>},
    NumericColumn{"formula_flops_per_token",
                  [](Observation& o, double v) { o.formula_flops_per_token = v * (units::flop / units::token); }},
    NumericColumn{"calflops_total", [](Observation& o, double v) { o.counted_flops = v * units::flop; }},
    NumericColumn{"io_latency_actual_ms", milliseconds<&Observation::io_latency>},
    NumericColumn{"io_latency_mean_config_ms", milliseconds<&Observation::io_latency_configured>},
    NumericColumn{"power_meter_active_power_w", watts<&Observation::meter_active_power>},
    NumericColumn{"power_meter_reactive_power_var", plain<&Observation::meter_reactive_power_var>},
    NumericColumn{"power_meter_apparent_power_va", plain<&Observation::meter_apparent_power_va>},
};
/// Columns that are set before a run, and its sample count; never with "_mean".
constexpr std::array kSet{
    NumericColumn{"batch_size", plain<&Observation::batch>},
    NumericColumn{"sequence_length", plain<&Observation::sequence>},
    NumericColumn{"context_window", plain<&Observation::context_window>},
    NumericColumn{"learning_rate", plain<&Observation::learning_rate>},
    NumericColumn{"warmup_iterations", plain<&Observation::warmup_iterations>},
    NumericColumn{"cooldown_seconds", plain<&Observation::cooldown_seconds>},
    NumericColumn{"samples_per_config", plain<&Observation::samples>},
};
struct FlagColumn {
  std::string_view name;
  std::optional<bool> Observation::* member;
};
constexpr std::array kFlags{FlagColumn{"io_latency_enabled", &Observation::io_latency_enabled},
                            FlagColumn{"power_meter_available", &Observation::power_meter_available},
                            FlagColumn{"cap_reached", &Observation::cap_reached}};
struct TextColumn {
  std::string_view name;
  std::string Observation::* member;
};
constexpr std::array kTexts{TextColumn{"model_name", &Observation::model},
                            TextColumn{"dtype", &Observation::dtype},
                            TextColumn{"run_id", &Observation::run_id},
                            TextColumn{"configuration_id", &Observation::configuration_id},
                            TextColumn{"power_source", &Observation::power_source},
                            TextColumn{"io_latency_profile", &Observation::io_latency_profile},
                            TextColumn{"io_latency_pattern", &Observation::io_latency_pattern}};
constexpr std::array<std::string_view, 2> kDeviceColumns{"device", "hardware"};

std::string lower(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// Readings that vendor tools print instead of a number: [N/A], [Not Supported], [Unknown Error], …
bool is_bracketed(std::string_view cell) { return cell.size() >= 2 && cell.front() == '[' && cell.back() == ']'; }

bool is_missing_text(std::string_view cell) {
  const std::string word = lower(cell);
  return word.empty() || word == "nan" || word == "na" || word == "n/a" || word == "none" || word == "null" ||
         is_bracketed(cell);
}

/// The stem of a path: "runs/a100.csv" → "a100".
std::string stem(std::string_view path) {
  const auto slash = path.find_last_of("/\\");
  std::string_view file = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const auto dot = file.find_last_of('.');
  if (dot != std::string_view::npos && dot > 0) file = file.substr(0, dot);
  return std::string{file};
}

/// Which column of the table each known name stands in.
struct Columns {
  Layout layout = Layout::aggregated;
  std::vector<std::pair<std::size_t, const NumericColumn*>> numbers;  // of one target, the later one wins where filled
  std::vector<std::pair<std::size_t, FlagColumn>> flags;
  std::vector<std::pair<std::size_t, TextColumn>> texts;
  std::optional<std::size_t> device;
  std::vector<std::string> absent, ignored;
};

Result<Columns> find_columns(const CsvTable& table) {
  Columns columns;
  columns.layout = table.find_column("power_draw_watts_mean") ? Layout::aggregated : Layout::raw;
  if (columns.layout == Layout::raw && !table.find_column("power_draw_watts")) {
    return fail(Errc::bad_data, "no column power_draw_watts_mean (a run a row) or power_draw_watts (a sample a row)",
                table.where(), "name the column of the device's power so");
  }
  std::vector<bool> known(table.columns().size(), false);
  const auto take = [&](std::string_view name) {
    const auto index = table.find_column(name);
    if (index) known[*index] = true;
    return index;
  };
  for (const NumericColumn& column : kSet) {
    if (const auto index = take(column.name)) columns.numbers.emplace_back(*index, &column);
  }
  for (const NumericColumn& column : kMeasured) {
    const std::string mean = std::string{column.name} + "_mean";
    const auto index = take(columns.layout == Layout::aggregated ? mean : std::string{column.name});
    if (index) {
      columns.numbers.emplace_back(*index, &column);
    } else if (!table.find_column(column.name)) {
      columns.absent.push_back(columns.layout == Layout::aggregated ? mean : std::string{column.name});
    }
  }
  for (const FlagColumn& column : kFlags) {
    if (const auto index = take(column.name)) columns.flags.emplace_back(*index, column);
  }
  for (const TextColumn& column : kTexts) {
    if (const auto index = take(column.name)) columns.texts.emplace_back(*index, column);
  }
  for (const std::string_view name : {"model_name", "dtype", "batch_size"}) {
    FLOPWATT_TRY([[maybe_unused]] const auto index, table.require_column(name));
  }
  for (const std::string_view name : kDeviceColumns) {
    const auto index = take(name);
    if (index && !columns.device) columns.device = index;
  }
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!known[i]) columns.ignored.push_back(table.columns()[i]);
  }
  return columns;
}

Result<std::optional<bool>> flag(const CsvTable& table, std::size_t row, std::size_t column) {
  const std::string_view cell = base::trimmed(table.cell(row, column));
  if (is_missing_text(cell)) return std::optional<bool>{};
  const std::string word = lower(cell);
  if (word == "true" || word == "1") return std::optional<bool>{true};
  if (word == "false" || word == "0") return std::optional<bool>{false};
  return fail(table.error(row, column, fmt::format("expected true or false, found \"{}\"", base::excerpt(cell))));
}

Result<Observation> read_row(const CsvTable& table, std::size_t row, const Columns& columns) {
  Observation observation;
  observation.line = table.line(row);
  for (const auto& [index, column] : columns.numbers) {
    if (is_bracketed(base::trimmed(table.cell(row, index)))) continue;
    FLOPWATT_TRY(const auto value, table.number(row, index));
    if (value) column->store(observation, *value);
  }
  for (const auto& [index, column] : columns.flags) {
    FLOPWATT_TRY(observation.*column.member, flag(table, row, index));
  }
  for (const auto& [index, column] : columns.texts) observation.*column.member = base::trimmed(table.cell(row, index));
  if (is_missing_text(observation.io_latency_profile)) observation.io_latency_profile.clear();
  if (is_missing_text(observation.io_latency_pattern)) observation.io_latency_pattern.clear();
  observation.precision = units::parse_precision(observation.dtype);
  if (columns.layout == Layout::raw) observation.samples = 1;
  return observation;
}

void drop(Dataset& dataset, std::string_view reason, std::size_t line) {
  for (Dropped& entry : dataset.dropped) {
    if (entry.reason == reason) return entry.lines.push_back(line);
  }
  dataset.dropped.push_back({std::string{reason}, {line}});
}

}  // namespace

std::size_t Dataset::rows_read() const noexcept {
  std::size_t rows_of_files = 0;
  for (const File& file : files) rows_of_files += file.rows;
  return rows_of_files;
}

std::string Dataset::place(const Observation& observation) const {
  return fmt::format("{}:{}", observation.file < files.size() ? files[observation.file].name : device,
                     observation.line);
}

Result<std::vector<Dataset>> read_samples(std::string_view text, std::string_view where, const ReadOptions& options) {
  FLOPWATT_TRY(const CsvTable table, CsvTable::parse(text, where));
  FLOPWATT_TRY(const Columns columns, find_columns(table));
  if (table.row_count() == 0) {
    return fail(Errc::bad_data, "a header and no row below it", std::string{where});
  }

  const std::string sha256 = io::sha256_hex(text);
  std::vector<Dataset> datasets;
  const auto dataset_of = [&](std::string device, DeviceOrigin origin) -> Dataset& {
    for (Dataset& candidate : datasets) {
      if (candidate.device == device) return candidate;
    }
    Dataset& fresh = datasets.emplace_back();
    fresh.device = std::move(device);
    fresh.device_origin = origin;
    fresh.files.push_back({std::string{where}, sha256, columns.layout, 0, columns.absent, columns.ignored});
    return fresh;
  };

  const std::string of_file = stem(where);
  std::vector<std::string> replaced;  // names in the file that --device stands for
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    FLOPWATT_TRY(Observation observation, read_row(table, row, columns));
    Dataset* dataset = nullptr;
    if (!options.device.empty()) {
      dataset = &dataset_of(options.device, DeviceOrigin::option);
      if (columns.device) {
        const std::string_view cell = base::trimmed(table.cell(row, *columns.device));
        if (!is_missing_text(cell) && !same_device(cell, options.device) &&
            std::ranges::none_of(replaced, [&](const std::string& name) { return same_device(name, cell); })) {
          replaced.emplace_back(cell);
        }
      }
    } else if (columns.device) {
      const std::string_view cell = base::trimmed(table.cell(row, *columns.device));
      if (is_missing_text(cell)) {
        return fail(table.error(row, *columns.device, "the device is not named", "fill the cell or pass --device"));
      }
      dataset = &dataset_of(std::string{cell}, DeviceOrigin::column);
    } else {
      dataset = &dataset_of(of_file, DeviceOrigin::file_name);
    }
    ++dataset->files.front().rows;
    if (is_missing_text(observation.model)) {
      drop(*dataset, "no model name", observation.line);
    } else if (lower(observation.model) == "baseline") {
      dataset->idle.push_back(std::move(observation));
    } else {
      dataset->rows.push_back(std::move(observation));
    }
  }
  if (!replaced.empty()) {
    datasets.front().notes.push_back(
        fmt::format("{} says {}; --device {} stands in its place{}", where,
                    base::excerpt(fmt::format("{}", fmt::join(replaced, ", "))), options.device,
                    replaced.size() > 1 ? ", and the rows count as those of one device" : ""));
  }
  return datasets;
}

}  // namespace flopwatt::dataset
