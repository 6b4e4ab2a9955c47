#include "flopwatt/report/json.hpp"
#include "flopwatt/report/json_parts.hpp"

namespace flopwatt::report {
namespace {

using io::JsonWriter;

void write_finding(JsonWriter& json, const audit::Finding& finding) {
  json.begin_object().member("code", finding.code).member("severity", audit::name(finding.severity));
  json.member("device", finding.device).member("rows", finding.rows);
  write_strings(json, "places", finding.places);
  json.key("evidence").begin_object();
  for (const audit::Evidence& evidence : finding.evidence) {
    std::visit([&](const auto& value) { json.member(evidence.key, value); }, evidence.value);
  }
  json.end_object().member("text", finding.text).member("remedy", finding.remedy).end_object();
}

}  // namespace

std::string to_json(const answers::Audit& answer) {
  JsonWriter json;
  begin_answer(json, "audit");
  write_strings(json, "files", answer.files);
  json.end_object();
  json.key("findings").begin_array();
  for (const audit::Finding& finding : answer.result.findings) write_finding(json, finding);
  json.end_array().member("rows", answer.result.rows).key("devices").begin_array();
  for (const audit::DeviceSummary& device : answer.result.devices) {
    json.begin_object().member("device", device.device).member("rows", device.rows);
    json.member("idle_rows", device.idle_rows).member("counted", device.counted);
    write_strings(json, "notes", device.notes);
    json.end_object();
  }
  json.end_array();
  return finish_answer(std::move(json), answer.notes);
}

}  // namespace flopwatt::report
