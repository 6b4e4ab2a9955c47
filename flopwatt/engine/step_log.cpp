#include "flopwatt/engine/step_log.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "flopwatt/io/csv.hpp"
#include "flopwatt/io/json.hpp"
#include "flopwatt/io/text_encoding.hpp"
#include "flopwatt/telemetry/logs/cell.hpp"
#include "flopwatt/telemetry/logs/text_line.hpp"

namespace flopwatt::engine {
namespace {

using telemetry::parse_stamp;
using telemetry::Reading;
using telemetry::same_letters;

enum class Field : std::uint8_t { none, start, end, seconds, milliseconds, tokens, flops };

struct Name {
  std::string_view name;
  Field field;
};
constexpr std::array kNames{
    Name{"start", Field::start},
    Name{"start_time", Field::start},
    Name{"end", Field::end},
    Name{"end_time", Field::end},
    Name{"timestamp", Field::end},
    Name{"_timestamp", Field::end},
    Name{"time", Field::end},
    Name{"ts", Field::end},
    Name{"unix_time_seconds", Field::end},
    Name{"step_time_seconds", Field::seconds},
    Name{"step_time", Field::seconds},
    Name{"duration_seconds", Field::seconds},
    Name{"elapsed_seconds", Field::seconds},
    Name{"iteration_time", Field::seconds},
    Name{"step_time_ms", Field::milliseconds},
    Name{"tokens", Field::tokens},
    Name{"num_tokens", Field::tokens},
    Name{"step_tokens", Field::tokens},
    Name{"slots", Field::tokens},
    Name{"model_flops", Field::flops},
    Name{"flops", Field::flops},
};

Field field_of(std::string_view name) {
  for (const Name& known : kNames) {
    if (same_letters(known.name, name)) return known.field;
  }
  return Field::none;
}

/// Puts one value into its place; false for a value that cannot be.
bool take(LoggedStep& step, Field field, std::string_view text) {
  if (telemetry::absence_of(text) != telemetry::Absence::not_asked) return true;
  if (field == Field::start || field == Field::end) {
    std::optional<telemetry::Stamp>& target = field == Field::start ? step.start : step.end;
    target = parse_stamp(text);
    return target.has_value();
  }
  const Reading<double> value = telemetry::read_cell(text, telemetry::Dimension::number, 1);
  if (!value || *value < 0) return false;
  switch (field) {
    case Field::seconds:
      step.seconds = *value;
      break;
    case Field::milliseconds:
      step.seconds = *value / 1000;
      break;
    case Field::tokens:
      step.tokens = *value;
      break;
    case Field::flops:
      step.flops = *value;
      break;
    default:
      break;
  }
  return true;
}

Result<void> check(const LoggedStep& step, std::string_view where) {
  if (step.seconds || step.end || step.tokens || step.flops) return {};
  return fail(Errc::bad_data, "a step has neither a time nor tokens nor FLOPs", fmt::format("{}:{}", where, step.line),
              "name them as docs/energy.md does: end, step_time_seconds, tokens, model_flops");
}

tl::unexpected<Error> refused(std::string_view where, std::size_t line, std::string_view name, std::string_view value) {
  return fail(Errc::bad_data, fmt::format("{}: \"{}\" cannot be", base::excerpt(name), base::excerpt(value)),
              fmt::format("{}:{}", where, line));
}

Result<StepLog> read_lines(const std::vector<telemetry::Line>& lines, std::string_view where) {
  StepLog log;
  for (const telemetry::Line& line : lines) {
    const std::string place = fmt::format("{}:{}", where, line.number);
    const Result<io::Json> json = io::parse_json(line.text, place);
    if (!json && !line.ended) {
      log.torn_tail = true;
      break;
    }
    if (!json) return fail(json.error());
    if (!json->is_object()) return fail(Errc::bad_data, "is no JSON object", place);
    const auto kind = json->find("kind");
    if (kind != json->end() && (!kind->is_string() || kind->get_ref<const std::string&>() != "step")) {
      ++log.records_of_other_kinds;
      continue;
    }
    LoggedStep step{.line = line.number};
    for (const auto& [name, value] : json->items()) {
      const Field field = field_of(name);
      if (field == Field::none || value.is_null()) continue;
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      if (!take(step, field, text)) return refused(where, line.number, name, text);
    }
    FLOPWATT_TRY_VOID(check(step, where));
    log.steps.push_back(step);
  }
  return log;
}

Result<StepLog> read_rows(std::string_view text, std::string_view where) {
  FLOPWATT_TRY(const io::CsvTable table, io::CsvTable::parse(text, where, {.tolerate_torn_tail = true}));
  StepLog log;
  log.torn_tail = table.torn_tail();
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    LoggedStep step{.line = table.line(row)};
    for (std::size_t column = 0; column < table.columns().size(); ++column) {
      const Field field = field_of(table.columns()[column]);
      if (field == Field::none) continue;
      if (!take(step, field, table.cell(row, column))) {
        return refused(where, step.line, table.columns()[column], table.cell(row, column));
      }
    }
    FLOPWATT_TRY_VOID(check(step, where));
    log.steps.push_back(step);
  }
  return log;
}

}  // namespace

Result<StepLog> read_step_log(std::string_view bytes, std::string_view where) {
  std::string storage;
  FLOPWATT_TRY(const std::string_view text, io::decode_text(bytes, where, storage));
  const std::vector<telemetry::Line> lines = telemetry::lines_of(text);
  if (lines.empty()) return fail(Errc::bad_data, "is empty", std::string{where});
  const bool json = telemetry::trimmed(lines.front().text).starts_with('{');
  FLOPWATT_TRY(StepLog log, json ? read_lines(lines, where) : read_rows(text, where));
  if (log.steps.empty()) return fail(Errc::bad_data, "holds no step", std::string{where});
  return log;
}

}  // namespace flopwatt::engine
