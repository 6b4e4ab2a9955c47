#include "flopwatt/report/count_parts.hpp"
#include "flopwatt/report/json.hpp"
#include "flopwatt/report/json_parts.hpp"
#include "flopwatt/report/phrases.hpp"

namespace flopwatt::report {

std::string to_json(const answers::Mfu& a) {
  const metrics::Utilization& u = a.utilization;
  io::JsonWriter json;
  begin_answer(json, "mfu");
  write_model_inputs(json, a.architecture);
  write_workload_inputs(json, a.workload);
  json.member("device", a.device.name).member("gpus", a.devices).member("counting", kCountingConvention).end_object();

  json.member("mfu", u.mfu).member("hfu", u.hfu).member("mbu", u.mbu);
  json.member("mfu_default_conventions", a.default_conventions_mfu.value_or(u.mfu));
  json.member("mbu_definition", metrics::name(a.mbu_definition));
  json.member("achieved_flops_per_second", u.model_flops.in(units::flop_per_second));
  json.member("achieved_hardware_flops_per_second", u.hardware_flops.in(units::flop_per_second));
  if (u.mbu) {
    json.member("achieved_bytes_per_second", u.bytes.in(units::byte_per_second));
  } else {
    json.key("achieved_bytes_per_second").null();
  }
  write_peak(json, a.peak);
  write_bandwidth(json, a.device);
  json.member("tokens_per_second", a.job_tokens.in(units::token_per_second));
  json.member("tokens_per_second_per_gpu", u.tokens.in(units::token_per_second));
  json.member("step_time_seconds", a.elapsed.in(units::second));
  json.key("flops").begin_object();
  member(json, "step", a.job.step);
  member(json, "hardware_step", a.job.hardware_step);
  json.end_object();
  json.key("other_counts").begin_array();
  for (const answers::OtherCount& other : a.other_counts) {
    json.begin_object().member("formula", work::name(other.comparison.formula)).member("mfu", other.mfu);
    member(json, "step_flops", other.comparison.formula_step);
    json.key("this_minus_exact").begin_array();
    for (const CauseText& cause : causes(other.comparison)) {
      json.begin_object().member("cause", cause.what);
      member(json, "flops", cause.flops);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
  if (a.reported) {
    json.key("reported").begin_object().member("mfu", a.reported->mfu);
    json.member("implied_peak_flops_per_second", a.reported->implied.rate.in(units::flop_per_second));
    json.member("agrees", a.reported->implied.agrees);
    const std::string& explained_by = a.reported->implied.explained_by;
    json.member("explained_by", explained_by.empty() ? std::nullopt : std::optional{explained_by}).end_object();
  }
  write_flags(json, a.flags);
  return finish_answer(std::move(json), a.notes);
}

}  // namespace flopwatt::report
