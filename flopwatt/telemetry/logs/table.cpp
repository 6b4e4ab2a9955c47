#include "flopwatt/telemetry/logs/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "flopwatt/telemetry/logs/log_builder.hpp"
#include "flopwatt/telemetry/logs/nvidia_smi.hpp"

namespace flopwatt::telemetry {
namespace {

using Cut = TableFormat::Cut;
using Role = TableColumn::Role;

class TableReader {
 public:
  TableReader(const TableFormat& format, std::span<const Line> lines, std::string_view where, const LogOptions& options)
      : format_{format}, lines_{lines}, builder_{format.format, where, options} {}

  Result<Log> run() {
    for (const Line& line : lines_) FLOPWATT_TRY_VOID(read(line));
    if (columns_.empty()) {
      return fail(Errc::bad_data, fmt::format("has no header of {}", key(format_.format)), builder_.where());
    }
    return std::move(builder_).finish();
  }

 private:
  Result<void> read(const Line& line) {
    if (format_.is_header(line.text)) {
      if (line.text == header_) return {};
      header_ = line.text;
      return take_header();
    }
    const std::string_view text = trimmed(line.text);
    if (format_.cut != Cut::delimiter && (text.starts_with('#') || text.starts_with("ID ") || text == "ID")) return {};
    if (format_.cut == Cut::delimiter) {
      // A time of its own, before what was printed then: `date; rocm-smi --csv` in a loop.
      const std::optional<Stamp> stamp = parse_stamp(text);
      if (stamp && stamp->kind != StampKind::relative) {
        line_stamp_ = stamp;
        return {};
      }
    }
    if (columns_.empty()) {
      pending_skips_.push_back(line.number);
      return {};
    }
    read_row(line);
    return {};
  }

  Result<void> take_header() {
    for (const std::size_t number : pending_skips_) builder_.skip_line(number);
    pending_skips_.clear();
    if (format_.cut == Cut::delimiter) {
      const auto count = [&](char c) { return std::count(header_.begin(), header_.end(), c); };
      delimiter_ = count(';') > 0 ? ';' : count('\t') > count(',') ? '\t' : ',';
      style_.decimal_comma = delimiter_ != ',';
    }
    std::string_view titles = header_;
    if (format_.cut != Cut::delimiter) {
      titles = trimmed(titles);
      while (titles.starts_with('#')) titles.remove_prefix(1);
    }
    cut(titles);
    columns_.clear();
    for (const std::string_view title : fields_) columns_.push_back(format_.column(title));
    choose_power();
    const auto tells = [](const TableColumn& column) {
      return column.field == SampleField::power || column.field == SampleField::energy;
    };
    if (std::none_of(columns_.begin(), columns_.end(), tells)) {
      return fail(Errc::bad_data, "has neither power nor energy", builder_.where(), "log the power of the devices too");
    }
    return {};
  }

  /// One power of several: kinds are never mixed.
  void choose_power() {
    const bool instant = builder_.options().instant;
    const auto rank = [&](const TableColumn& column) {
      return instant && column.kind == PowerKind::instant ? -1 : column.rank;
    };
    const TableColumn* best = nullptr;
    std::size_t found = 0;
    for (const TableColumn& column : columns_) {
      if (column.field != SampleField::power) continue;
      ++found;
      if (best == nullptr || rank(column) < rank(*best)) best = &column;
    }
    if (found > 1) {
      builder_.note(fmt::format("Of {} columns of power, the one of kind '{}' is read.", found, key(best->kind)));
    }
    for (TableColumn& column : columns_) {
      if (column.field == SampleField::power && &column != best) column.field = SampleField::none;
    }
  }

  void cut(std::string_view text) {
    if (format_.cut == Cut::delimiter) {
      split_fields(text, delimiter_, fields_);
    } else {
      split_words(text, fields_);
    }
  }

  /// A time that another program put before the line, in one word or two; empty where there is none.
  std::optional<Stamp> leading_stamp() {
    for (const std::size_t words : {std::size_t{2}, std::size_t{1}}) {
      if (fields_.size() < columns_.size() + words) continue;
      const std::string joined = words == 2 ? fmt::format("{} {}", fields_[0], fields_[1]) : std::string{fields_[0]};
      std::optional<Stamp> stamp = parse_stamp(joined);
      if (!stamp || stamp->kind == StampKind::relative) continue;
      fields_.erase(fields_.begin(), fields_.begin() + static_cast<std::ptrdiff_t>(words));
      return stamp;
    }
    return std::nullopt;
  }

