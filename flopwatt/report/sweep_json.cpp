#include "flopwatt/report/json.hpp"
#include "flopwatt/report/json_parts.hpp"

namespace flopwatt::report {
namespace {

using io::JsonWriter;
using sweep::Configuration;
using sweep::Summary;

void write_configuration(JsonWriter& json, const Configuration& c) {
  json.member("model", c.model).member("config_sha256", c.config_sha256).member("dtype", units::name(c.dtype));
  json.member("attention", workload::name(c.attention)).member("batch", c.batch).member("sequence", c.sequence);
  json.member("padding", workload::name(c.padding)).member("recompute", workload::name(c.recompute));
  json.member("accumulation", c.accumulation).member("learning_rate", c.learning_rate);
  json.member("weight_decay", c.weight_decay).member("device_kind", c.device_kind);
  json.key("weights");
  c.weights.empty() ? json.null() : json.value(c.weights);
}

/// A ratio above 1 cannot be: it is withheld, and stands as evidence.
std::optional<double> possible(std::optional<double> ratio) { return ratio.value_or(0) > 1 ? std::nullopt : ratio; }

void write_ratios(JsonWriter& json, const Summary& s) {
  json.member("mfu", possible(s.mfu)).member("hfu", possible(s.hfu)).member("mbu", s.mbu);
  if (possible(s.mfu) == s.mfu && possible(s.hfu) == s.hfu) return;
  json.key("evidence").begin_object();
  if (possible(s.mfu) != s.mfu) json.member("mfu_computed", *s.mfu);
  if (possible(s.hfu) != s.hfu) json.member("hfu_computed", *s.hfu);
  json.end_object();
}

void write_summary(JsonWriter& json, const Summary& s) {
  json.begin_object().member("id", s.id);
  write_configuration(json, s.configuration);
  json.member("runs_finished", s.finished).member("runs_capped", s.capped);
  json.member("runs_failed", s.failed).member("runs_interrupted", s.interrupted);
  json.key("reasons").begin_object();
  for (const auto& [reason, count] : s.reasons) json.member(reason, count);
  json.end_object().member("detail", s.detail);
  if (s.samples > 0) {
    json.member("device", s.device_name).member("tensor_sequence", s.tensor_sequence);
    json.key("peak").begin_object().member("flops_per_second", s.peak_flops_per_second);
    json.member("source", s.peak_source).end_object();
    json.key("bandwidth");
    if (s.bandwidth_bytes_per_second) {
      json.begin_object().member("bytes_per_second", *s.bandwidth_bytes_per_second).end_object();
    } else {
      json.null();
    }
  }
  json.member("samples", s.samples);
  write_ratios(json, s);
  json.member("half_width", s.half_width).member("utilization", s.utilization);
  json.member("tokens_per_second", s.tokens_per_second).member("step_time_seconds", s.step_seconds);
  json.member("peak_memory_bytes", s.peak_memory_bytes).member("power_watts", s.power_watts);
  json.member("energy_per_token_joules", s.joules_per_token);
  json.key("power").begin_object().member("source", s.power_source).member("kind", s.power_kind);
  json.member("scope", s.power_scope).member("missing", s.power_missing).end_object();
  json.end_object();
}

void write_plan(JsonWriter& json, const answers::SweepPlan& a) {
  json.member("runs_to_measure", a.to_run).member("runs_finished_before", a.finished);
  json.member("runs_failed_before", a.failed);
  json.key("time_estimate_seconds").begin_row().value(a.estimate.least.in(units::second));
  json.value(a.estimate.most.in(units::second)).end_array();
}

void begin_plan(JsonWriter& json, const answers::SweepPlan& a) {
  begin_answer(json, "sweep");
  json.member("plan", a.plan.where).member("store", a.store).member("shard", a.shard.index);
  json.member("shards", a.shard.count).member("seed", a.plan.seed);
  json.member("power_source", sweep::name(a.plan.power.source)).member("peak_source", sweep::name(a.plan.peak.source));
  json.end_object();
}

void write_summaries(JsonWriter& json, const answers::SweepReport& report) {
  json.key("configurations").begin_array();
  for (const Summary& summary : report.summaries) write_summary(json, summary);
  json.end_array();
  write_flags(json, report.flags);
}

}  // namespace

std::string to_json(const answers::SweepPlan& a) {
  JsonWriter json;
  begin_plan(json, a);
  write_plan(json, a);
  json.key("configurations").begin_array();
  for (const Configuration& configuration : a.configurations) {
    json.begin_object().member("id", configuration.id());
    write_configuration(json, configuration);
    json.end_object();
  }
  json.end_array();
  return finish_answer(std::move(json), a.notes);
}

std::string to_json(const answers::SweepReport& a) {
  JsonWriter json;
  begin_answer(json, "sweep report");
  json.member("store", a.store).end_object();
  write_summaries(json, a);
  return finish_answer(std::move(json), a.notes);
}

std::string to_json(const answers::SweepRun& a) {
  JsonWriter json;
  begin_plan(json, a.plan);
  write_plan(json, a.plan);
  json.member("runs_finished", a.counts.finished).member("runs_failed", a.counts.failed).member("runs_left", a.left);
  json.member("interrupted", a.counts.interrupted);
  write_summaries(json, a.report);
  std::vector<std::string> notes = a.plan.notes;
  notes.insert(notes.end(), a.report.notes.begin(), a.report.notes.end());
  return finish_answer(std::move(json), notes);
}

std::string to_json(const answers::SweepMerge& a) {
  JsonWriter json;
  begin_answer(json, "sweep merge");
  json.member("store", a.store).key("stores").begin_array();
  for (const answers::SweepMerge::Input& input : a.inputs) json.value(input.store);
  json.end_array().end_object().key("merged").begin_array();
  for (const answers::SweepMerge::Input& input : a.inputs) {
    const sweep::Merged& m = input.merged;
    json.begin_object().member("store", input.store).member("runs", m.runs).member("samples", m.samples);
    json.member("runs_known", m.known).member("runs_renewed", m.renewed).member("runs_left_out", m.repeated);
    json.end_object();
  }
  json.end_array().member("configurations", a.configurations).member("runs_finished", a.finished);
  json.member("runs_failed", a.failed).member("runs_interrupted", a.interrupted).member("samples", a.samples);
  return finish_answer(std::move(json), a.notes);
}

}  // namespace flopwatt::report
