#include "flopwatt/telemetry/logs/nvidia_smi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "flopwatt/telemetry/logs/cell.hpp"
#include "flopwatt/telemetry/logs/log_builder.hpp"
#include "flopwatt/telemetry/logs/unnamed_rows.hpp"

// Properties and units: nvidia-smi --help-query-gpu of drivers 361 to 580 (man nvidia-smi).  The header shows the name
// under which a property was asked for or its canonical one, and with `csv` but not `csv,nounits` the unit in brackets.

namespace flopwatt::telemetry {
namespace {

enum class Field : std::uint8_t {
  other,
  stamp,
  index,
  name,
  uuid,
  pci_id,
  power,
  power_average,
  power_instant,
  module_average,
  module_instant,
  enforced_limit,
  limit,
  utilization,
  memory_used,
  memory_total,
  compute_clock,
  memory_clock,
  temperature,
};

struct Property {
  std::string_view name;
  Field field;
  Dimension dimension = Dimension::number;
  double factor = 1;  // of a bare number
};
constexpr double kMebibyte = 1048576;
constexpr std::array kProperties{
    Property{"timestamp", Field::stamp},
    Property{"index", Field::index},
    Property{"name", Field::name},
    Property{"gpu_name", Field::name},
    Property{"uuid", Field::uuid},
    Property{"gpu_uuid", Field::uuid},
    Property{"pci.bus_id", Field::pci_id},
    Property{"gpu_bus_id", Field::pci_id},
    Property{"power.draw", Field::power, Dimension::power},
    Property{"power.draw.average", Field::power_average, Dimension::power},
    Property{"power.draw.instant", Field::power_instant, Dimension::power},
    Property{"module.power.draw.average", Field::module_average, Dimension::power},
    Property{"module.power.draw.instant", Field::module_instant, Dimension::power},
    Property{"enforced.power.limit", Field::enforced_limit, Dimension::power},
    Property{"power.limit", Field::limit, Dimension::power},
    Property{"utilization.gpu", Field::utilization, Dimension::fraction, 0.01},
    Property{"memory.used", Field::memory_used, Dimension::data_size, kMebibyte},
    Property{"memory.total", Field::memory_total, Dimension::data_size, kMebibyte},
    Property{"clocks.sm", Field::compute_clock, Dimension::frequency, 1e6},
    Property{"clocks.current.sm", Field::compute_clock, Dimension::frequency, 1e6},
    Property{"clocks.mem", Field::memory_clock, Dimension::frequency, 1e6},
    Property{"clocks.current.memory", Field::memory_clock, Dimension::frequency, 1e6},
    Property{"temperature.gpu", Field::temperature, Dimension::temperature},
};

struct Column {
  Field field = Field::other;
  Dimension dimension = Dimension::number;
  double factor = 1;
};

/// "power.draw [W]" without and with its unit.
Column column_of(std::string_view title) {
  title = trimmed(title);
  std::string_view unit;
  if (const std::size_t bracket = title.find('['); bracket != std::string_view::npos) {
    const std::size_t close = title.find(']', bracket);
    if (close != std::string_view::npos) unit = title.substr(bracket + 1, close - bracket - 1);
    title = trimmed(title.substr(0, bracket));
  }
  for (const Property& property : kProperties) {
    if (!same_letters(property.name, title)) continue;
    Column column{property.field, property.dimension, property.factor};
    if (!unit.empty()) {
      if (const double factor = unit_factor(property.dimension, trimmed(unit)); factor > 0) column.factor = factor;
    }
    return column;
  }
  return {};
}

/// Names of the drivers for boards from Ampere on; GA100 (A100, A800, A30) apart.
constexpr std::array<std::string_view, 28> kAveraging{"H100",
                                                      "H200",
                                                      "H800",
                                                      "H20",
                                                      "GH200",
                                                      "B100",
                                                      "B200",
                                                      "B300",
                                                      "GB200",
                                                      "GB300",
                                                      "L4",
                                                      "L40",
                                                      "L40S",
                                                      "L20",
                                                      "L2",
                                                      "A10",
                                                      "A10G",
                                                      "A16",
                                                      "A2",
                                                      "A40",
                                                      "GeForce RTX 30",
                                                      "GeForce RTX 40",
                                                      "GeForce RTX 50",
                                                      "RTX A",
                                                      "RTX PRO",
                                                      "RTX 4000 Ada",
                                                      "RTX 5000 Ada",
                                                      "RTX 6000 Ada"};
constexpr std::array<std::string_view, 13> kLastValue{
    "A100", "A800", "A30", "V100", "T4", "P100", "P40", "P4", "K80", "GeForce RTX 20", "GTX", "Quadro RTX", "TITAN V"};
/// Those of the above that go on with a number of their own.
constexpr std::array<std::string_view, 7> kSeries{
    "GeForce RTX 20", "GeForce RTX 30", "GeForce RTX 40", "GeForce RTX 50", "RTX A", "GTX", "Quadro RTX"};

bool is_word_end(std::string_view text, std::size_t at) {
  return at >= text.size() || !((text[at] >= '0' && text[at] <= '9') || (text[at] >= 'A' && text[at] <= 'Z') ||
                                (text[at] >= 'a' && text[at] <= 'z'));
}

bool names(std::string_view text, std::string_view model) {
  const bool series = std::find(kSeries.begin(), kSeries.end(), model) != kSeries.end();
  for (std::size_t at = text.find(model); at != std::string_view::npos; at = text.find(model, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == ' ';
    if (begins && (series || is_word_end(text, at + model.size()))) return true;
  }
  return false;
}

/// "nan W", "inf W", "-inf": a reading that cannot be, in a row that is one.
bool is_no_number(std::string_view cell) {
  cell = trimmed(cell);
  if (!cell.empty() && (cell.front() == '-' || cell.front() == '+')) cell.remove_prefix(1);
  const std::string_view word = cell.substr(0, 3);
  const bool ends = cell.size() == 3 || (cell.size() > 3 && cell[3] == ' ');
  return ends && (same_letters(word, "nan") || same_letters(word, "inf"));
}

class Reader {
 public:
  Reader(std::span<const Line> lines, std::string_view where, const LogOptions& options)
      : lines_{lines}, builder_{LogFormat::nvidia_smi_csv, where, options} {}

  Result<Log> run() {
    FLOPWATT_TRY(std::size_t at, find_header());
    choose_power();
    for (; at < lines_.size(); ++at) read_line(lines_[at]);
    FLOPWATT_TRY_VOID(refuse_unnamed_devices());
    return std::move(builder_).finish();
  }

 private:
  const LogOptions& options() const { return builder_.options(); }

  /// Index of the first line of data.
  Result<std::size_t> find_header() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (!is_nvidia_smi_header(lines_[i].text)) continue;
      for (std::size_t skipped = 0; skipped < i; ++skipped) builder_.skip_line(lines_[skipped].number);
      choose_delimiter(lines_[i].text);
      header_ = lines_[i].text;
      FLOPWATT_TRY_VOID(take_columns(fields_of(lines_[i].text)));
      if (!options().columns.empty()) builder_.note("Without effect: --columns; the log has a header.");
      return i + 1;
    }
    if (!options().columns.empty()) {
      choose_delimiter(lines_.empty() ? std::string_view{} : lines_.front().text);
      std::vector<std::string_view> titles{options().columns.begin(), options().columns.end()};
      FLOPWATT_TRY_VOID(take_columns(titles));
      return std::size_t{0};
    }
    FLOPWATT_TRY_VOID(guess_columns());
    return std::size_t{0};
  }

