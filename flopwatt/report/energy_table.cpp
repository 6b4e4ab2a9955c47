#include "flopwatt/report/energy_table.hpp"

#include <string>
#include <utility>

#include "flopwatt/units/text.hpp"

namespace flopwatt::report {
namespace {

using telemetry::Reading;
using telemetry::WindowEnergy;
using units::to_text;

Cell joules(const Reading<units::Energy>& reading) {
  return reading ? Cell{to_text(*reading), reading->in(units::joule)} : Cell{""};
}
Cell watts(const Reading<units::Power>& reading) {
  return reading ? Cell{to_text(*reading), reading->in(units::watt)} : Cell{""};
}

}  // namespace

Document energy_table(const answers::Energy& answer) {
  Table table{.caption = "Energy by device",
              .columns = {{"device", "device", Align::left},
                          {"id", "id", Align::left},
                          {"scope", "scope", Align::left},
                          {"method", "method", Align::left},
                          {"time", "duration_seconds"},
                          {"covered", "covered_seconds"},
                          {"energy", "energy_joules"},
                          {"±", "uncertainty_joules"},
                          {"mean power", "mean_power_watts"},
                          {"peak power", "peak_power_watts"},
                          {"idle power", "idle_power_watts"},
                          {"dynamic energy", "dynamic_energy_joules"},
                          {"absent", "absent", Align::left}},
              .rows = {},
              .basis = {}};
  for (const answers::EnergyDevice& device : answer.devices) {
    const WindowEnergy& window = device.window;
    const auto uncertainty =
        window.energy ? Reading<units::Energy>{window.uncertainty} : Reading<units::Energy>{window.energy.reason()};
    table.rows.push_back(
        {Cell{device.info.name}, Cell{device.info.id()}, Cell{std::string{key(window.scope)}},
         Cell{std::string{key(window.method)}}, Cell{to_text(window.duration), window.duration.in(units::second)},
         Cell{to_text(window.covered), window.covered.in(units::second)}, joules(window.energy), joules(uncertainty),
         watts(window.mean_power), watts(window.peak_power), watts(window.idle_power), joules(window.dynamic_energy),
         Cell{window.energy ? std::string{} : std::string{key(window.energy.reason())}}});
  }
  Document document;
  document.sections.push_back({.heading = "", .facts = {}, .table = std::move(table)});
  return document;
}

}  // namespace flopwatt::report
