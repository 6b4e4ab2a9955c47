#include <fmt/core.h>

#include "flopwatt/report/count_parts.hpp"
#include "flopwatt/report/documents.hpp"
#include "flopwatt/report/phrases.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::report {
namespace {

using units::to_text;

std::string pace_text(const train::Pace& pace) {
  if (std::holds_alternative<train::MeasuredRate>(pace)) return "from the stated token rate";
  if (const auto* achieved = std::get_if<train::AchievedMfu>(&pace))
    return fmt::format("from the stated MFU of {}", percent(achieved->mfu));
  return fmt::format("roofline at an ASSUMED efficiency of {}", percent(std::get<train::Roofline>(pace).efficiency));
}

Section step(const answers::Train& a) {
  Section section{.heading = "Step", .facts = {}, .table = {}};
  section.facts = {
      {"step time", to_text(a.step_time.total), pace_text(a.pace)},
      {"rate", to_text(a.utilization.tokens), fmt::format("{} tokens a step", units::to_grouped_string(a.step.tokens))},
      {"MFU", percent(a.utilization.mfu), fmt::format("{} of model FLOPs a step", flops_text(a.step.step))},
      {"HFU", percent(a.utilization.hfu), ""},
      peak_fact(a.peak)};
  if (a.utilization.mbu)
    section.facts.insert(section.facts.begin() + 4, {"MBU", percent(*a.utilization.mbu),
                                                     fmt::format("{} a step", bytes_text(a.step.bytes.total))});
  section.facts.push_back(bandwidth_fact(a.device));
  return section;
}

Section memory(const answers::Train& a) {
  const work::Memory& m = a.memory;
  Section section{.heading = "Memory", .facts = {}, .table = {}};
  section.facts = {
      {"needed", units::to_binary_text(m.total.to_double() * units::byte),
       fmt::format("weights {}, gradients {}, optimizer {}, activations {}, logits {}", bytes_text(m.weights),
                   bytes_text(m.gradients), bytes_text(m.optimizer), bytes_text(m.activations), bytes_text(m.logits))}};
  if (a.device.memory)
    section.facts.push_back({"installed", units::to_binary_text(a.device.memory->value),
                             *a.fits ? "the run fits" : "the run does NOT fit"});
  return section;
}

/// "12.3 kWh (11.0 to 13.6)"
std::string spread(const train::Spread<double>& s, std::string_view unit) {
  return fmt::format("{:.4g}{} ({:.4g} to {:.4g})", s.mean, unit, s.lo, s.hi);
}

Section energy(const answers::Train& a) {
  const train::Run& r = a.run;
  Section section{.heading = "Power and energy", .facts = power_facts(a.power, a.calibration), .table = {}};
  section.facts.push_back({"time", to_text(r.time), fmt::format("{:.6g} steps, {:.6g} tokens", r.steps, r.tokens)});
  section.facts.push_back(
      {"energy", to_text(r.device_energy.mean),
       spread({r.device_energy.mean.in(units::kilowatt_hour), r.device_energy.lo.in(units::kilowatt_hour),
               r.device_energy.hi.in(units::kilowatt_hour)},
              " kWh") +
           " at the device"});
  if (a.tariff.pue != 1)
    section.facts.push_back(
        {"facility energy", to_text(r.facility_energy.mean),
         fmt::format("{:.4g} kWh at PUE {:g}", r.facility_energy.mean.in(units::kilowatt_hour), a.tariff.pue)});
  if (r.carbon_grams)
    section.facts.push_back({"carbon", spread(*r.carbon_grams, " g CO2e"),
                             fmt::format("at {:g} g/kWh, PUE {:g}", *a.tariff.carbon_g_per_kwh, a.tariff.pue)});
  if (r.price)
    section.facts.push_back({"energy cost", spread(*r.price, ""),
                             fmt::format("at {:g} a kWh, PUE {:g}", *a.tariff.price_per_kwh, a.tariff.pue)});
  return section;
}

}  // namespace

Document to_document(const answers::Train& a) {
  Document document;
  document.title = fmt::format("{} on {}: {}", a.architecture.name, a.device.name, workload_text(a.workload));
  if (a.micro_batches > 1) document.title += fmt::format(", {} micro-batches a step", a.micro_batches);
  document.sections = {energy(a), step(a), memory(a)};
  add_flags(document, a.flags);
  document.notes = a.notes;
  document.notes.push_back(
      fmt::format("Counting convention {}, {} attention.", kCountingConvention, work::name(a.workload.mask)));
  return document;
}

}  // namespace flopwatt::report