  void choose_delimiter(std::string_view line) {
    const auto count = [&](char c) { return std::count(line.begin(), line.end(), c); };
    delimiter_ = count(';') > 0 ? ';' : count('\t') > count(',') ? '\t' : ',';
    style_.decimal_comma = delimiter_ != ',';
  }

  std::span<const std::string_view> fields_of(std::string_view line) {
    split_fields(line, delimiter_, fields_);
    return fields_;
  }

  Result<void> take_columns(std::span<const std::string_view> titles) {
    columns_.clear();
    for (const std::string_view title : titles) columns_.push_back(column_of(title));
    const bool power = std::any_of(columns_.begin(), columns_.end(), [](const Column& column) {
      return column.field >= Field::power && column.field <= Field::module_instant;
    });
    if (!power) {
      return fail(Errc::bad_data, "has no column of power", builder_.where(),
                  "log power.draw, power.draw.average or power.draw.instant");
    }
    return {};
  }

  /// Without a header only the cells can tell: one in watts is the power, whatever its kind.
  Result<void> guess_columns() {
    choose_delimiter(lines_.empty() ? std::string_view{} : lines_.front().text);
    std::size_t watts = 0;
    if (!lines_.empty()) {
      for (const std::string_view cell : fields_of(lines_.front().text)) {
        Column column;
        if (parse_stamp(cell)) column.field = cell.find(':') != std::string_view::npos ? Field::stamp : Field::other;
        if (cell.ends_with("W") && read_cell(cell, Dimension::power, 0, style_)) {
          column = {Field::power, Dimension::power, 1};
          ++watts;
        }
        if (cell.starts_with("GPU-")) column.field = Field::uuid;
        columns_.push_back(column);
      }
    }
    if (watts != 1) {
      return fail(Errc::bad_data, "has no header, and its cells do not tell which of them is the power",
                  builder_.where(),
                  "name its columns as nvidia-smi was asked for them: --columns timestamp,power.draw");
    }
    builder_.note("There is no header: the one column in watts is taken as the power of the device, of unknown kind.");
    return {};
  }

