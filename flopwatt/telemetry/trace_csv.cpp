#include "flopwatt/telemetry/trace_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "flopwatt/io/csv.hpp"
#include "flopwatt/io/csv_writer.hpp"

namespace flopwatt::telemetry {
namespace {

const std::vector<std::string>& columns() {
  static const std::vector<std::string> names{"time_seconds",
                                              "unix_time_seconds",
                                              "time_error_seconds",
                                              "device",
                                              "source",
                                              "vendor",
                                              "name",
                                              "uuid",
                                              "pci_id",
                                              "scope",
                                              "power_watts",
                                              "power_kind",
                                              "power_scope",
                                              "energy_joules",
                                              "module_power_watts",
                                              "limit_watts",
                                              "utilization",
                                              "tensor_active",
                                              "memory_used_bytes",
                                              "memory_total_bytes",
                                              "compute_clock_hertz",
                                              "memory_clock_hertz",
                                              "temperature_celsius",
                                              "processes",
                                              "counter_range_joules",
                                              "counter_resolution_joules",
                                              "counter_period_seconds",
                                              "averaging_window_seconds",
                                              "sensor_duty",
                                              "part_of"};
  return names;
}

/// Nanoseconds as seconds with all nine digits: a double has not enough of them for a date.
std::string seconds_text(std::chrono::nanoseconds time) {
  const std::int64_t count = time.count();
  const std::uint64_t magnitude =
      count < 0 ? ~static_cast<std::uint64_t>(count) + 1 : static_cast<std::uint64_t>(count);
  return fmt::format("{}{}.{:09}", count < 0 ? "-" : "", magnitude / 1'000'000'000, magnitude % 1'000'000'000);
}

/// The reverse; further digits are cut off.  None for anything but decimal digits, and from 4·10^9 s on.
std::optional<std::chrono::nanoseconds> parse_seconds(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  std::string_view fraction = point < text.size() ? text.substr(point + 1) : std::string_view{};
  const auto digits = [](std::string_view part) {
    return std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (whole.empty() || whole.size() > 10 || !digits(whole) || !digits(fraction)) return std::nullopt;
  std::int64_t seconds = 0;
  std::from_chars(whole.data(), whole.data() + whole.size(), seconds);
  if (seconds >= 4'000'000'000) return std::nullopt;  // the year 2096; differences still fit in 64 bits
  std::int64_t nanoseconds = 0;
  for (std::size_t i = 0; i < 9; ++i) nanoseconds = 10 * nanoseconds + (i < fraction.size() ? fraction[i] - '0' : 0);
  const std::int64_t count = seconds * 1'000'000'000 + nanoseconds;
  return std::chrono::nanoseconds{negative ? -count : count};
}

template <class Quantity>
void put(io::CsvWriter& csv, const Reading<Quantity>& reading, Quantity unit) {
  if (reading) {
    csv.field(reading->in(unit));
  } else if (reading.absent_for(Absence::not_asked)) {
    csv.missing();
  } else {
    csv.field(key(reading.reason()));
  }
}
void put(io::CsvWriter& csv, const Reading<double>& reading) {
  if (reading) {
    csv.field(*reading);
  } else if (reading.absent_for(Absence::not_asked)) {
    csv.missing();
  } else {
    csv.field(key(reading.reason()));
  }
}
template <class Quantity>
void put(io::CsvWriter& csv, const std::optional<Quantity>& value, Quantity unit) {
  value ? csv.field(value->in(unit)) : csv.missing();
}

void put_row(io::CsvWriter& csv, const DeviceInfo& device, const Snapshot& snapshot, std::string_view part_of) {
  csv.field(seconds_text(snapshot.time)).field(seconds_text(snapshot.wall)).field(seconds_text(snapshot.time_error));
  csv.field(device.id()).field(device.source).field(device.vendor).field(device.name).field(device.uuid);
  csv.field(device.pci_id).field(key(device.scope));
  put(csv, snapshot.power.value, units::watt);
  csv.field(key(snapshot.power.kind)).field(key(snapshot.power.scope));
  put(csv, snapshot.energy, units::joule);
  put(csv, snapshot.module_power.value, units::watt);
  put(csv, snapshot.limit, units::watt);
  put(csv, snapshot.utilization);
  put(csv, snapshot.tensor_active);
  put(csv, snapshot.memory_used, units::byte);
  put(csv, snapshot.memory_total, units::byte);
  put(csv, snapshot.compute_clock, units::hertz);
  put(csv, snapshot.memory_clock, units::hertz);
  put(csv, snapshot.temperature_celsius);
  put(csv, snapshot.processes ? Reading<double>{static_cast<double>(*snapshot.processes)}
                              : Reading<double>{snapshot.processes.reason()});
  put(csv, device.counter.range, units::joule);
  put(csv, device.counter.resolution, units::joule);
  put(csv, device.counter.update_period, units::second);
  put(csv, device.sensor.averaging_window, units::second);
  device.sensor.duty ? csv.field(*device.sensor.duty) : csv.missing();
  csv.field(part_of).end_row();
}

/// Numbers a column may hold.
struct Bounds {
  double least = 0;
  double most = 1e18;
};

class Reader {
 public:
  explicit Reader(const io::CsvTable& table) : table_{table} {
    for (const std::string& name : columns()) columns_[name] = table.find_column(name);
  }

  base::Result<std::vector<Trace>> run() {
    FLOPWATT_TRY(time_, table_.require_column("time_seconds"));
    FLOPWATT_TRY(device_, table_.require_column("device"));
    for (std::size_t row = 0; row < table_.row_count(); ++row) {
      const std::string id{table_.cell(row, device_)};
      auto [found, is_new] = traces_by_id_.try_emplace(id, traces_.size());
      if (is_new) {
        FLOPWATT_TRY(DeviceInfo info, read_device(row, id));
        for (const Trace& other : traces_) {
          if (other.device().id() != info.id()) continue;
          return base::fail(table_.error(row, device_, fmt::format("is {}, as another device is", info.id()),
                                         "give every device its own uuid and pci_id"));
        }
        traces_.emplace_back(std::move(info), table_.row_count());
        part_of_.emplace_back(text(row, "part_of"));
      }
      Trace& trace = traces_[found->second];
      FLOPWATT_TRY(const Snapshot snapshot, read_snapshot(row));
      if (!trace.add(snapshot)) return base::fail(table_.error(row, time_, "runs backwards"));
    }
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      const auto whole = traces_by_id_.find(part_of_[i]);
      if (whole != traces_by_id_.end() && whole->second != i) traces_[i].device().part_of = whole->second;
    }
    return std::move(traces_);
  }

 private:
  std::string_view text(std::size_t row, const std::string& name) const {
    const auto column = columns_.at(name);
    return column ? table_.cell(row, *column) : std::string_view{};
  }

  base::Result<Reading<double>> number(std::size_t row, const std::string& name, Bounds bounds) const {
    const auto column = columns_.at(name);
    if (!column) return Reading<double>{};
    const std::string_view cell = table_.cell(row, *column);
    if (Absence reason = Absence::not_asked; parse_key(cell, reason)) return Reading<double>{reason};
    FLOPWATT_TRY(const std::optional<double> value, table_.number(row, *column));
    if (!value) return Reading<double>{};
    if (!(*value >= bounds.least && *value <= bounds.most)) {
      return base::fail(table_.error(row, *column, fmt::format("{} cannot be", cell)));
    }
    return Reading<double>{*value};
  }

  template <class Quantity>
  base::Result<Reading<Quantity>> quantity(std::size_t row, const std::string& name, Quantity unit) const {
    FLOPWATT_TRY(const Reading<double> value, number(row, name, {}));
    return value ? Reading<Quantity>{*value * unit} : Reading<Quantity>{value.reason()};
  }

  /// A trait has no reasons.
  template <class Quantity>
  base::Result<std::optional<Quantity>> trait(std::size_t row, const std::string& name, Quantity unit) const {
    FLOPWATT_TRY(const Reading<double> value, number(row, name, {}));
    if (!value || *value <= 0) return std::optional<Quantity>{};
    return std::optional<Quantity>{*value * unit};
  }

  base::Result<std::chrono::nanoseconds> time(std::size_t row, const std::string& name) const {
    const auto column = columns_.at(name);
    const std::string_view cell = column ? table_.cell(row, *column) : std::string_view{};
    if (!column || (cell.empty() && name != "time_seconds")) return std::chrono::nanoseconds{};
    const auto value = parse_seconds(cell);
    if (!value) return base::fail(table_.error(row, *column, "is no time", "write seconds as 12.5"));
    return *value;
  }

  template <class Enum>
  base::Result<Enum> word(std::size_t row, const std::string& name, Enum otherwise) const {
    const std::string_view cell = text(row, name);
    if (cell.empty()) return otherwise;
    Enum value = otherwise;
    if (!parse_key(cell, value)) {
      return base::fail(table_.error(row, *columns_.at(name), fmt::format("\"{}\" is unknown", base::excerpt(cell))));
    }
    return value;
  }

  base::Result<DeviceInfo> read_device(std::size_t row, const std::string& id) const {
    DeviceInfo info;
    info.source = text(row, "source");
    if (info.source.empty()) info.source = "recorded";
    info.index = traces_.size();
    info.vendor = text(row, "vendor");
    info.name = text(row, "name");
    info.uuid = text(row, "uuid");
    info.pci_id = text(row, "pci_id");
    if (info.uuid.empty() && info.pci_id.empty()) info.path = id;
    FLOPWATT_TRY(info.scope, word(row, "scope", Scope::device));
    FLOPWATT_TRY(info.counter.range, trait(row, "counter_range_joules", units::joule));
    FLOPWATT_TRY(info.counter.resolution, trait(row, "counter_resolution_joules", units::joule));
    FLOPWATT_TRY(info.counter.update_period, trait(row, "counter_period_seconds", units::second));
    FLOPWATT_TRY(info.sensor.averaging_window, trait(row, "averaging_window_seconds", units::second));
    FLOPWATT_TRY(const Reading<double> duty, number(row, "sensor_duty", {0, 1}));
    if (duty) info.sensor.duty = *duty;
    return info;
  }

  base::Result<Snapshot> read_snapshot(std::size_t row) const {
    Snapshot snapshot;
    FLOPWATT_TRY(snapshot.time, time(row, "time_seconds"));
    FLOPWATT_TRY(snapshot.wall, time(row, "unix_time_seconds"));
    FLOPWATT_TRY(snapshot.time_error, time(row, "time_error_seconds"));
    FLOPWATT_TRY(snapshot.power.value, quantity(row, "power_watts", units::watt));
    FLOPWATT_TRY(snapshot.power.kind, word(row, "power_kind", PowerKind::unknown));
    FLOPWATT_TRY(snapshot.power.scope, word(row, "power_scope", Scope::device));
    FLOPWATT_TRY(snapshot.energy, quantity(row, "energy_joules", units::joule));
    FLOPWATT_TRY(snapshot.module_power.value, quantity(row, "module_power_watts", units::watt));
    snapshot.module_power.scope = Scope::module;
    snapshot.module_power.kind = snapshot.power.kind;
    FLOPWATT_TRY(snapshot.limit, quantity(row, "limit_watts", units::watt));
    FLOPWATT_TRY(snapshot.utilization, number(row, "utilization", {0, 1}));
    FLOPWATT_TRY(snapshot.tensor_active, number(row, "tensor_active", {0, 1}));
    FLOPWATT_TRY(snapshot.memory_used, quantity(row, "memory_used_bytes", units::byte));
    FLOPWATT_TRY(snapshot.memory_total, quantity(row, "memory_total_bytes", units::byte));
    FLOPWATT_TRY(snapshot.compute_clock, quantity(row, "compute_clock_hertz", units::hertz));
    FLOPWATT_TRY(snapshot.memory_clock, quantity(row, "memory_clock_hertz", units::hertz));
    FLOPWATT_TRY(snapshot.temperature_celsius, number(row, "temperature_celsius", {-273.15, 1000}));
    FLOPWATT_TRY(const Reading<double> processes, number(row, "processes", {0, 1e6}));
    snapshot.processes = processes ? Reading<std::uint32_t>{static_cast<std::uint32_t>(*processes)}
                                   : Reading<std::uint32_t>{processes.reason()};
    return snapshot;
  }

  const io::CsvTable& table_;
  std::map<std::string, std::optional<std::size_t>> columns_;
  std::size_t time_ = 0;
  std::size_t device_ = 0;
  std::map<std::string, std::size_t, std::less<>> traces_by_id_;
  std::vector<Trace> traces_;
  std::vector<std::string> part_of_;
};

}  // namespace

TraceCsvWriter::TraceCsvWriter() : pending_{io::CsvWriter{columns()}.take()} {}
TraceCsvWriter::~TraceCsvWriter() = default;

void TraceCsvWriter::add(const DeviceInfo& device, const Snapshot& snapshot, std::string_view part_of) {
  // A writer of a header and one row: the row is what follows the first line.
  io::CsvWriter csv{columns()};
  put_row(csv, device, snapshot, part_of);
  const std::string text = std::move(csv).take();
  pending_.append(text, text.find('\n') + 1);
}

std::string TraceCsvWriter::take() { return std::exchange(pending_, {}); }

std::string write_trace_csv(std::span<const Trace> traces) {
  io::CsvWriter csv{columns()};
  for (const Trace& trace : traces) {
    const auto part_of = trace.device().part_of;
    const std::string whole = part_of && *part_of < traces.size() ? traces[*part_of].device().id() : std::string{};
    for (std::size_t i = 0; i < trace.size(); ++i) put_row(csv, trace.device(), trace[i], whole);
  }
  return std::move(csv).take();
}

base::Result<std::vector<Trace>> read_trace_csv(std::string_view text, std::string_view where) {
  FLOPWATT_TRY(const io::CsvTable table, io::CsvTable::parse(text, where, {.tolerate_torn_tail = true}));
  return Reader{table}.run();
}

}  // namespace flopwatt::telemetry
