#include "flopwatt/sweep/tables.hpp"

#include <fmt/format.h>

#include <cmath>

#include "flopwatt/units/count.hpp"

namespace flopwatt::sweep {
namespace {

/// "?, ?, ?" for the columns of a list.
std::string places(std::string_view columns) {
  std::string out = "?";
  for (const char c : columns) {
    if (c == ',') out += ", ?";
  }
  return out;
}

/// Beyond this no figure of a sweep lies; sums and quotients of such figures stay finite.
constexpr double kLargest = 1e30;

/// Cells of a row, one after the other, and the first column that holds what no sweep writes.
class Cells {
 public:
  Cells(const Row& row, std::string_view columns) : row_{&row}, columns_{columns} {}
  Cells& operator>>(std::string& target) {
    const Value& value = next();
    target = value.text();
    return require(value == Value{target});
  }
  Cells& operator>>(std::int64_t& target) {
    const Value& value = next();
    target = value.integer();
    return require(whole(value));
  }
  Cells& operator>>(double& target) {
    const Value& value = next();
    target = value.real();
    return require(number(value));
  }
  Cells& operator>>(std::optional<double>& target) {
    const Value& value = next();
    target = value.maybe_real();
    return require(value.null() || number(value));
  }
  Cells& operator>>(std::optional<std::int64_t>& target) {
    const Value& value = next();
    target = value.maybe_integer();
    return require(value.null() || whole(value));
  }
  /// An exact integer of up to 38 digits, written as text because a column holds 64 bits.
  Cells& operator>>(units::Count& target) {
    const std::string text = next().text();
    const bool good = !text.empty() && text.size() <= 38 && text.find_first_not_of("0123456789") == std::string::npos;
    target = units::Count{};
    if (!good) return require(false);
    for (const char c : text) target = target * units::Count{10} + units::Count{c - '0'};
    return *this;
  }
  Cells& operator>>(RunState& target) {
    const auto state = parse_run_state(next().text());
    target = state.value_or(RunState::failed);
    return require(state.has_value());
  }
  Cells& require(bool good) { return require(good, name_of(next_ - 1)); }
  Cells& require(bool good, std::string_view column) {
    if (!good && bad_.empty()) bad_ = column;
    return *this;
  }
  [[nodiscard]] Result<void> judge(const std::string& what, const std::string& where) const {
    if (bad_.empty()) return {};
    return fail(Errc::bad_data, fmt::format("{}: column {} holds what no sweep writes", what, bad_), where,
                "restore the store from a copy");
  }