  bool has(Field field) const {
    return std::any_of(columns_.begin(), columns_.end(), [&](const Column& c) { return c.field == field; });
  }

  /// One power for the device, the others aside: kinds are never mixed.
  void choose_power() {
    const std::array order = options().instant ? std::array{Field::power_instant, Field::power, Field::power_average}
                                               : std::array{Field::power_average, Field::power, Field::power_instant};
    const std::array modules = options().instant ? std::array{Field::module_instant, Field::module_average}
                                                 : std::array{Field::module_average, Field::module_instant};
    std::size_t found = 0;
    for (const Field field : order) {
      if (!has(field)) continue;
      if (found++ == 0) power_ = field;
    }
    for (const Field field : modules) {
      if (module_ == Field::other && has(field)) module_ = field;
    }
    if (found > 1) {
      builder_.note(fmt::format("Of {} columns of power, the {} one is read{}.", found,
                                power_ == Field::power_average   ? "average"
                                : power_ == Field::power_instant ? "instant"
                                                                 : "plain",
                                options().instant ? "" : "; --instant prefers the sensor's last value"));
    }
  }

  void read_line(const Line& line) {
    if (!header_.empty() && line.text == header_) return;  // a logger that was started again
    fields_of(line.text);
    // nvidia-smi ends no row with a comma, some who write its rows by hand do.
    if (fields_.size() == columns_.size() + 1 && fields_.back().empty()) fields_.pop_back();
    bool cut = false;
    if (!line.ended) {
      const std::string_view last = fields_.back();
      cut = last.empty() || (last.back() >= '0' && last.back() <= '9');
      if (fields_.size() < columns_.size()) return builder_.torn_tail();
    }
    if (fields_.size() != columns_.size()) return builder_.skip_line(line.number);
    std::string_view identity_uuid;
    std::string_view identity_pci;
    std::string_view identity_index;
    std::string_view name;
    std::optional<Stamp> stamp;
    bool stamped = true;
    Snapshot sample;
    sample.power = {Absence::not_asked, PowerKind::unknown, Scope::device};
    Reading<units::Power> general_limit;
    bool sense = false;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Column& column = columns_[i];
      const std::string_view cell = fields_[i];
      if (column.field == Field::other) continue;
      if (column.dimension == Dimension::number) {
        const bool text = absence_of(cell) == Absence::not_asked;
        switch (column.field) {
          case Field::stamp:
            stamp = parse_stamp(cell);
            stamped = stamp.has_value();
            if (has_fraction(cell)) unnamed_.have_fractions();
            break;
          case Field::index:
            identity_index = cell;
            break;
          case Field::name:
            name = text ? cell : std::string_view{};
            break;
          case Field::uuid:
            identity_uuid = text ? cell : std::string_view{};
            break;
          default:
            identity_pci = text ? cell : std::string_view{};
            break;
        }
        continue;
      }
      Reading<double> value = read_cell(cell, column.dimension, column.factor, style_);
      if (cut && i + 1 == columns_.size()) value = Absence::garbage;
      sense = sense || value || value.reason() != Absence::garbage || is_no_number(cell);
      take(column.field, value, sample, general_limit);
    }
    if (!stamped || !sense) return cut ? builder_.torn_tail() : builder_.skip_line(line.number);
    if (!sample.limit) sample.limit = general_limit;
    if (sample.limit && *sample.limit <= units::Power{}) sample.limit = Absence::not_supported;
    const std::string_view identity = !identity_uuid.empty()    ? identity_uuid
                                      : !identity_pci.empty()   ? identity_pci
                                      : !identity_index.empty() ? identity_index
                                                                : name;
    const std::size_t device = builder_.device(identity, describe(identity_uuid, identity_pci, identity_index, name));
    sample.power.kind = kind_of(builder_.info(device).name);
    if (!builder_.add(device, stamp, sample)) return builder_.skip_line(line.number);
    if (stamp && identity_uuid.empty() && identity_pci.empty() && identity_index.empty()) {
      unnamed_.add(device, line.text, stamp->time);
    }
  }

  /// "10:00:00.000", though it is 0
  static bool has_fraction(std::string_view time) {
    const std::size_t colon = time.rfind(':');
    return colon != std::string_view::npos && time.find_first_of(".,", colon) != std::string_view::npos;
  }

  template <class Unit>
  static auto quantity(const Reading<double>& value, Unit unit) {
    using Quantity = decltype(1.0 * unit);
    return value ? Reading<Quantity>{*value * unit} : Reading<Quantity>{value.reason()};
  }

