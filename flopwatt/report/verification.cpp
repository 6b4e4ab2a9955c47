#include "flopwatt/report/verification.hpp"

#include <fmt/format.h>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/report/json_parts.hpp"

namespace flopwatt::report {
namespace {

std::string signed_text(units::Count count) {
  return (count > units::Count{0} ? "+" : "") + units::to_grouped_string(count);
}

void member_or_null(io::JsonWriter& json, std::string_view key, const std::optional<std::uint64_t>& value) {
  if (value) {
    member(json, key, units::Count{*value});
  } else {
    json.key(key).null();
  }
}

}  // namespace

Section verification_section(const model::Verification& v) {
  Section section{.heading = "Checkpoint", .facts = {}, .table = {}};
  const auto add = [&](std::string label, std::string value, std::string source = {}) {
    section.facts.push_back({std::move(label), std::move(value), std::move(source)});
  };
  add("result", model::conclusion(v));
  add("source", v.source);
  add("tensors", fmt::format("{} of {}", v.tensors_equal, v.tensors_census),
      v.tensors_by_name > 0 ? fmt::format("{} by name only, {} listed", v.tensors_by_name, v.tensors_listed)
                            : fmt::format("name and shape equal, {} listed", v.tensors_listed));
  add("census", units::to_grouped_string(v.census_bytes) + " bytes",
      fmt::format("{} parameters in {}{}", units::to_grouped_string(v.parameters), model::name(v.type),
                  v.type_assumed ? ", assumed" : ""));
  if (v.payload_bytes) {
    add("payload", units::to_grouped_string(*v.payload_bytes) + " bytes", "all tensors of the files");
    add("header", units::to_grouped_string(*v.header_bytes) + " bytes", "before the tensors");
  } else if (v.index_total_bytes) {
    add("index total", units::to_grouped_string(*v.index_total_bytes) + " bytes", "metadata.total_size");
  }
  for (const model::Difference& d : v.differences) {
    std::string value = d.bytes == units::Count{0} ? "" : signed_text(d.bytes) + " bytes";
    if (d.tensors > 0) {
      value += (value.empty() ? "" : ", ") + base::counted(d.tensors, "tensor");
    }
    std::string source = d.cause;
    if (!d.tensor.empty()) source += fmt::format(" ({}{})", d.tensor, d.tensors > 1 ? ", …" : "");
    add((d.contradicts ? "! " : "  ") + std::string{model::name(d.kind)}, std::move(value), std::move(source));
  }
  return section;
}

void write_verification(io::JsonWriter& json, const model::Verification& v) {
  json.key("verify").begin_object();
  json.member("source", v.source).member("verdict", model::name(v.verdict)).member("conclusion", model::conclusion(v));
  member(json, "tensors_census", units::Count{v.tensors_census});
  member(json, "tensors_listed", units::Count{v.tensors_listed});
  member(json, "tensors_equal", units::Count{v.tensors_equal});
  member(json, "tensors_by_name_only", units::Count{v.tensors_by_name});
  member(json, "parameters", v.parameters);
  json.member("stored_type", model::name(v.type)).member("stored_type_assumed", v.type_assumed);
  member(json, "census_bytes", v.census_bytes);
  member_or_null(json, "payload_bytes", v.payload_bytes);
  member_or_null(json, "header_bytes", v.header_bytes);
  member_or_null(json, "index_total_bytes", v.index_total_bytes);
  member(json, "unexplained_bytes", v.unexplained_bytes());
  json.key("differences").begin_array();
  for (const model::Difference& d : v.differences) {
    json.begin_object().member("kind", model::name(d.kind)).member("tensor", d.tensor);
    member(json, "tensors", units::Count{d.tensors});
    member(json, "elements", d.elements);
    member(json, "bytes", d.bytes);
    json.member("cause", d.cause).member("contradicts", d.contradicts).end_object();
  }
  json.end_array().end_object();
}

}  // namespace flopwatt::report
