#include "flopwatt/report/count_parts.hpp"
#include "flopwatt/report/json.hpp"
#include "flopwatt/report/json_parts.hpp"

namespace flopwatt::report {
namespace {

using io::JsonWriter;

void write_row(JsonWriter& json, std::string_view key, double lo, double hi) {
  json.key(key).begin_row().value(lo).value(hi).end_array();
}

void write_inputs(JsonWriter& json, const answers::Train& a) {
  write_model_inputs(json, a.architecture);
  write_workload_inputs(json, a.workload);
  json.member("micro_batch", a.workload.batch).member("global_batch", a.workload.batch * a.micro_batches);
  json.member("device", a.device.name).member("gpus", 1);
  json.member("pace", train::name(a.pace));
  if (const auto* roofline = std::get_if<train::Roofline>(&a.pace))
    json.member("assumed_efficiency", roofline->efficiency);
  if (const auto* achieved = std::get_if<train::AchievedMfu>(&a.pace)) json.member("mfu", achieved->mfu);
  json.member("tokens", a.length.tokens).member("steps", a.length.steps);
  json.member("pue", a.tariff.pue).member("carbon_g_per_kwh", a.tariff.carbon_g_per_kwh);
  json.member("price_per_kwh", a.tariff.price_per_kwh).member("counting", kCountingConvention);
  json.end_object();
}

void write_power(JsonWriter& json, const answers::Train& a) {
  const double watts = a.power.power.in(units::watt);
  json.key("power").begin_object();
  json.member("per_gpu_mean_watts", watts).member("per_gpu_peak_watts", watts).member("cluster_mean_watts", watts);
  write_row(json, "interval_watts", a.power.lo.in(units::watt), a.power.hi.in(units::watt));
  json.member("level", a.power.level).member("interval_method", a.power.interval_method);
  json.member("model", power::name(a.power.form));
  write_calibration(json, a.calibration);
  json.end_object();
}

void write_run(JsonWriter& json, const train::Run& run, const train::Tariff& tariff) {
  json.member("energy_joules", run.device_energy.mean.in(units::joule));
  write_row(json, "energy_interval_joules", run.device_energy.lo.in(units::joule),
            run.device_energy.hi.in(units::joule));
  json.member("energy_kwh", run.device_energy.mean.in(units::kilowatt_hour));
  json.member("facility_energy_kwh", run.facility_energy.mean.in(units::kilowatt_hour));
  if (run.carbon_grams) {
    json.member("carbon_grams", run.carbon_grams->mean);
    write_row(json, "carbon_interval_grams", run.carbon_grams->lo, run.carbon_grams->hi);
  } else {
    json.key("carbon_grams").null();
  }
  json.key("cost").begin_object();
  if (run.price) {
    json.member("energy", run.price->mean);
    write_row(json, "energy_interval", run.price->lo, run.price->hi);
  } else {
    json.key("energy").null();
  }
  json.member("price_per_kwh", tariff.price_per_kwh).end_object();
  json.member("time_seconds", run.time.in(units::second)).member("steps", run.steps).member("tokens", run.tokens);
}

}  // namespace

std::string to_json(const answers::Train& a) {
  JsonWriter json;
  begin_answer(json, "train");
  write_inputs(json, a);
  const double rate = a.utilization.tokens.in(units::token_per_second);
  json.member("step_time_seconds", a.step_time.total.in(units::second));
  json.member("tokens_per_second", rate).member("tokens_per_second_per_gpu", rate);
  json.member("mfu", a.utilization.mfu).member("hfu", a.utilization.hfu).member("mbu", a.utilization.mbu);
  write_peak(json, a.peak);
  write_bandwidth(json, a.device);
  write_memory(json, a.memory);
  json.member("fits", a.fits);
  write_power(json, a);
  write_run(json, a.run, a.tariff);
  json.key("breakdown").begin_object();
  json.member("compute_seconds", (a.step_time.total - a.step_time.optimizer).in(units::second));
  json.member("communication_exposed_seconds", 0.0).member("bubble_seconds", 0.0);
  json.member("optimizer_seconds", a.step_time.optimizer.in(units::second)).end_object();
  write_flags(json, a.flags);
  return finish_answer(std::move(json), a.notes);
}

}  // namespace flopwatt::report
