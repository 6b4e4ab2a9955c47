#include <fmt/core.h>

#include <cmath>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/report/count_parts.hpp"
#include "flopwatt/report/documents.hpp"
#include "flopwatt/report/phrases.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::report {
namespace {

using units::to_text;

constexpr double kShownDifference = 5e-5;  // what two decimals of a percentage show

Section ratios(const answers::Mfu& a) {
  const metrics::Utilization& u = a.utilization;
  Section section;
  section.facts = {
      {"MFU", percent(u.mfu), fmt::format("{} of model FLOPs", to_text(u.model_flops))},
      {"HFU", percent(u.hfu), fmt::format("{} executed", to_text(u.hardware_flops))},
  };
  if (a.default_conventions_mfu) {
    section.facts.insert(section.facts.begin() + 1,
                         {"  by default", percent(*a.default_conventions_mfu),
                          "the same run, counted by the default conventions (docs/conventions.md)"});
  }
  if (u.mbu) {
    section.facts.push_back({"MBU", percent(*u.mbu),
                             fmt::format("{} ('{}' definition)", to_text(u.bytes), metrics::name(a.mbu_definition))});
  }
  section.facts.push_back(peak_fact(a.peak));
  if (a.reported) {
    section.facts.push_back({"reported MFU", percent(a.reported->mfu),
                             fmt::format("implies a peak of {}", to_text(a.reported->implied.rate))});
  }
  section.facts.push_back(bandwidth_fact(a.device));
  return section;
}

Section measured(const answers::Mfu& a) {
  const bool generation = a.workload.phase == work::Phase::generate;
  Section section{.heading = "Measured", .facts = {}, .table = {}};
  section.facts = {{"rate", to_text(a.job_tokens), a.devices > 1 ? fmt::format("of {} devices", a.devices) : ""},
                   {generation ? "time" : "step time", to_text(a.elapsed), ""},
                   {"model FLOPs", flops_text(a.job.step),
                    fmt::format("{} {}; {} per token", units::to_grouped_string(a.job.tokens),
                                a.job.tokens == units::Count{1} ? "token" : "tokens",
                                to_text(a.job.step.to_double() / a.job.tokens.to_double() * units::flop))}};
  return section;
}

Section other_counts(const answers::Mfu& a) {
  Section section{.heading = "What other counts of the same run would say", .facts = {}, .table = Table{}};
  section.table->columns = {{"counted as", "formula", Align::left},
                            {"MFU", "mfu"},
                            {"− exact", "minus_exact"},
                            {"because of", "cause", Align::left}};
  for (const answers::OtherCount& other : a.other_counts) {
    const double difference = other.mfu / a.utilization.mfu - 1;
    section.table->rows.push_back({Cell{other.comparison.formula == work::Formula::palm ? "6N + 12·L·H·Q·T" : "6N"},
                                   Cell{percent(other.mfu), other.mfu},
                                   Cell{fmt::format("{:+.2f} %", 100 * difference), difference}, Cell{"in all"}});
    for (const CauseText& cause : causes(other.comparison)) {
      const double share = cause.flops.to_double() / other.comparison.exact_step.to_double();
      if (std::abs(share) < kShownDifference) continue;
      section.table->rows.push_back(
          {Cell{""}, Cell{""}, Cell{fmt::format("{:+.2f} %", 100 * share), share}, Cell{cause.what}});
    }
  }
  return section;
}

}  // namespace

Document to_document(const answers::Mfu& a) {
  Document document;
  document.title =
      fmt::format("{} on {}{}: {}", a.architecture.name, a.devices > 1 ? fmt::format("{} × ", a.devices) : "",
                  a.device.name, workload_text(a.workload));
  document.sections = {ratios(a), measured(a)};
  if (!a.other_counts.empty()) document.sections.push_back(other_counts(a));
  add_flags(document, a.flags);
  document.notes = a.notes;
  document.notes.push_back(
      fmt::format("Counting convention {}, {} attention.", kCountingConvention, work::name(a.workload.mask)));
  return document;
}

}  // namespace flopwatt::report
