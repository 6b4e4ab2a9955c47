#include "flopwatt/report/count_parts.hpp"
#include "flopwatt/report/json.hpp"
#include "flopwatt/report/json_parts.hpp"
#include "flopwatt/report/phrases.hpp"
#include "flopwatt/report/verification.hpp"
#include "flopwatt/work/stored_weights.hpp"

namespace flopwatt::report {
namespace {

using io::JsonWriter;
using units::Count;

std::string_view formula_name(const std::optional<work::Formula>& formula) {
  return formula ? work::name(*formula) : "exact";
}

void write_params(JsonWriter& json, const answers::Count& a) {
  json.key("params").begin_object();
  member(json, "total", a.census.total);
  member(json, "active", a.census.active);
  member(json, "body", a.census.body);
  for (const model::Component c : kComponents) member(json, model::name(c), a.census[c]);
  json.member("tied_embeddings", a.architecture.tied_embeddings);
  json.key("excluded").begin_array();
  for (const model::Excluded& excluded : a.architecture.excluded) {
    json.begin_object().member("what", excluded.what);
    member(json, "parameters", excluded.parameters);
    json.member("why", excluded.why).end_object();
  }
  json.end_array().end_object();
}

/// The plan, and which of its devices is counted.
void write_parallel(JsonWriter& json, std::string_view key, const work::Parallel& p) {
  json.key(key).begin_object();
  json.member("tp", p.tensor).member("sp", p.sequence).member("pp", p.pipeline).member("dp", p.data);
  json.member("cp", p.context).member("ep", p.expert).member("zero", p.zero);
  json.member("stage", p.stage).key("stage_layers");
  if (p.stage_layers.empty()) {
    json.null();
  } else {
    json.begin_row();
    for (const std::int64_t layers : p.stage_layers) json.value(layers);
    json.end_array();
  }
  json.member("in_flight", p.in_flight).end_object();
}

/// Whether the plan can work; if it does not divide, why, and the nearest that does.
void write_plan(JsonWriter& json, const answers::Count& a) {
  json.key("plan").begin_object().member("feasible", !a.infeasible);
  if (a.infeasible) {
    json.member("option", a.infeasible->error.where).member("reason", a.infeasible->error.what);
    if (a.infeasible->nearest) {
      write_parallel(json, "nearest", *a.infeasible->nearest);
    } else {
      json.key("nearest").null();
    }
  }
  json.end_object();
  if (a.infeasible) json.member("fits", false);
}

/// With a formula in place of the exact count, forward is a third of the step (backward is twice the forward).
void write_flops(JsonWriter& json, const answers::Count& a) {
  const work::Comparison* estimate = a.formula ? a.comparison(*a.formula) : nullptr;
  const bool exact = estimate == nullptr;
  const Count step = exact ? a.totals.step : estimate->formula_step;
  const Count forward = exact ? a.totals.forward : step / 3;
  json.key("flops").begin_object();
  member(json, "forward", forward);
  member(json, "backward", exact ? a.totals.backward : step - forward);
  member(json, "step", step);
  member(json, "hardware_step", a.totals.hardware_step);
  member(json, "attention_forward", a.totals.attention_forward);
  member(json, "lm_head_forward", a.totals.lm_head_forward);
  member_quotient(json, "step_per_token", step, exact ? a.totals.tokens : estimate->tokens);
  member(json, "elementwise", a.totals.elementwise);
  if (a.workload.phase == work::Phase::generate) {
    member(json, "body", a.totals.body_forward);
    member(json, "head", a.totals.lm_head_forward);
    member(json, "attention", a.totals.attention_forward);
    member(json, "total", a.totals.step);
  }
  json.end_object();
}

void write_convention_flops(JsonWriter& json, std::string_view key, const work::ConventionFlops& flops) {
  json.key(key).begin_object();
  member(json, "flops", flops.chosen);
  member(json, "default_flops", flops.by_default);
  member(json, "difference_flops", flops.difference());
  json.end_object();
}

/// What was chosen beside what the default conventions give, in all and by cause.
void write_conventions(JsonWriter& json, const work::ConventionEffects& effects) {
  json.key("conventions").begin_object().member("all_default", effects.all_default());
  write_convention_flops(json, "forward", effects.forward);
  write_convention_flops(json, "step", effects.step);
  json.key("by_cause").begin_object();
  for (const work::ConventionEffect& effect : effects.by_cause) {
    json.key(work::name(effect.convention)).begin_object();
    json.member("chosen", effect.chosen).member("default", effect.by_default);
    write_convention_flops(json, "forward", effect.forward);
    write_convention_flops(json, "step", effect.step);
    json.end_object();
  }
  json.end_object().end_object();
}

void write_bytes(JsonWriter& json, const answers::Count& a) {
  json.key("bytes").begin_object();
  const Count unquantized_bits = a.census.total * units::bits(a.workload.precision);
  if (const std::optional<Count> quantized = work::quantized_weight_bytes(a.architecture, a.workload)) {
    member(json, "weights", *quantized);
  } else {
    member_quotient(json, "weights", unquantized_bits, 8);
  }
  member_quotient(json, "weights_unquantized", unquantized_bits, 8);
  member(json, "kv_cache_per_token", a.kv_cache_bytes_per_token);
  if (a.infeasible) {
    json.key("step").null().end_object();
    return;
  }
  json.key("step").begin_object();
  for (std::size_t i = 0; i < work::kByteKindCount; ++i) {
    member(json, work::name(static_cast<work::ByteKind>(i)), a.totals.bytes.by_kind[i]);
  }
  member(json, "total", a.totals.bytes.total);
  json.end_object();
  if (a.workload.phase == work::Phase::generate) {
    json.member("per_step_mean", a.weight_traffic.decode_step_mean);
    member(json, "total", a.weight_traffic.total);
  }
  json.end_object();
}

void write_causes(JsonWriter& json, std::string_view key, const work::Comparison& comparison) {
  json.key(key).begin_array();
  for (const CauseText& cause : causes(comparison)) {
    json.begin_object().member("cause", cause.what);
    member_quotient(json, "flops_per_token", cause.flops, comparison.tokens);
    json.end_object();
  }
  json.end_array();
}

/// "6n" is no word for a key.
std::string key_of(work::Formula formula) {
  return formula == work::Formula::sixn ? "sixn" : std::string{work::name(formula)};
}

void write_formula(JsonWriter& json, const answers::Count& a) {
  json.key("formula").begin_object().member("used", formula_name(a.formula));
  if (a.comparisons.empty()) {
    json.key("palm_step_per_token").null().key("sixn_step_per_token").null();
  } else {  // of all devices, which the FLOPs above are not where a plan splits the work
    member_quotient(json, "exact_step_per_token", a.comparisons.front().exact_step, a.comparisons.front().tokens);
  }
  for (const work::Comparison& c : a.comparisons) {
    member_quotient(json, key_of(c.formula) + "_step_per_token", c.formula_step, c.tokens);
  }
  for (const work::Comparison& c : a.comparisons) write_causes(json, key_of(c.formula) + "_minus_exact", c);
  json.end_object();
}

void write_parts(JsonWriter& json, const answers::Count& a, CountPart part) {
  json.key("by").begin_object().member("part", name(part)).key("rows").begin_array();
  for (const CountRow& row : parts(a, part)) {
    json.begin_object().member("name", row.name);
    if (!row.detail.empty()) json.member("detail", row.detail);
    if (row.parameters) member(json, "parameters", *row.parameters);
    if (row.flops) member(json, "step_flops", *row.flops);
    if (row.bytes) member(json, "step_bytes", *row.bytes);
    json.end_object();
  }
  json.end_array().end_object();
}

std::string write(const answers::Count& a, std::optional<CountPart> part) {
  JsonWriter json;
  begin_answer(json, "count");
  write_model_inputs(json, a.architecture);
  write_workload_inputs(json, a.workload);
  write_parallel(json, "parallel", a.workload.parallel);
  json.member("formula", formula_name(a.formula)).member("counting", kCountingConvention).end_object();
  write_params(json, a);
  write_plan(json, a);
  if (a.infeasible) {
    json.key("flops").null().key("conventions").null();
    write_bytes(json, a);
    json.key("memory").null();
  } else {
    write_flops(json, a);
    write_conventions(json, a.conventions);
    write_bytes(json, a);
    write_memory(json, a.memory);
  }
  write_formula(json, a);
  if (part && !a.infeasible) write_parts(json, a, *part);
  if (a.verification) write_verification(json, *a.verification);
  return finish_answer(std::move(json), a.notes);
}

}  // namespace

std::string to_json(const answers::Count& answer) { return write(answer, std::nullopt); }
std::string to_json(const answers::Count& answer, CountPart part) { return write(answer, part); }

}  // namespace flopwatt::report
