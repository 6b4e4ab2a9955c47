#include <fmt/core.h>

#include <cmath>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/report/documents.hpp"
#include "flopwatt/report/phrases.hpp"
#include "flopwatt/report/verification.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::report {
namespace {

using units::Count;

constexpr double kShownShare = 5e-5;  // what two decimals of a percentage show

double share_of(Count part, Count whole) { return whole == Count{} ? 0 : part.to_double() / whole.to_double(); }

Section parameters(const answers::Count& a) {
  Section section{.heading = "Parameters", .facts = {}, .table = {}};
  const auto add = [&](std::string label, Count count, std::string source = {}) {
    section.facts.push_back({std::move(label), units::to_grouped_string(count), std::move(source)});
  };
  add("total", a.census.total, a.architecture.tied_embeddings ? "the head is the embedding, counted once" : "");
  if (a.census.active != a.census.total) add("active", a.census.active, "top-k of the routed experts");
  add("body", a.census.body, "total − embedding − untied head");
  for (const model::Component c : kComponents) {
    if (a.census[c] != Count{})
      add("  " + std::string{model::name(c)}, a.census[c], percent(share_of(a.census[c], a.census.total), 3));
  }
  for (const model::Excluded& excluded : a.architecture.excluded) {
    add("not counted", excluded.parameters, excluded.what + ": " + excluded.why);
  }
  return section;
}

Section infeasible(const answers::Infeasible& plan) {
  Section section{.heading = "Plan", .facts = {}, .table = {}};
  section.facts.push_back({"fits", "no", plan.error.where + ": " + plan.error.what});
  section.facts.push_back({"nearest", plan.nearest ? options_text(*plan.nearest) : "none found", ""});
  return section;
}

Section flops(const answers::Count& a) {
  const work::Totals& t = a.totals;
  const bool training = a.workload.phase == work::Phase::train;
  Section section{.heading = training ? "FLOPs of a step" : "FLOPs", .facts = {}, .table = {}};
  const auto add = [&](std::string label, Count count, std::string source) {
    section.facts.push_back({std::move(label), flops_text(count), std::move(source)});
  };
  add("forward", t.forward, "");
  add("  linear layers", t.body_forward,
      a.workload.body == work::BodyCount::parameters ? "2 · tokens · body parameters" : "2·m·k·n of every product");
  add("  attention", t.attention_forward,
      fmt::format("scores and values, {} mask convention", work::name(a.workload.mask)));
  add("  LM head", t.lm_head_forward, "");
  if (training) {
    add("backward", t.backward, "");
    add("step", t.step, "model FLOPs: the MFU numerator");
    add("hardware", t.hardware_step,
        fmt::format("what the kernels execute ({} attention, recompute {})", work::name(a.workload.kernel),
                    work::name(a.workload.recompute)));
  }
  if (t.tokens != Count{}) {
    section.facts.push_back({"per token", units::to_text(t.step.to_double() / t.tokens.to_double() * units::flop),
                             units::to_grouped_string(t.tokens) + (t.tokens == Count{1} ? " token" : " tokens")});
  }
  add("elementwise", t.elementwise, "norms, softmax, activations: in neither of the above");
  return section;
}

/// What was chosen beside what the default conventions give: each cause, and in all.
Section conventions(const answers::Count& a) {
  const bool training = a.workload.phase == work::Phase::train;
  Section section{.heading = training ? "Conventions, FLOPs of a step" : "Conventions", .facts = {}, .table = Table{}};
  section.table->columns = {{"", "convention", Align::left}, {"chosen", "chosen", Align::left},
                            {"FLOPs", "chosen_flops"},       {"default", "default", Align::left},
                            {"FLOPs", "default_flops"},      {"difference", "difference_flops"}};
  const auto add = [&](std::string_view label, std::string_view chosen, std::string_view by_default,
                       const work::ConventionFlops& flops) {
    const auto cell = [](Count count) { return Cell{flops_text(count), count.to_double()}; };
    section.table->rows.push_back({Cell{std::string{label}}, Cell{std::string{chosen}}, cell(flops.chosen),
                                   Cell{std::string{by_default}}, cell(flops.by_default), cell(flops.difference())});
  };
  for (const work::ConventionEffect& e : a.conventions.by_cause) {
    if (e.chosen != e.by_default) add(work::name(e.convention), e.chosen, e.by_default, e.step);
  }
  add("in all", "", "", a.conventions.step);
  return section;
}

Section bytes(const answers::Count& a) {
  Section section{.heading = "Bytes", .facts = {}, .table = {}};
  const auto add = [&](std::string label, Count count, std::string source = {}) {
    if (count != Count{}) section.facts.push_back({std::move(label), bytes_text(count), std::move(source)});
  };
  add("moved in all", a.totals.bytes.total, "read and written across the memory bus");
  for (std::size_t i = 0; i < work::kByteKindCount; ++i) {
    add("  " + std::string{work::name(static_cast<work::ByteKind>(i))}, a.totals.bytes.by_kind[i]);
  }
  add("KV cache a token", a.kv_cache_bytes_per_token, units::to_grouped_string(a.kv_cache_bytes_per_token) + " B");
  if (const auto mean = a.weight_traffic.decode_step_mean) {
    section.facts.push_back({"mean decode step", units::to_text(*mean * units::byte),
                             "as published: cache and all weights but unreached experts, the embedding whole"});
  }
  return section;
}

Section memory(const answers::Count& a) {
  const work::Memory& m = a.memory;
  Section section{.heading = "Memory", .facts = {}, .table = {}};
  for (const auto& [label, count] : {std::pair{"weights", m.weights},
                                     {"gradients", m.gradients},
                                     {"optimizer", m.optimizer},
                                     {"activations", m.activations},
                                     {"logits", m.logits},
                                     {"KV cache", m.kv_cache},
                                     {"workspace", m.workspace},
                                     {"total", m.total}}) {
    if (count != Count{})
      section.facts.push_back({label, bytes_text(count), units::to_binary_text(count.to_double() * units::byte)});
  }
  return section;
}

std::string_view formula_text(work::Formula formula) {
  if (formula == work::Formula::palm) return "6N + 12·L·H·Q·T (PaLM)";
  return formula == work::Formula::sixn ? "6N" : "Megatron-LM's own count";
}

/// The estimates, and by cause where each differs from the exact count.
Section comparisons(const answers::Count& a) {
  const bool split = !parallel_text(a.workload.parallel).empty();
  Section section{.heading = split ? "Published estimates of the step, whole model on all devices"
                                   : "Published estimates of the step",
                  .facts = {},
                  .table = Table{}};
  section.table->columns = {{"", "formula", Align::left},
                            {"FLOPs", "step_flops"},
                            {"− exact", "minus_exact"},
                            {"because of", "cause", Align::left}};
  if (split && !a.comparisons.empty()) {  // the FLOPs above are one device's
    const Count exact = a.comparisons.front().exact_step;
    section.table->rows.push_back(
        {Cell{"exact, all devices"}, Cell{flops_text(exact), exact.to_double()}, Cell{""}, Cell{""}});
  }
  for (const work::Comparison& c : a.comparisons) {
    if (a.formula && c.formula != *a.formula) continue;
    const auto difference = [&](Count flops) {
      const double share = share_of(flops, c.exact_step);
      return Cell{fmt::format("{:+.2f} %", 100 * share), share};
    };
    section.table->rows.push_back({Cell{std::string{formula_text(c.formula)}},
                                   Cell{flops_text(c.formula_step), c.formula_step.to_double()},
                                   difference(c.formula_step - c.exact_step), Cell{"in all"}});
    for (const CauseText& cause : causes(c)) {
      if (std::abs(share_of(cause.flops, c.exact_step)) < kShownShare) continue;
      section.table->rows.push_back({Cell{""}, Cell{""}, difference(cause.flops), Cell{cause.what}});
    }
  }
  return section;
}

std::string shown(const std::optional<Count>& count, std::string (*text)(Count)) {
  return count ? text(*count) : std::string{};
}

Table cut(const answers::Count& a, CountPart part) {
  const std::vector<CountRow> rows = parts(a, part);
  const bool parameters = part != CountPart::operators;
  const bool work = part == CountPart::component || part == CountPart::operators;
  Table table;
  table.columns = {{"", "name", Align::left}};
  if (part != CountPart::component) table.columns.push_back({"", "detail", Align::left});
  if (parameters)
    table.columns.insert(table.columns.end(), {{"parameters", "parameters"}, {"share", "parameters_share"}});
  if (work)
    table.columns.insert(table.columns.end(), {{"FLOPs", "step_flops"},
                                               {"share", "step_flops_share"},
                                               {"bytes", "step_bytes"},
                                               {"share", "step_bytes_share"}});
  const auto share = [](Count value, Count whole) {
    return Cell{fmt::format("{:.1f} %", 100 * share_of(value, whole)), share_of(value, whole)};
  };
  for (const CountRow& row : rows) {
    std::vector<Cell> cells{Cell{row.name}};
    if (part != CountPart::component) cells.emplace_back(row.detail);
    if (parameters) {
      cells.emplace_back(shown(row.parameters, units::to_grouped_string), row.parameters->to_double());
      cells.push_back(share(*row.parameters, a.census.total));
    }
    if (work) {
      cells.emplace_back(shown(row.flops, flops_text), row.flops->to_double());
      cells.push_back(share(*row.flops, a.totals.step));
      cells.emplace_back(shown(row.bytes, bytes_text), row.bytes->to_double());
      cells.push_back(share(*row.bytes, a.totals.bytes.total));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace

Document to_document(const answers::Count& a, std::optional<CountPart> part) {
  Document document;
  document.title = fmt::format("{} ({} parameters): {}", a.architecture.name, short_count(a.census.total),
                               workload_text(a.workload));
  if (const std::string plan = parallel_text(a.workload.parallel); !plan.empty() && !a.infeasible)
    document.title += "; " + plan;
  if (a.infeasible) {
    document.sections = {parameters(a), infeasible(*a.infeasible)};
  } else if (part) {
    document.sections.push_back({.heading = "By " + std::string{name(*part)}, .facts = {}, .table = cut(a, *part)});
    if (!a.conventions.all_default()) document.sections.push_back(conventions(a));
  } else {
    document.sections = {parameters(a), flops(a)};
    if (!a.conventions.all_default()) document.sections.push_back(conventions(a));
    document.sections.push_back(bytes(a));
    document.sections.push_back(memory(a));
  }
  if (!part || a.infeasible) {
    if (!a.comparisons.empty()) document.sections.push_back(comparisons(a));
  }
  if (a.verification) document.sections.push_back(verification_section(*a.verification));
  document.notes = a.notes;
  if (a.totals.hardware_step < a.totals.step) {
    document.notes.push_back(
        "The kernel skips masked pairs that the mask convention counts, so that the hardware FLOPs are fewer.");
  }
  document.notes.push_back(
      fmt::format("Shapes: {}.  Counting convention {}: one multiply or one add is one FLOP (docs/conventions.md).",
                  a.architecture.source, kCountingConvention));
  return document;
}

}  // namespace flopwatt::report
