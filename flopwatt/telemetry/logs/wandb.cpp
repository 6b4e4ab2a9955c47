#include "flopwatt/telemetry/logs/wandb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "flopwatt/telemetry/logs/cell.hpp"
#include "flopwatt/telemetry/logs/log_builder.hpp"
#include "flopwatt/telemetry/logs/sample_field.hpp"

namespace flopwatt::telemetry {
namespace {

struct Metric {
  std::string_view ending;
  SampleField field;
  double factor;
};
constexpr std::array kMetrics{
    Metric{"powerWatts", SampleField::power, 1},   Metric{"enforcedPowerLimitWatts", SampleField::limit, 1},
    Metric{"gpu", SampleField::utilization, 0.01}, Metric{"memoryAllocatedBytes", SampleField::memory_used, 1},
    Metric{"temp", SampleField::temperature, 1},
};

struct Column {
  bool is_timestamp = false, is_relative = false;
  std::string device;  ///< "gpu.0", "cpu"; empty: none of ours
  SampleField field = SampleField::none;
  double factor = 1;
};

/// "… system.gpu.0.powerWatts" or "gpu.0.powerWatts", of a GPU or of the host processor.
Column column_of(std::string_view title) {
  Column column;
  column.is_timestamp = title == "_timestamp";
  column.is_relative = title == "_runtime" || title.starts_with("Relative Time");
  for (const Metric& metric : kMetrics) {
    if (!title.ends_with(metric.ending) || title.size() <= metric.ending.size()) continue;
    std::string_view before = title.substr(0, title.size() - metric.ending.size());
    if (!before.ends_with('.')) continue;
    before.remove_suffix(1);
    const std::size_t digits = before.find_last_not_of("0123456789");
    const bool numbered = digits != std::string_view::npos && digits + 1 < before.size() && before[digits] == '.';
    const std::string_view kind = numbered ? before.substr(0, digits) : before;
    const auto is = [&](std::string_view word) {
      return kind.ends_with(word) &&
             (kind.size() == word.size() || kind[kind.size() - word.size() - 1] == '.' ||
              kind[kind.size() - word.size() - 1] == '/' || kind[kind.size() - word.size() - 1] == ' ');
    };
    if (numbered && is("gpu")) column.device = fmt::format("gpu.{}", before.substr(digits + 1));
    if (!numbered && is("cpu") && metric.field == SampleField::power) column.device = "cpu";
    if (column.device.empty()) continue;
    column.field = metric.field;
    column.factor = metric.factor;
    break;
  }
  return column;
}

class Reader {
 public:
  Reader(std::string_view where, const LogOptions& options) : builder_{LogFormat::wandb_csv, where, options} {}

  Result<Log> run(std::span<const Line> lines) {
    for (const Line& line : lines) {
      if (columns_.empty()) {
        if (is_wandb_header(line.text)) {
          take_header(line.text);
        } else {
          builder_.skip_line(line.number);
        }
        continue;
      }
      split_fields(line.text, ',', fields_);
      if (fields_.size() != columns_.size()) {
        if (!line.ended) {
          builder_.torn_tail();
        } else {
          builder_.skip_line(line.number);
        }
        continue;
      }
      take_row(line);
    }
    return std::move(builder_).finish();
  }

 private:
  void take_header(std::string_view line) {
    split_fields(line, ',', fields_);
    for (const std::string_view title : fields_) columns_.push_back(column_of(title));
    const auto timestamp =
        std::find_if(columns_.begin(), columns_.end(), [](const Column& c) { return c.is_timestamp; });
    const auto relative = std::find_if(columns_.begin(), columns_.end(), [](const Column& c) { return c.is_relative; });
    time_ = timestamp != columns_.end() ? timestamp : relative;
  }

  void take_row(const Line& line) {
    std::optional<Stamp> stamp;
    if (time_ != columns_.end()) {
      stamp = parse_stamp(fields_[static_cast<std::size_t>(time_ - columns_.begin())], StampUnit::seconds);
      if (!stamp) return builder_.skip_line(line.number);
    }
    std::vector<std::string_view> done;
    for (const Column& column : columns_) {
      if (column.device.empty() || std::find(done.begin(), done.end(), column.device) != done.end()) continue;
      done.push_back(column.device);
      take_device(column.device, stamp);
    }
  }

  void take_device(std::string_view device, const std::optional<Stamp>& stamp) {
    Snapshot sample;
    bool any = false;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      // Metrics are logged in rows of their own: an empty cell is no reading that failed.
      if (columns_[i].device != device || fields_[i].empty() || same_letters(fields_[i], "nan")) continue;
      const Scope scope = device == "cpu" ? Scope::package : Scope::device;
      set_field(sample, columns_[i].field, read_cell(fields_[i], dimension_of(columns_[i].field), columns_[i].factor),
                PowerKind::unknown, scope);
      any = any || columns_[i].field == SampleField::power;
    }
    if (!any) return;
    DeviceInfo info;
    info.source = key(LogFormat::wandb_csv);
    info.path = fmt::format("{}:{}", info.source, device);
    info.scope = device == "cpu" ? Scope::package : Scope::device;
    if (device.starts_with("gpu.")) {
      const Reading<double> index = read_cell(device.substr(4), Dimension::number, 1);
      if (index && *index < 1e6) info.index = static_cast<std::size_t>(*index);
    }
    (void)builder_.add(builder_.device(device, info), stamp, sample);
  }

  LogBuilder builder_;
  std::vector<Column> columns_;
  std::vector<Column>::iterator time_;
  std::vector<std::string_view> fields_;
};

}  // namespace

bool is_wandb_header(std::string_view line) {
  if (line.find("powerWatts") == std::string_view::npos) return false;
  std::vector<std::string_view> fields;
  split_fields(line, ',', fields);
  return std::any_of(fields.begin(), fields.end(),
                     [](std::string_view title) { return column_of(title).field == SampleField::power; });
}

Result<Log> read_wandb_csv(std::span<const Line> lines, std::string_view where, const LogOptions& options) {
  return Reader{where, options}.run(lines);
}

}  // namespace flopwatt::telemetry
