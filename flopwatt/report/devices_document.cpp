#include <fmt/core.h>

#include <algorithm>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/report/documents.hpp"
#include "flopwatt/report/phrases.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::report {
namespace {

using units::Precision;
using units::to_text;

/// Numbers sources in the order in which they are first cited.
class Citations {
 public:
  /// "A [1, 3]": the confidence and where it comes from.
  std::string cite(std::string_view confidence, const std::vector<device::Source>& sources) {
    std::string text{confidence};
    for (const device::Source& source : sources) {
      text += (&source == &sources.front() ? " [" : ", ") + std::to_string(number(source));
    }
    return sources.empty() ? text : text + "]";
  }
  [[nodiscard]] Section section() const {
    Section section{.heading = "Sources", .facts = {}, .table = {}};
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      section.facts.push_back({fmt::format("[{}]", i + 1), device::to_text({sources_[i]}), ""});
    }
    return section;
  }

 private:
  std::size_t number(const device::Source& source) {
    const auto same = [&](const device::Source& s) { return s.title == source.title && s.url == source.url; };
    const auto found = std::find_if(sources_.begin(), sources_.end(), same);
    if (found != sources_.end()) return static_cast<std::size_t>(found - sources_.begin()) + 1;
    sources_.push_back(source);
    return sources_.size();
  }
  std::vector<device::Source> sources_;
};

std::string with_note(std::string source, const std::string& note) {
  return note.empty() ? source : source + "; " + note;
}

/// `text` prints the quantity.
template <class Quantity, class Text>
Fact figure_fact(std::string label, const std::optional<device::Figure<Quantity>>& figure, Citations& citations,
                 Text text) {
  if (!figure) return {std::move(label), "unknown", ""};
  std::string value = text(figure->value);
  if (figure->range) value += fmt::format(" ({} to {})", text(figure->range->low), text(figure->range->high));
  return {std::move(label), std::move(value),
          with_note(citations.cite(device::name(figure->confidence), figure->sources), figure->note)};
}

Fact device_peak_fact(const device::Peak& peak, Citations& citations) {
  std::string path{device::name(peak.path)};
  std::replace(path.begin(), path.end(), '_', ' ');
  std::string value = to_text(peak.rate);
  if (peak.range) value += fmt::format(" ({} to {})", to_text(peak.range->low), to_text(peak.range->high));
  std::string source = citations.cite(device::name(peak.confidence), peak.sources);
  if (peak.origin != device::Origin::published) source += ", " + std::string{device::name(peak.origin)};
  return {fmt::format("{} {}/{}", units::name(peak.precision), path, device::name(peak.accumulate)), std::move(value),
          with_note(std::move(source), peak.note)};
}

Section peaks(const device::Device& d, Citations& citations) {
  Section section{.heading = "Peaks (precision path/accumulation)", .facts = {}, .table = {}};
  for (const device::Peak& peak : d.peaks) section.facts.push_back(device_peak_fact(peak, citations));
  for (const device::Unsupported& u : d.unsupported) {
    section.facts.push_back({std::string{units::name(u.precision)}, "none", u.reason});
  }
  return section;
}

Section board(const device::Device& d, Citations& citations) {
  const auto plain = [](auto value) { return to_text(value); };
  const auto binary = [](units::DataSize size) { return units::to_binary_text(size); };
  Section section{.heading = "Board", .facts = {}, .table = {}};
  section.facts = {figure_fact("memory", d.memory, citations, binary),
                   figure_fact("memory bandwidth", d.memory_bandwidth, citations, plain),
                   figure_fact("board limit", d.board_limit, citations, plain),
                   figure_fact("idle power", d.idle, citations, plain)};
  if (d.compute_units) {
    std::string value = fmt::format("{} {}", d.compute_units->count, d.compute_units->name);
    if (d.compute_units->clock) value += fmt::format(" at {:g} MHz", d.compute_units->clock->in(units::megahertz));
    section.facts.push_back({"compute units", value, citations.cite("", d.compute_units->sources)});
  }
  for (const device::Interconnect& link : d.interconnects) {
    section.facts.push_back({std::string{device::name(link.kind)}, to_text(link.per_direction) + " each way",
                             with_note(citations.cite(device::name(link.confidence), link.sources), link.note)});
  }
  return section;
}

Document one(const device::Device& d) {
  Document document;
  document.title = fmt::format("{} {}: {}{}", d.vendor, d.name, d.architecture, d.chip.empty() ? "" : " " + d.chip);
  Citations citations;
  document.sections = {peaks(d, citations), board(d, citations)};
  document.sections.push_back(citations.section());
  document.notes = d.notes;
  document.notes.push_back(
      "Confidence: A several agreeing sources or arithmetic that closes, B one source, C disputed or secondary.");
  return document;
}

/// The default peak of a precision, in TFLOP/s.
Cell peak_cell(const device::Device& d, Precision precision, device::Path path) {
  const device::Peak* best = nullptr;
  for (const device::Peak& peak : d.peaks) {
    if (peak.precision == precision && peak.path == path && peak.accumulate != device::Accumulate::fp16) best = &peak;
  }
  if (best == nullptr) return {"–"};
  const double teraflops = best->rate.in(units::teraflop_per_second);
  return {fmt::format("{:.4g}", teraflops), best->rate.in(units::flop_per_second)};
}

