#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/report/documents.hpp"
#include "flopwatt/report/phrases.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::report {
namespace {

using sweep::Configuration;
using sweep::Summary;
using units::second;
using units::to_text;

/// "8 × 3 of 24 configurations" has no use; lists do: "float32, bfloat16".
template <class T, class Name>
std::string list(const std::vector<T>& values, const Name& name_of) {
  std::string out;
  for (const T& value : values) out += (out.empty() ? "" : ", ") + std::string{name_of(value)};
  return out;
}

std::string number(std::int64_t value) { return std::to_string(value); }

/// "3 h 12 min", "12 min", "40 s": an estimate has no more digits than that.
std::string span_text(units::Duration time) {
  const auto seconds = static_cast<std::int64_t>(time.in(second) + 0.5);
  if (seconds < 90) return fmt::format("{} s", seconds);
  const std::int64_t minutes = (seconds + 30) / 60;
  if (minutes < 90) return fmt::format("{} min", minutes);
  if (minutes < 48 * 60) return fmt::format("{} h {} min", minutes / 60, minutes % 60);
  return fmt::format("{:.1f} days", static_cast<double>(minutes) / 1440);
}

std::string power_text(const sweep::PowerPlan& power) {
  switch (power.source) {
    case sweep::PowerPlan::Source::synthetic:
      return fmt::format("synthetic: {} + {:g} J/FLOP + {:g} J/byte, ± {:g} %", to_text(power.base),
                         power.per_flop.in(units::joule / units::flop), power.per_byte.in(units::joule / units::byte),
                         100 * power.noise);
    case sweep::PowerPlan::Source::recorded:
      return "recorded: " + power.file;
    case sweep::PowerPlan::Source::named:
      return power.name;
    case sweep::PowerPlan::Source::automatic:
    case sweep::PowerPlan::Source::none:
      break;
  }
  return std::string{sweep::name(power.source)};
}

Section axes(const answers::SweepPlan& a) {
  const sweep::Plan& p = a.plan;
  Section section{.heading = "Configurations", .facts = {}, .table = {}};
  auto& facts = section.facts;
  facts.push_back({"models", list(p.models, [](const std::string& word) { return word; }), ""});
  facts.push_back({"dtypes", list(p.dtypes, [](units::Precision dtype) { return units::name(dtype); }), ""});
  facts.push_back({"attention", list(p.attention, [](workload::Attention v) { return workload::name(v); }), ""});
  facts.push_back({"batch", list(p.batches, number), ""});
  facts.push_back(
      {"sequence", list(p.sequences, number) + (p.padding == workload::Padding::none ? ", unpadded" : ""), ""});
  facts.push_back({"recompute", list(p.recomputes, [](workload::Recompute v) { return workload::name(v); }), ""});
  facts.push_back({"accumulation", list(p.accumulations, number), ""});
  facts.push_back({"device", workload::to_string(p.device), ""});
  facts.push_back({"power", power_text(p.power), ""});
  facts.push_back({"peak", std::string{sweep::name(p.peak.source)}, ""});
  return section;
}

Section runs(const answers::SweepPlan& a) {
  const sweep::Protocol& p = a.plan.protocol;
  Section section{.heading = "Runs", .facts = {}, .table = {}};
  auto& facts = section.facts;
  facts.push_back({"to measure", fmt::format("{} of {}", a.to_run, a.to_run + a.finished + a.failed),
                   base::counted(p.repeats, "repeat") + " of each configuration"});
  facts.push_back({"done before", fmt::format("{} finished, {} failed", a.finished, a.failed), a.store});
  facts.push_back({"samples", fmt::format("{} to {} of {:g} s", p.min_samples, p.max_samples, p.sample_time.in(second)),
                   fmt::format("until ± {:g} % of MFU and utilisation", 100 * p.half_width)});
  facts.push_back({"time", fmt::format("{} to {}", span_text(a.estimate.least), span_text(a.estimate.most)),
                   "starts, warm-ups and steps longer than a sample come on top"});
  return section;
}

/// What is the same in all rows is said once, above the table.
Section setting(const answers::SweepReport& a) {
  Section section{.heading = "", .facts = {}, .table = {}};
  std::map<std::string, std::set<std::string>> facts;
  for (const Summary& s : a.summaries) {
    if (s.samples == 0) continue;
    facts["device"].insert(s.device_name);
    facts["peak"].insert(fmt::format("{} for {} ({})", to_text(s.peak_flops_per_second * units::flop_per_second),
                                     units::name(s.configuration.dtype), s.peak_source));
    if (s.bandwidth_bytes_per_second) {
      facts["bandwidth"].insert(to_text(*s.bandwidth_bytes_per_second * units::byte_per_second));
    }
    std::string power = s.power_source;
    if (!s.power_kind.empty()) power += ", " + s.power_kind;
    if (!s.power_scope.empty() && s.power_scope != "none") power += ", scope " + s.power_scope;
    facts["power"].insert(power);
  }
  for (const auto& [label, values] : facts) {
    std::string first = label;
    for (const std::string& value : values) {
      section.facts.push_back({first, value, ""});
      first.clear();
    }
  }
  return section;
}

Cell maybe(const std::optional<double>& value, const std::string& text) {
  return value ? Cell{text, *value} : Cell{"–"};
}

Section measured(const answers::SweepReport& a) {
  Section section{.heading = "Measured", .facts = {}, .table = Table{}};
  Table& table = *section.table;
  table.columns = {{"configuration", "configuration", Align::left},
                   {"MFU %", "mfu"},
                   {"HFU %", "hfu"},
                   {"MBU %", "mbu"},
                   {"tokens/s", "tokens_per_second"},
                   {"memory", "peak_memory_bytes"},
                   {"W", "power_watts"},
                   {"J/token", "energy_per_token_joules"},
                   {"n", "samples"},
                   {"± %", "half_width"}};
  const auto percent_cell = [](const std::optional<double>& fraction, int digits = 3) {
    return maybe(fraction, fmt::format("{:.{}g}", 100 * fraction.value_or(0), digits));
  };
  const auto ratio_cell = [&](const std::optional<double>& ratio) {
    if (ratio.value_or(0) <= 1) return percent_cell(ratio);
    return Cell{fmt::format("> peak ({:.3g})", 100 * *ratio)};  // evidence of a fault, no result
  };
  for (const Summary& s : a.summaries) {
    if (s.samples == 0) continue;
    Cell half_width = percent_cell(s.half_width, 2);
    if (s.capped > 0) half_width.text += fmt::format(" ({} capped)", s.capped);
    std::string label = s.configuration.text();
    if (s.tensor_sequence != s.configuration.sequence) label += fmt::format(" ({} tokens)", s.tensor_sequence);
    table.rows.push_back({Cell{label}, ratio_cell(s.mfu), ratio_cell(s.hfu), percent_cell(s.mbu),
                          maybe(s.tokens_per_second, fmt::format("{:.4g}", s.tokens_per_second.value_or(0))),
                          s.peak_memory_bytes
                              ? Cell{to_text(static_cast<double>(*s.peak_memory_bytes) * units::byte, 3),
                                     static_cast<double>(*s.peak_memory_bytes)}
                              : Cell{"–"},
                          maybe(s.power_watts, fmt::format("{:.4g}", s.power_watts.value_or(0))),
                          maybe(s.joules_per_token, fmt::format("{:.3g}", s.joules_per_token.value_or(0))),
                          Cell{number(s.samples), static_cast<double>(s.samples)}, std::move(half_width)});
  }
  return section;
}

Section unmeasured(const answers::SweepReport& a) {
  Section section{.heading = "Not measured", .facts = {}, .table = Table{}};
  Table& table = *section.table;
  table.columns = {{"configuration", "configuration", Align::left},
                   {"runs", "runs", Align::left},
                   {"detail", "detail", Align::left}};
  for (const Summary& s : a.summaries) {
    if (s.failed + s.interrupted == 0 && s.finished > 0) continue;
    std::string runs;
    for (const auto& [reason, count] : s.reasons) {
      runs += (runs.empty() ? "" : ", ") + fmt::format("{} {}", count, reason);
    }
    table.rows.push_back(
        {Cell{s.configuration.text()}, Cell{runs.empty() ? "not run yet" : runs}, Cell{base::excerpt(s.detail, 120)}});
  }
  return section;
}

}  // namespace

