#include "flopwatt/report/json.hpp"
#include "flopwatt/report/json_parts.hpp"

namespace flopwatt::report {
namespace {

using io::JsonWriter;

void write_query(JsonWriter& json, const power::Query& query) {
  json.member("dtype", units::name(query.dtype)).member("power_model", power::name(query.form));
  json.member("batch", query.batch).member("level", query.level);
}

template <class Quantity>
void member_in(JsonWriter& json, std::string_view key, const std::optional<Quantity>& value, Quantity unit) {
  if (value) {
    json.member(key, value->in(unit));
  } else {
    json.key(key).null();
  }
}

void write_prediction(JsonWriter& json, const power::Prediction& prediction) {
  json.member("power_watts", prediction.power.in(units::watt));
  json.key("interval_watts").begin_row().value(prediction.lo.in(units::watt)).value(prediction.hi.in(units::watt));
  json.end_array().member("level", prediction.level).member("interval_method", prediction.interval_method);
  json.member("model", power::name(prediction.form));
}

}  // namespace

std::string to_json(const answers::Power& a) {
  JsonWriter json;
  begin_answer(json, "power");
  json.member("device", a.device);
  if (!a.model.empty()) json.member("model", a.model);
  write_query(json, a.query);
  json.member("sequence", a.query.sequence);
  member_in(json, "tokens_per_second", a.tokens, units::token_per_second);
  json.end_object();
  write_prediction(json, a.prediction);
  write_calibration(json, a.calibration);
  json.member("flops_per_second", a.query.flops.in(units::flop_per_second));
  member_in(json, "bytes_per_second", a.query.bytes, units::byte_per_second);
  json.member("mfu", a.mfu).member("mbu", a.mbu);
  if (a.tokens) {
    json.member("energy_per_token_joules", (a.prediction.power / *a.tokens).in(units::joule / units::token));
  }
  write_flags(json, a.flags);
  return finish_answer(std::move(json), a.notes);
}

std::string to_json(const answers::PowerRows& a) {
  JsonWriter json;
  begin_answer(json, "power");
  json.member("device", a.device).member("rates", a.file);
  write_query(json, a.query);
  json.end_object();
  json.member("power_watts", a.mean_power.in(units::watt));
  json.key("interval_watts").begin_row().value((a.energy_lo / a.duration).in(units::watt));
  json.value((a.energy_hi / a.duration).in(units::watt)).end_array().member("level", a.query.level);
  json.member("model", power::name(a.rows.front().prediction.form));
  write_calibration(json, a.calibration);
  json.member("energy_joules", a.energy.in(units::joule)).member("energy_kwh", a.energy.in(units::kilowatt_hour));
  json.member("time_seconds", a.duration.in(units::second));
  json.key("rows").begin_array();
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    const auto& row = a.rows[i];
    json.begin_object().member("line", row.line);
    json.member("duration_seconds", row.duration.in(units::second));
    json.member("flops_per_second", row.flops.in(units::flop_per_second));
    member_in(json, "bytes_per_second", row.bytes, units::byte_per_second);
    json.member("power_watts", row.prediction.power.in(units::watt));
    json.key("interval_watts").begin_row().value(row.prediction.lo.in(units::watt));
    json.value(row.prediction.hi.in(units::watt)).end_array();
    json.member("energy_joules", row.energy.in(units::joule)).end_object();
  }
  json.end_array();
  write_flags(json, a.flags);
  return finish_answer(std::move(json), a.notes);
}

}  // namespace flopwatt::report
