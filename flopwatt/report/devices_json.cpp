#include "flopwatt/report/json.hpp"
#include "flopwatt/report/json_parts.hpp"

namespace flopwatt::report {
namespace {

using io::JsonWriter;

/// `KEY: {UNIT_KEY: …, range, sources, confidence, note}|null`
template <class Quantity>
void write_figure(JsonWriter& json, std::string_view key, std::string_view unit_key,
                  const std::optional<device::Figure<Quantity>>& figure, Quantity unit) {
  json.key(key);
  if (!figure) {
    json.null();
    return;
  }
  json.begin_object().member(unit_key, figure->value.in(unit));
  if (figure->range) {
    json.key("published_range").begin_row().value(figure->range->low.in(unit)).value(figure->range->high.in(unit));
    json.end_array();
  }
  json.member("source", device::to_text(figure->sources)).member("confidence", device::name(figure->confidence));
  if (!figure->note.empty()) json.member("note", figure->note);
  json.end_object();
}

void write_peaks(JsonWriter& json, const device::Device& d) {
  json.key("peaks").begin_array();
  for (const device::Peak& peak : d.peaks) {
    json.begin_object().member("dtype", units::name(peak.precision)).member("path", device::name(peak.path));
    json.member("accumulate", device::name(peak.accumulate));
    json.member("flops_per_second", peak.rate.in(units::flop_per_second));
    if (peak.range) {
      json.key("published_range").begin_row().value(peak.range->low.in(units::flop_per_second));
      json.value(peak.range->high.in(units::flop_per_second)).end_array();
    }
    json.member("origin", device::name(peak.origin)).member("source", device::to_text(peak.sources));
    json.member("confidence", device::name(peak.confidence));
    if (!peak.note.empty()) json.member("note", peak.note);
    json.end_object();
  }
  json.end_array();
}

void write_units(JsonWriter& json, const device::Device& d) {
  json.key("units");
  if (!d.compute_units) {
    json.null();
    return;
  }
  json.begin_object().member("name", d.compute_units->name).member("count", d.compute_units->count);
  if (d.compute_units->clock) {
    json.member("clock_hertz", d.compute_units->clock->in(units::hertz));
  } else {
    json.key("clock_hertz").null();
  }
  json.member("flops_per_clock", d.compute_units->flops_per_clock)
      .member("clock_inferred", d.compute_units->clock_inferred);
  json.member("source", device::to_text(d.compute_units->sources)).end_object();
}

void write_device(JsonWriter& json, const device::Device& d) {
  json.begin_object().member("device", d.name).member("family", d.family).member("vendor", d.vendor);
  json.member("architecture", d.architecture).member("chip", d.chip).member("scope", device::name(d.scope));
  json.member("compute_capability", d.compute_capability);
  write_strings(json, "aliases", d.aliases);
  write_strings(json, "driver_names", d.driver_names);
  write_peaks(json, d);
  write_figure(json, "memory", "bytes", d.memory, units::byte);
  write_figure(json, "memory_bandwidth", "bytes_per_second", d.memory_bandwidth, units::byte_per_second);
  write_figure(json, "board_limit", "watts", d.board_limit, units::watt);
  write_figure(json, "idle", "watts", d.idle, units::watt);
  write_units(json, d);
  json.key("interconnects").begin_array();
  for (const device::Interconnect& link : d.interconnects) {
    json.begin_object().member("kind", device::name(link.kind));
    json.member("bytes_per_second_per_direction", link.per_direction.in(units::byte_per_second));
    json.member("source", device::to_text(link.sources)).end_object();
  }
  json.end_array().key("unsupported").begin_array();
  for (const device::Unsupported& unsupported : d.unsupported) {
    json.begin_object().member("dtype", units::name(unsupported.precision)).member("reason", unsupported.reason);
    json.end_object();
  }
  json.end_array();
  write_strings(json, "notes", d.notes);
  json.end_object();
}

/// `measured{device_name, place, …, ceilings[{dtype, flops_per_second, …, datasheet{…}|null, of_datasheet}]}`
void write_measured(JsonWriter& json, const answers::MeasuredDevice& here) {
  json.key("measured").begin_object().member("device_name", here.name).member("place", here.place);
  json.member("library", here.library).member("threads", here.threads).key("ceilings").begin_array();
  for (const answers::MeasuredCeiling& row : here.ceilings) {
    json.begin_object().member("dtype", units::name(row.dtype));
    if (row.flops && row.bandwidth) {
      json.member("flops_per_second", row.flops->in(units::flop_per_second)).member("matrix_size", row.matrix_size);
      json.member("bytes_per_second", row.bandwidth->in(units::byte_per_second)).member("copy_bytes", row.copy_bytes);
    } else {
      json.key("flops_per_second").null().key("bytes_per_second").null().member("reason", row.reason);
    }
    json.key("datasheet");
    if (!row.datasheet) {
      json.null().key("of_datasheet").null();
    } else {
      json.begin_object().member("flops_per_second", row.datasheet->rate.in(units::flop_per_second));
      json.member("path", device::name(row.datasheet->path));
      json.member("accumulate", device::name(row.datasheet->accumulate));
      json.member("source", device::to_text(row.datasheet->sources)).end_object();
      json.key("of_datasheet");
      if (row.flops) {
        json.value(*row.flops / row.datasheet->rate);
      } else {
        json.null();
      }
    }
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace

std::string to_json(const answers::Devices& answer) {
  JsonWriter json;
  begin_answer(json, "devices");
  json.member("asked", answer.asked);
  if (answer.measured) json.member("measure", true).member("place", answer.measured->place);
  json.end_object();
  if (answer.measured) write_measured(json, *answer.measured);
  json.key("devices").begin_array();
  for (const device::Device& device : answer.devices) write_device(json, device);
  json.end_array();
  return finish_answer(std::move(json), answer.notes);
}

}  // namespace flopwatt::report
