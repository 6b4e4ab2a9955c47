#include "flopwatt/report/monitor_frame.hpp"

#include <fmt/format.h>

#include <optional>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/io/json_writer.hpp"
#include "flopwatt/report/document.hpp"
#include "flopwatt/report/documents.hpp"
#include "flopwatt/report/json.hpp"
#include "flopwatt/report/json_parts.hpp"
#include "flopwatt/report/moment.hpp"
#include "flopwatt/report/phrases.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::report {
namespace {

using answers::MonitorDevice;
using telemetry::Reading;
using units::to_text;

std::string device_words(const MonitorDevice& device) {
  return device.info.name.empty() ? device.info.id() : fmt::format("{} {}", device.info.index, device.info.name);
}

/// A value, or why not; "–" for what nobody asked for.
template <class Quantity>
std::string reading_text(const Reading<Quantity>& reading, int digits = 4) {
  if (reading) return to_text(*reading, digits);
  return reading.reason() == telemetry::Absence::not_asked ? "–" : std::string{key(reading.reason())};
}

std::string share(const Reading<double>& reading) {
  if (reading) return fmt::format("{:.0f} %", 100 * *reading);
  return reading.reason() == telemetry::Absence::not_asked ? "–" : std::string{key(reading.reason())};
}

std::string energy_words(const MonitorDevice& device) {
  return device.covered > units::Duration{} ? to_text(device.energy) : "–";
}

Table table_of(const answers::MonitorFrame& frame) {
  Table table;
  table.columns = {{"device", "device", Align::left},
                   {"scope", "scope", Align::left},
                   {"power", "power"},
                   {"limit", "limit"},
                   {"busy", "utilization"},
                   {"energy", "energy"}};
  for (const MonitorDevice& device : frame.devices) {
    table.rows.push_back({Cell{device_words(device)}, Cell{std::string{key(device.info.scope)}},
                          Cell{reading_text(device.snapshot.power.value)}, Cell{reading_text(device.snapshot.limit)},
                          Cell{share(device.snapshot.utilization)}, Cell{energy_words(device)}});
  }
  return table;
}

template <class Quantity>
void write_reading(io::JsonWriter& json, std::string_view name, const Reading<Quantity>& reading, Quantity unit) {
  json.member(name, reading ? std::optional{reading->in(unit)} : std::nullopt);
}

void write_device(io::JsonWriter& json, const MonitorDevice& device) {
  const telemetry::Snapshot& now = device.snapshot;
  json.member("device", device.info.name.empty() ? device.info.id() : device.info.name);
  json.member("id", device.info.id()).member("source", device.info.source).member("index", device.info.index);
  json.member("scope", key(device.info.scope)).member("recorded", device.recorded);
  json.member("part_of", device.part_of.empty() ? std::nullopt : std::optional{device.part_of});
  write_reading(json, "power_watts", now.power.value, units::watt);
  json.member("power_kind", key(now.power.kind));
  write_reading(json, "module_power_watts", now.module_power.value, units::watt);
  write_reading(json, "limit_watts", now.limit, units::watt);
  json.member("utilization", now.utilization ? std::optional{*now.utilization} : std::nullopt);
  write_reading(json, "memory_used_bytes", now.memory_used, units::byte);
  write_reading(json, "compute_clock_hertz", now.compute_clock, units::hertz);
  json.member("temperature_celsius", now.temperature_celsius ? std::optional{*now.temperature_celsius} : std::nullopt);
  const bool told = device.covered > units::Duration{};
  json.member("energy_joules", told ? std::optional{device.energy.in(units::joule)} : std::nullopt);
  json.member("covered_seconds", device.covered.in(units::second)).member("method", key(device.method));
  json.key("absent").begin_object();
  const auto reason = [&](std::string_view name, const auto& reading) {
    if (!reading && reading.reason() != telemetry::Absence::not_asked) json.member(name, key(reading.reason()));
  };
  reason("power_watts", now.power.value);
  reason("limit_watts", now.limit);
  reason("utilization", now.utilization);
  json.end_object();
}

void write_sources(io::JsonWriter& json, const answers::MonitorSources& sources) {
  json.key("absent_sources").begin_array();
  for (const telemetry::SourceAbsence& absence : sources.absent) {
    json.begin_object().member("source", absence.source).member("reason", key(absence.reason));
    json.member("detail", absence.detail).member("remedy", absence.remedy).end_object();
  }
  json.end_array();
}

Section absent_section(const answers::MonitorSources& sources) {
  Section section{.heading = "Not to be had", .facts = {}, .table = {}};
  for (const telemetry::SourceAbsence& absence : sources.absent) {
    section.facts.push_back({absence.source, std::string{text(absence.reason)}, absence.detail});
  }
  return section;
}

}  // namespace

std::string monitor_table(const answers::MonitorFrame& frame) {
  Document document;
  document.title = fmt::format("{}, {} since the beginning", moment_text(frame.wall), to_text(frame.since_start, 3));
  document.sections.push_back({.heading = "", .facts = {}, .table = table_of(frame)});
  return to_text(document);
}