  void read_row(const Line& line) {
    cut(line.text);
    std::optional<Stamp> stamp = line_stamp_;
    if (format_.cut != Cut::delimiter) stamp = leading_stamp();
    std::string entity;
    if (format_.cut == Cut::dcgm_words && fields_.size() > 1) {
      entity = fmt::format("{} {}", fields_[0], fields_[1]);
      if (fields_[0] != "GPU") {
        if (fields_[0].starts_with("GPU-")) {
          builder_.note("Rows of MIG instances are left out: power and energy are those of their board.");
          return;
        }
        return builder_.skip_line(line.number);
      }
      fields_[0] = fields_[1];
      fields_.erase(fields_.begin() + 1);
    }
    if (format_.cut == Cut::delimiter && fields_.size() == columns_.size() + 1 && fields_.back().empty()) {
      fields_.pop_back();
    }
    const bool cut_short = !line.ended && !fields_.empty() && !fields_.back().empty() && fields_.back().back() >= '0' &&
                           fields_.back().back() <= '9';
    if (fields_.size() != columns_.size()) {
      return !line.ended && fields_.size() < columns_.size() ? builder_.torn_tail() : builder_.skip_line(line.number);
    }
    take_row(line, stamp, cut_short);
  }

  void take_row(const Line& line, std::optional<Stamp> stamp, bool cut_short) {
    Snapshot sample;
    DeviceInfo info;
    std::string_view device;
    std::string_view part;
    std::string_view date;
    std::string_view time;
    bool sense = false;
    bool stamped = true;
    Scope scope = Scope::device;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].role == Role::part && absence_of(fields_[i]) == Absence::not_asked) scope = format_.part_scope;
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const TableColumn& column = columns_[i];
      const std::string_view cell = fields_[i];
      switch (column.role) {
        case Role::stamp:
          stamp = parse_stamp(cell);
          stamped = stamp.has_value();
          break;
        case Role::date:
          date = cell;
          break;
        case Role::time:
          time = cell;
          break;
        case Role::device:
          device = cell;
          break;
        case Role::part:
          part = cell;
          break;
        case Role::name:
          info.name = cell;
          break;
        case Role::value: {
          Reading<double> value = read_cell(cell, dimension_of(column.field), column.factor, style_);
          if (cut_short && i + 1 == columns_.size()) value = Absence::garbage;
          sense = sense || value || value.reason() != Absence::garbage;
          set_field(sample, column.field, value, column.kind, scope);
          break;
        }
        case Role::other:
          break;
      }
    }
    if (!time.empty()) {
      stamp = parse_stamp(date.empty() ? std::string{time} : fmt::format("{} {}", date, time));
      stamped = stamp.has_value();
    }
    const Reading<double> index = read_cell(digits_of(device), Dimension::number, 1);
    if (!device.empty() && (!index || *index < 0 || *index > 1e6)) stamped = false;
    if (!stamped || !sense) return cut_short ? builder_.torn_tail() : builder_.skip_line(line.number);
    info.source = key(format_.format);
    info.vendor = format_.vendor;
    info.scope = scope;
    info.index = index ? static_cast<std::size_t>(*index) : 0;
    if (format_.vendor == "nvidia") info.sensor = nvidia_sensor(info.name, sample.power.kind);
    const std::string identity = scope == format_.part_scope ? fmt::format("{}.{}", device, part) : std::string{device};
    if (scope == format_.part_scope) info.path = fmt::format("{}:{}", info.source, identity);
    if (!builder_.add(builder_.device(identity, info), stamp, sample)) builder_.skip_line(line.number);
  }

  /// "card0" → "0"
  static std::string_view digits_of(std::string_view device) {
    while (!device.empty() && (device.front() < '0' || device.front() > '9')) device.remove_prefix(1);
    return device;
  }

  const TableFormat& format_;
  std::span<const Line> lines_;
  LogBuilder builder_;
  std::string_view header_;
  std::vector<TableColumn> columns_;
  std::vector<std::string_view> fields_;
  std::vector<std::size_t> pending_skips_;
  std::optional<Stamp> line_stamp_;  ///< of the rows that follow it
  char delimiter_ = ',';
  NumberStyle style_;
};

}  // namespace

Result<Log> read_table(const TableFormat& format, std::span<const Line> lines, std::string_view where,
                       const LogOptions& options) {
  return TableReader{format, lines, where, options}.run();
}

}  // namespace flopwatt::telemetry