 private:
  static bool number(const Value& value) {
    const auto real = value.maybe_real();
    return real && std::abs(*real) <= kLargest;
  }
  static bool whole(const Value& value) {
    const auto integer = value.maybe_integer();
    return integer && static_cast<double>(*integer) == value.real();
  }
  [[nodiscard]] std::string name_of(std::size_t index) const {
    std::string_view rest = columns_;
    for (; index > 0; --index) rest.remove_prefix(rest.find(", ") + 2);
    return std::string{rest.substr(0, rest.find(','))};
  }
  const Value& next() { return (*row_)[next_++]; }
  const Row* row_;
  std::string columns_;
  std::size_t next_ = 0;
  std::string bad_;
};

}  // namespace

const char* const kTables = R"(
CREATE TABLE setting(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE plan(sha256 TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE model(config_sha256 TEXT NOT NULL, name TEXT NOT NULL, config TEXT NOT NULL, UNIQUE(config_sha256, name));
CREATE TABLE configuration(id TEXT NOT NULL UNIQUE, canonical TEXT NOT NULL);
CREATE TABLE run(
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  configuration TEXT NOT NULL REFERENCES configuration(id), repeat INTEGER NOT NULL,
  state TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL, host TEXT NOT NULL,
  begin_unix_seconds REAL NOT NULL, end_unix_seconds REAL NOT NULL,
  device_name TEXT NOT NULL, library TEXT NOT NULL, threads INTEGER NOT NULL,
  tensor_batch INTEGER NOT NULL, tensor_sequence INTEGER NOT NULL, parameters INTEGER NOT NULL,
  step_flops TEXT NOT NULL, hardware_flops TEXT NOT NULL, step_bytes TEXT NOT NULL, step_tokens TEXT NOT NULL,
  layers INTEGER NOT NULL, heads INTEGER NOT NULL, head_width INTEGER NOT NULL,
  executed_flops INTEGER, fused_attention INTEGER,
  peak_flops_per_second REAL NOT NULL, peak_source TEXT NOT NULL, bandwidth_bytes_per_second REAL,
  power_source TEXT NOT NULL, power_kind TEXT NOT NULL, power_scope TEXT NOT NULL);
CREATE TABLE sample(
  run INTEGER NOT NULL REFERENCES run(id), number INTEGER NOT NULL, life INTEGER NOT NULL,
  begin_unix_seconds REAL NOT NULL, wall_seconds REAL NOT NULL, steps INTEGER NOT NULL, tokens INTEGER NOT NULL,
  device_seconds REAL NOT NULL, mfu REAL NOT NULL, hfu REAL NOT NULL, mbu REAL, peak_memory_bytes INTEGER,
  power_watts REAL, energy_joules REAL, energy_uncertainty_joules REAL, power_method TEXT NOT NULL,
  power_missing TEXT NOT NULL, utilization REAL, memory_utilization REAL, temperature_celsius REAL,
  PRIMARY KEY(run, number)) WITHOUT ROWID;
CREATE TABLE idle(
  host TEXT NOT NULL, device_name TEXT NOT NULL, begin_unix_seconds REAL NOT NULL, seconds REAL NOT NULL,
  power_watts REAL, power_missing TEXT NOT NULL, utilization REAL, memory_utilization REAL, temperature_celsius REAL,
  power_source TEXT NOT NULL, power_kind TEXT NOT NULL, power_scope TEXT NOT NULL, UNIQUE(host, begin_unix_seconds));
CREATE TABLE ceiling(
  host TEXT NOT NULL, device_name TEXT NOT NULL, dtype TEXT NOT NULL, library TEXT NOT NULL,
  flops_per_second REAL NOT NULL, bytes_per_second REAL NOT NULL, matrix_size INTEGER NOT NULL,
  copy_bytes INTEGER NOT NULL, UNIQUE(host, device_name, dtype));
)";

const char* const kRunColumns =
    "uid, configuration, repeat, state, reason, detail, host, begin_unix_seconds, end_unix_seconds, device_name, "
    "library, threads, tensor_batch, tensor_sequence, parameters, step_flops, hardware_flops, step_bytes, step_tokens, "
    "layers, heads, head_width, executed_flops, fused_attention, peak_flops_per_second, peak_source, "
    "bandwidth_bytes_per_second, power_source, "
    "power_kind, power_scope";
const char* const kSampleColumns =
    "number, life, begin_unix_seconds, wall_seconds, steps, tokens, device_seconds, mfu, hfu, mbu, peak_memory_bytes, "
    "power_watts, energy_joules, energy_uncertainty_joules, power_method, power_missing, utilization, "
    "memory_utilization, temperature_celsius";
const char* const kIdleColumns =
    "host, device_name, begin_unix_seconds, seconds, power_watts, power_missing, utilization, memory_utilization, "
    "temperature_celsius, power_source, power_kind, power_scope";
const char* const kCeilingColumns =
    "host, device_name, dtype, library, flops_per_second, bytes_per_second, matrix_size, copy_bytes";

std::string insertion(const std::string& table, const std::string& columns) {
  return fmt::format("INSERT INTO {}({}) VALUES({})", table, columns, places(columns));
}

std::string update_of(const std::string& table, const std::string& columns) {
  return fmt::format("UPDATE {} SET ({}) = ({})", table, columns, places(columns));
}

Row row_of(const RunRecord& r) {
  return {r.uid,
          r.configuration,
          r.repeat,
          name(r.state),
          r.reason,
          r.detail,
          r.host,
          r.begin_unix_seconds,
          r.end_unix_seconds,
          r.device_name,
          r.library,
          r.threads,
          r.tensor_batch,
          r.tensor_sequence,
          r.parameters,
          units::to_string(r.step_flops),
          units::to_string(r.hardware_flops),
          units::to_string(r.step_bytes),
          units::to_string(r.step_tokens),
          r.layers,
          r.heads,
          r.head_width,
          r.executed_flops,
          r.fused_attention,
          r.peak_flops_per_second,
          r.peak_source,
          r.bandwidth_bytes_per_second,
          r.power_source,
          r.power_kind,
          r.power_scope};
}

Row row_of(const SampleRecord& s) {
  return {s.number,
          s.life,
          s.begin_unix_seconds,
          s.wall_seconds,
          s.steps,
          s.tokens,
          s.device_seconds,
          s.mfu,
          s.hfu,
          s.mbu,
          s.peak_memory_bytes,
          s.power_watts,
          s.energy_joules,
          s.energy_uncertainty_joules,
          s.power_method,
          s.power_missing,
          s.utilization,
          s.memory_utilization,
          s.temperature_celsius};
}

Row row_of(const IdleRecord& i) {
  return {i.host,        i.device_name,        i.begin_unix_seconds,  i.seconds,      i.power_watts, i.power_missing,
          i.utilization, i.memory_utilization, i.temperature_celsius, i.power_source, i.power_kind,  i.power_scope};
}

Row row_of(const CeilingRecord& c) {
  return {c.host,        c.device_name, c.dtype, c.library, c.flops_per_second, c.bytes_per_second,
          c.matrix_size, c.copy_bytes};
}

Result<RunRecord> run_of(const Row& row, const std::string& where) {
  RunRecord r;
  Cells cells{row, std::string{"id, "} + kRunColumns};
  cells >> r.id >> r.uid >> r.configuration >> r.repeat >> r.state >> r.reason >> r.detail >> r.host >>
      r.begin_unix_seconds >> r.end_unix_seconds >> r.device_name >> r.library >> r.threads >> r.tensor_batch >>
      r.tensor_sequence >> r.parameters >> r.step_flops >> r.hardware_flops >> r.step_bytes >> r.step_tokens >>
      r.layers >> r.heads >> r.head_width >> r.executed_flops >> r.fused_attention >> r.peak_flops_per_second >>
      r.peak_source >> r.bandwidth_bytes_per_second >> r.power_source >> r.power_kind >> r.power_scope;
  cells.require(r.peak_flops_per_second >= 0, "peak_flops_per_second");
  FLOPWATT_TRY_VOID(cells.judge(fmt::format("run {}", r.id), where));
  return r;
}

Result<SampleRecord> sample_of(const Row& row, const std::string& where) {
  SampleRecord s;
  Cells cells{row, kSampleColumns};
  cells >> s.number >> s.life >> s.begin_unix_seconds >> s.wall_seconds >> s.steps >> s.tokens >> s.device_seconds >>
      s.mfu >> s.hfu >> s.mbu >> s.peak_memory_bytes >> s.power_watts >> s.energy_joules >>
      s.energy_uncertainty_joules >> s.power_method >> s.power_missing >> s.utilization >> s.memory_utilization >>
      s.temperature_celsius;
  cells.require(s.steps >= 1, "steps").require(s.tokens >= 1, "tokens");
  cells.require(s.wall_seconds >= 0, "wall_seconds").require(s.device_seconds >= 1 / kLargest, "device_seconds");
  cells.require(s.mfu >= 0, "mfu").require(s.hfu >= 0, "hfu").require(s.mbu.value_or(0) >= 0, "mbu");
  FLOPWATT_TRY_VOID(cells.judge(fmt::format("sample {}", s.number), where));
  return s;
}

Result<IdleRecord> idle_of(const Row& row, const std::string& where) {
  IdleRecord i;
  Cells cells{row, kIdleColumns};
  cells >> i.host >> i.device_name >> i.begin_unix_seconds >> i.seconds >> i.power_watts >> i.power_missing >>
      i.utilization >> i.memory_utilization >> i.temperature_celsius >> i.power_source >> i.power_kind >> i.power_scope;
  FLOPWATT_TRY_VOID(cells.judge("an idle reading", where));
  return i;
}

Result<CeilingRecord> ceiling_of(const Row& row, const std::string& where) {
  CeilingRecord c;
  Cells cells{row, kCeilingColumns};
  cells >> c.host >> c.device_name >> c.dtype >> c.library >> c.flops_per_second >> c.bytes_per_second >>
      c.matrix_size >> c.copy_bytes;
  cells.require(c.flops_per_second >= 0, "flops_per_second").require(c.bytes_per_second >= 0, "bytes_per_second");
  FLOPWATT_TRY_VOID(cells.judge("a ceiling", where));
  return c;
}

std::string_view name(RunState state) noexcept {
  switch (state) {
    case RunState::finished:
      return "finished";
    case RunState::failed:
      return "failed";
    case RunState::interrupted:
      return "interrupted";
    case RunState::running:
      break;
  }
  return "running";
}

std::optional<RunState> parse_run_state(std::string_view text) noexcept {
  for (const RunState state : {RunState::running, RunState::finished, RunState::failed, RunState::interrupted}) {
    if (name(state) == text) return state;
  }
  return std::nullopt;
}

}  // namespace flopwatt::sweep