std::string monitor_lines(const answers::MonitorFrame& frame) {
  std::string lines;
  for (const MonitorDevice& device : frame.devices) {
    lines +=
        fmt::format("{} {}: power {}, limit {}, busy {}, energy {}{}\n", moment_text(frame.wall), device_words(device),
                    reading_text(device.snapshot.power.value), reading_text(device.snapshot.limit),
                    share(device.snapshot.utilization), energy_words(device), device.recorded ? " (recorded)" : "");
  }
  return lines;
}

std::string monitor_jsonl(const answers::MonitorFrame& frame) {
  std::string lines;
  for (const MonitorDevice& device : frame.devices) {
    io::JsonWriter json{io::JsonWriter::Style::compact};
    json.begin_object().member("time", moment_text(frame.wall));
    json.member("unix_time_seconds", static_cast<double>(frame.wall.count()) / 1e9);
    json.member("since_start_seconds", frame.since_start.in(units::second));
    write_device(json, device);
    json.end_object();
    lines += std::move(json).take();
    if (lines.back() != '\n') lines += '\n';
  }
  return lines;
}

std::string to_json(const answers::MonitorSummary& answer) {
  io::JsonWriter json;
  begin_answer(json, "monitor");
  json.end_object();
  json.member("frames", answer.frames).member("duration_seconds", answer.last.since_start.in(units::second));
  json.key("devices").begin_array();
  for (const MonitorDevice& device : answer.last.devices) {
    json.begin_object();
    write_device(json, device);
    const auto mean = device.covered > units::Duration{}
                          ? std::optional{(device.energy / device.covered).in(units::watt)}
                          : std::nullopt;
    json.member("mean_power_watts", mean);
    json.member("peak_power_watts",
                device.peak_power ? std::optional{device.peak_power->in(units::watt)} : std::nullopt);
    json.end_object();
  }
  json.end_array();
  write_sources(json, answer.sources);
  return finish_answer(std::move(json), {});
}

Document to_document(const answers::MonitorSummary& answer) {
  Document document;
  document.title = fmt::format("Energy of {}", to_text(answer.last.since_start, 3));
  Table table;
  table.columns = {{"device", "device", Align::left}, {"scope", "scope", Align::left}, {"energy", "energy_joules"},
                   {"mean", "mean_power_watts"},      {"peak", "peak_power_watts"},    {"read for", "covered_seconds"}};
  for (const MonitorDevice& device : answer.last.devices) {
    const bool told = device.covered > units::Duration{};
    table.rows.push_back({Cell{device_words(device)}, Cell{std::string{key(device.info.scope)}},
                          Cell{energy_words(device), device.energy.in(units::joule)},
                          Cell{told ? to_text(device.energy / device.covered) : "–"},
                          Cell{device.peak_power ? to_text(*device.peak_power) : "–"},
                          Cell{to_text(device.covered, 3)}});
  }
  document.sections.push_back({.heading = "", .facts = {}, .table = std::move(table)});
  bool part = false;
  bool recorded = false;
  for (const MonitorDevice& device : answer.last.devices) {
    part = part || !device.part_of.empty();
    recorded = recorded || device.recorded;
  }
  if (part) document.notes.emplace_back("Some devices are parts of others in the list: their energies do not add up.");
  if (recorded) document.notes.emplace_back("From a recording: no measurement of this machine.");
  return document;
}

std::string to_json(const answers::MonitorSources& answer) {
  io::JsonWriter json;
  begin_answer(json, "monitor");
  json.end_object().key("devices").begin_array();
  for (const telemetry::DeviceInfo& device : answer.devices) {
    json.begin_object().member("device", device.name.empty() ? device.id() : device.name).member("id", device.id());
    json.member("source", device.source).member("index", device.index).member("scope", key(device.scope));
    json.member("unreadable", device.unreadable ? std::optional{device.unreadable->message()} : std::nullopt);
    json.key("notes").begin_array();
    for (const std::string& note : device.notes) json.value(note);
    json.end_array().end_object();
  }
  json.end_array();
  write_sources(json, answer);
  return finish_answer(std::move(json), {});
}

Document to_document(const answers::MonitorSources& answer) {
  Document document;
  document.title = answer.devices.empty() ? "Nothing to read here" : base::counted(answer.devices.size(), "device");
  Section devices{.heading = "", .facts = {}, .table = {}};
  for (const telemetry::DeviceInfo& device : answer.devices) {
    devices.facts.push_back({fmt::format("{} {}", device.source, device.index),
                             device.name.empty() ? device.id() : device.name,
                             device.unreadable ? device.unreadable->message()
                                               : fmt::format("scope {}, {}", key(device.scope), device.id())});
  }
  if (!devices.facts.empty()) document.sections.push_back(std::move(devices));
  if (!answer.absent.empty()) document.sections.push_back(absent_section(answer));
  return document;
}

}  // namespace flopwatt::report