  void take(Field field, const Reading<double>& value, Snapshot& sample, Reading<units::Power>& general_limit) const {
    if (field == power_) sample.power.value = quantity(value, units::watt);
    if (field == module_) {
      sample.module_power = {quantity(value, units::watt),
                             module_ == Field::module_average ? PowerKind::average_1s : PowerKind::instant,
                             Scope::module};
    }
    switch (field) {
      case Field::enforced_limit:
        sample.limit = quantity(value, units::watt);
        break;
      case Field::limit:
        general_limit = quantity(value, units::watt);
        break;
      case Field::utilization:
        sample.utilization = value;
        break;
      case Field::memory_used:
        sample.memory_used = quantity(value, units::byte);
        break;
      case Field::memory_total:
        sample.memory_total = quantity(value, units::byte);
        break;
      case Field::compute_clock:
        sample.compute_clock = quantity(value, units::hertz);
        break;
      case Field::memory_clock:
        sample.memory_clock = quantity(value, units::hertz);
        break;
      case Field::temperature:
        sample.temperature_celsius = value;
        break;
      default:
        break;
    }
  }

  PowerKind kind_of(std::string_view name) const {
    if (power_ == Field::power_average) return PowerKind::average_1s;
    if (power_ == Field::power_instant) return PowerKind::instant;
    return nvidia_power_kind(name);
  }

  DeviceInfo describe(std::string_view uuid, std::string_view pci, std::string_view index,
                      std::string_view name) const {
    DeviceInfo info;
    info.source = key(LogFormat::nvidia_smi_csv);
    info.vendor = "nvidia";
    info.name = name;
    info.uuid = uuid;
    info.pci_id = pci;
    std::transform(info.pci_id.begin(), info.pci_id.end(), info.pci_id.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const Reading<double> number = read_cell(index, Dimension::number, 1);
    info.index = number && *number >= 0 && *number < 1e6 ? static_cast<std::size_t>(*number) : 0;
    info.sensor = nvidia_sensor(name, kind_of(name));
    return info;
  }

  Result<void> refuse_unnamed_devices() {
    if (!unnamed_.hold_several()) return {};
    return fail(Errc::bad_data, "its rows come in bursts, as those of several devices do, and do not say of which",
                builder_.where(), "log index or uuid too");
  }

  std::span<const Line> lines_;
  LogBuilder builder_;
  std::vector<std::string_view> fields_;
  std::vector<Column> columns_;
  std::string_view header_;
  char delimiter_ = ',';
  NumberStyle style_;
  Field power_ = Field::other;
  Field module_ = Field::other;
  UnnamedRows unnamed_;
};

}  // namespace

PowerKind nvidia_power_kind(std::string_view name) {
  for (const std::string_view model : kAveraging) {
    if (names(name, model)) return PowerKind::average_1s;
  }
  for (const std::string_view model : kLastValue) {
    if (names(name, model)) return PowerKind::instant;
  }
  return PowerKind::unknown;
}

SensorTraits nvidia_sensor(std::string_view name, PowerKind kind) {
  SensorTraits sensor;
  sensor.relative_accuracy = 0.05;
  sensor.source = "NVML reference (±5 %, mean of one second on Ampere except GA100 and later)";
  if (kind == PowerKind::average_1s) sensor.averaging_window = 1 * units::second;
  if (names(name, "A100") || names(name, "H100")) {
    sensor.duty = 0.25;
    sensor.update_period = 0.1 * units::second;
    sensor.source += "; arXiv 2312.02741 (a quarter of the time on A100 and H100)";
  }
  return sensor;
}

bool is_nvidia_smi_header(std::string_view line) {
  if (line.find("power.draw") == std::string_view::npos && line.find("utilization.gpu") == std::string_view::npos &&
      line.find("memory.used") == std::string_view::npos && line.find("power.limit") == std::string_view::npos) {
    return false;
  }
  return line.find("--query") == std::string_view::npos;  // the command itself, echoed
}

bool is_nvidia_smi_row(std::string_view line) {
  const char delimiter = line.find(';') != std::string_view::npos ? ';' : ',';
  std::vector<std::string_view> fields;
  split_fields(line, delimiter, fields);
  if (fields.size() < 2) return false;
  return std::any_of(fields.begin(), fields.end(), [&](std::string_view cell) {
    return cell.ends_with(" W") && read_cell(cell, Dimension::power, 0, {.decimal_comma = delimiter != ','});
  });
}

Result<Log> read_nvidia_smi_csv(std::span<const Line> lines, std::string_view where, const LogOptions& options) {
  return Reader{lines, where, options}.run();
}

}  // namespace flopwatt::telemetry