template <class Quantity>
Cell figure_cell(const std::optional<device::Figure<Quantity>>& figure, Quantity shown_unit, Quantity base_unit) {
  if (!figure) return {"–"};
  return {fmt::format("{:.4g}", figure->value.in(shown_unit)), figure->value.in(base_unit)};
}

Document list(const std::vector<device::Device>& devices) {
  Document document;
  document.title = base::counted(devices.size(), "device") + ": dense peaks in TFLOP/s, fp32 accumulation";
  Table table;
  table.columns = {{"device", "device", Align::left},
                   {"fp32", "float32_flops_per_second"},
                   {"tf32", "tf32_flops_per_second"},
                   {"bf16", "bfloat16_flops_per_second"},
                   {"fp16", "float16_flops_per_second"},
                   {"fp8", "fp8_flops_per_second"},
                   {"GiB", "memory_bytes"},
                   {"GB/s", "memory_bandwidth_bytes_per_second"},
                   {"W", "board_limit_watts"}};
  for (const device::Device& d : devices) {
    table.rows.push_back({Cell{d.name}, peak_cell(d, Precision::float32, device::Path::vector),
                          peak_cell(d, Precision::tf32, device::Path::tensor_dense),
                          peak_cell(d, Precision::bfloat16, device::Path::tensor_dense),
                          peak_cell(d, Precision::float16, device::Path::tensor_dense),
                          peak_cell(d, Precision::fp8, device::Path::tensor_dense),
                          figure_cell(d.memory, units::gibibyte, units::byte),
                          figure_cell(d.memory_bandwidth, units::gigabyte_per_second, units::byte_per_second),
                          figure_cell(d.board_limit, units::watt, units::watt)});
  }
  document.sections.push_back({.heading = "", .facts = {}, .table = std::move(table)});
  document.notes = {"– is unknown or unsupported.  'flopwatt devices NAME' shows every figure with its source."};
  return document;
}

Document measured(const answers::MeasuredDevice& here, const std::vector<device::Device>& devices) {
  const device::Device* const known = devices.empty() ? nullptr : &devices.front();
  Document document;
  document.title = fmt::format("{} ({}), measured with {}, {}", here.name, here.place, here.library,
                               base::counted(here.threads, "CPU thread"));
  Table table;
  table.columns = {{"dtype", "dtype", Align::left}, {"measured", "flops_per_second"},
                   {"product of", "matrix_size"},   {"datasheet", "datasheet_flops_per_second"},
                   {"of it", "of_datasheet"},       {"copy", "bytes_per_second"}};
  for (const answers::MeasuredCeiling& row : here.ceilings) {
    std::vector<Cell> cells{Cell{std::string{units::name(row.dtype)}}};
    if (row.flops && row.bandwidth) {
      cells.emplace_back(to_text(*row.flops), row.flops->in(units::flop_per_second));
      cells.emplace_back(fmt::format("{0}×{0}", row.matrix_size), static_cast<double>(row.matrix_size));
    } else {
      cells.insert(cells.end(), 2, Cell{"–"});
      document.notes.push_back(fmt::format("{}: {}.", units::name(row.dtype), row.reason));
    }
    cells.push_back(row.datasheet ? Cell{to_text(row.datasheet->rate), row.datasheet->rate.in(units::flop_per_second)}
                                  : Cell{"–"});
    if (row.flops && row.datasheet) {
      const double share = *row.flops / row.datasheet->rate;
      cells.emplace_back(fmt::format("{:.1f} %", 100 * share), share);
    } else {
      cells.emplace_back("–");
    }
    cells.push_back(row.bandwidth ? Cell{to_text(*row.bandwidth), row.bandwidth->in(units::byte_per_second)}
                                  : Cell{"–"});
    table.rows.push_back(std::move(cells));
  }
  document.sections.push_back({.heading = "Ceilings", .facts = {}, .table = std::move(table)});
  if (known != nullptr) {
    Citations citations;
    Section section{.heading = "Datasheet of " + known->name, .facts = {}, .table = {}};
    for (const answers::MeasuredCeiling& row : here.ceilings) {
      if (row.datasheet) section.facts.push_back(device_peak_fact(*row.datasheet, citations));
    }
    section.facts.push_back(
        figure_fact("memory bandwidth", known->memory_bandwidth, citations, [](auto value) { return to_text(value); }));
    document.sections.push_back(std::move(section));
    document.sections.push_back(citations.section());
  }
  return document;
}

}  // namespace

Document to_document(const answers::Devices& answer) {
  Document document = answer.measured   ? measured(*answer.measured, answer.devices)
                      : answer.detailed ? one(answer.devices.front())
                                        : list(answer.devices);
  document.notes.insert(document.notes.begin(), answer.notes.begin(), answer.notes.end());
  return document;
}

}  // namespace flopwatt::report