Document to_document(const answers::SweepPlan& a) {
  Document document;
  document.title = "Sweep of " + base::counted(a.configurations.size(), "configuration");
  if (a.shard.count > 1) {
    document.title += fmt::format(", shard {}/{} of {}", a.shard.index, a.shard.count, a.all_configurations);
  }
  document.sections = {axes(a), runs(a)};
  document.notes = a.notes;
  return document;
}

Document to_document(const answers::SweepReport& a) {
  Document document;
  document.title = fmt::format("Sweep {}: {}", a.store, base::counted(a.summaries.size(), "configuration"));
  if (Section s = setting(a); !s.facts.empty()) document.sections.push_back(std::move(s));
  if (Section s = measured(a); !s.table->rows.empty()) document.sections.push_back(std::move(s));
  if (Section s = unmeasured(a); !s.table->rows.empty()) document.sections.push_back(std::move(s));
  add_flags(document, a.flags);
  document.notes = a.notes;
  return document;
}

Document to_document(const answers::SweepRun& a) {
  Document document = to_document(a.report);
  document.notes.insert(document.notes.begin(), a.plan.notes.begin(), a.plan.notes.end());
  document.title += fmt::format("; this call: {} finished, {} failed{}", base::counted(a.counts.finished, "run"),
                                a.counts.failed, a.left > 0 ? fmt::format(", {} left", a.left) : "");
  return document;
}

Document to_document(const answers::SweepMerge& a) {
  Document document;
  document.title = fmt::format("{}: {}, {} finished, {} failed, {} interrupted, {}", a.store,
                               base::counted(a.configurations, "configuration"), base::counted(a.finished, "run"),
                               a.failed, a.interrupted, base::counted(a.samples, "sample"));
  Section section{.heading = "Merged", .facts = {}, .table = Table{}};
  section.table->columns = {{"store", "store", Align::left}, {"runs", "runs"},
                            {"samples", "samples"},          {"known", "known"},
                            {"renewed", "renewed"},          {"left out", "left_out"}};
  for (const answers::SweepMerge::Input& input : a.inputs) {
    const auto cell = [](std::int64_t value) { return Cell{number(value), static_cast<double>(value)}; };
    const sweep::Merged& m = input.merged;
    section.table->rows.push_back(
        {Cell{input.store}, cell(m.runs), cell(m.samples), cell(m.known), cell(m.renewed), cell(m.repeated)});
  }
  document.sections.push_back(std::move(section));
  document.notes = a.notes;
  return document;
}

}  // namespace flopwatt::report
