#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/report/documents.hpp"
#include "flopwatt/report/moment.hpp"
#include "flopwatt/report/phrases.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::report {
namespace {

using telemetry::Reading;
using telemetry::WindowEnergy;
using units::to_text;

constexpr std::size_t kGapsShown = 5;

template <class Unit>
std::string shown(const Reading<Unit>& reading) {
  return reading ? to_text(*reading) : std::string{text(reading.reason())};
}

std::string idle_words(const answers::Energy& answer, const WindowEnergy& window) {
  switch (answer.idle_source) {
    case answers::IdleSource::start:
      return fmt::format("mean of the first {} of the log", to_text(*answer.idle_span));
    case answers::IdleSource::end:
      return fmt::format("mean of the last {} of the log", to_text(*answer.idle_span));
    case answers::IdleSource::given:
      return "as given";
    case answers::IdleSource::lowest_tenth:
      break;
  }
  if (window.idle_lowest == 0) {
    return fmt::format("{} power readings in the log, and the lowest tenth takes {}", window.idle_readings,
                       telemetry::kFewestForIdle);
  }
  return fmt::format("lowest tenth of the log's power readings: {} of {}", window.idle_lowest, window.idle_readings);
}

std::string method_words(const WindowEnergy& window) {
  const std::string kind =
      window.power_kind == telemetry::PowerKind::unknown ? "" : fmt::format(" ({})", key(window.power_kind));
  switch (window.method) {
    case telemetry::EnergyMethod::counter:
      return "difference of the energy counter";
    case telemetry::EnergyMethod::power_integral:
      return fmt::format("integral of {} power readings{}", window.samples, kind);
    case telemetry::EnergyMethod::mixed:
      return fmt::format("energy counter, power integral in its gaps{}", kind);
    case telemetry::EnergyMethod::none:
      break;
  }
  return "";
}

std::string when(const answers::EnergyDevice& device, telemetry::SteadyTime time) {
  if (is_dated(device.time_base)) return moment_text(time);
  return to_text(telemetry::to_duration(time - device.log_start));
}

Section device_section(const answers::Energy& answer, const answers::EnergyDevice& device) {
  const WindowEnergy& window = device.window;
  std::string heading =
      device.info.name.empty() ? device.info.id() : fmt::format("{} ({})", device.info.name, device.info.id());
  if (window.scope != telemetry::Scope::device) heading += fmt::format(", scope {}", key(window.scope));
  Section section{.heading = heading, .facts = {}, .table = {}};
  section.facts.push_back({"energy",
                           window.energy
                               ? fmt::format("{} ± {}", to_text(*window.energy), to_text(window.uncertainty, 2))
                               : shown(window.energy),
                           method_words(window)});
  section.facts.push_back({"window", to_text(window.duration),
                           fmt::format("from {} to {}", when(device, window.from), when(device, window.to))});
  section.facts.push_back({"mean power", shown(window.mean_power), ""});
  section.facts.push_back({"peak power", shown(window.peak_power), ""});
  section.facts.push_back({"idle power", shown(window.idle_power), idle_words(answer, window)});
  section.facts.push_back({"dynamic energy", shown(window.dynamic_energy), "energy − idle power · time"});
  for (std::size_t i = 0; i < std::min(kGapsShown, window.gaps.size()); ++i) {
    const telemetry::Gap& gap = window.gaps[i];
    section.facts.push_back({i == 0 ? fmt::format("gaps: {}", window.gaps.size()) : "",
                             to_text(telemetry::to_duration(gap.to - gap.from)),
                             fmt::format("from {}: {}{}", when(device, gap.from), text(gap.reason),
                                         gap.filled ? "; bridged" : "; no energy counted")});
  }
  return section;
}

Section total_section(const answers::Energy& answer) {
  Section section{.heading = "Sum by scope", .facts = {}, .table = {}};
  for (const answers::EnergyTotal& total : answer.totals) {
    const bool any =
        std::any_of(answer.devices.begin(), answer.devices.end(), [&](const answers::EnergyDevice& device) {
          return device.counted && device.window.scope == total.scope && device.window.energy;
        });
    if (!any) {
      section.facts.push_back(
          {fmt::format("{}", key(total.scope)), "none", fmt::format("no energy of {}", total.devices)});
      continue;
    }
    section.facts.push_back(
        {fmt::format("{}", key(total.scope)),
         fmt::format("{} ± {}", to_text(total.energy), to_text(total.uncertainty, 2)),
         fmt::format("{} of them{}", total.devices, total.complete ? "" : "; a lower bound: see gaps")});
  }
  return section;
}

Section steps_section(const answers::EnergySteps& steps) {
  Section section{.heading = fmt::format("Steps of {}", steps.file), .facts = {}, .table = {}};
  section.facts.push_back({"steps", fmt::format("{}", steps.count),
                           steps.located ? "the window is theirs" : "their log does not say when they were"});
  if (steps.energy) {
    section.facts.push_back({"energy", fmt::format("{} ± {}", to_text(*steps.energy), to_text(steps.uncertainty, 2)),
                             fmt::format("{} of scope {}{}", steps.devices, key(steps.scope),
                                         steps.complete ? "" : "; a lower bound: see gaps")});
  }
  if (steps.energy && steps.tokens && *steps.tokens > units::TokenCount{}) {
    section.facts.push_back({"per token",
                             fmt::format("{:.4g} J", (*steps.energy / *steps.tokens).in(units::joule / units::token)),
                             fmt::format("{:.0f} tokens", steps.tokens->in(units::token))});
  }
  if (steps.energy && steps.flops && *steps.energy > units::Energy{}) {
    section.facts.push_back({"per joule", to_text(*steps.flops / *steps.energy * units::joule),
                             fmt::format("{} ({})", to_text(*steps.flops), steps.flops_origin)});
  }
  if (steps.mfu)
    section.facts.push_back(
        {"MFU", percent(*steps.mfu), fmt::format("of {} ({})", to_text(*steps.peak), steps.peak_source)});
  return section;
}

}  // namespace

Document to_document(const answers::Energy& answer) {
  Document document;
  document.title = answer.logs.size() == 1
                       ? fmt::format("Energy of {} ({})", answer.logs[0].file, key(answer.logs[0].format))
                       : "Energy of " + base::counted(answer.logs.size(), "log");
  for (const answers::EnergyDevice& device : answer.devices)
    document.sections.push_back(device_section(answer, device));
  if (answer.devices.size() > 1) document.sections.push_back(total_section(answer));
  if (answer.steps) document.sections.push_back(steps_section(*answer.steps));
  add_flags(document, answer.flags);
  document.notes = answer.notes;
  return document;
}

}  // namespace flopwatt::report
