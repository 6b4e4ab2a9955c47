#include "flopwatt/report/phrases.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::report {

using units::to_text;

std::string percent(double fraction, int digits) {
  if (fraction >= 10) return fmt::format("{:.0f} %", 100 * fraction);
  return fmt::format("{:#.{}g} %", 100 * fraction, digits);
}

std::string short_count(units::Count count) {
  struct Scale {
    double size;
    std::string_view name;
  };
  constexpr std::array<Scale, 4> kScales{{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}}};
  for (const Scale& scale : kScales) {
    if (count.to_double() >= scale.size) return fmt::format("{:.3g} {}", count.to_double() / scale.size, scale.name);
  }
  return units::to_string(count);
}

std::string flops_text(units::Count flops) { return to_text(flops.to_double() * units::flop); }
std::string bytes_text(units::Count bytes) { return to_text(bytes.to_double() * units::byte); }

std::vector<CauseText> causes(const work::Comparison& comparison) {
  const work::Causes& d = comparison.difference;
  std::vector<CauseText> all = {
      {"embedding look-ups, which are no products", d.embedding},
      {"LM head", d.head},
      {"projections of attention (biases; grouped queries)", d.gqa},
      {"attention scores and values", d.attention},
      {"MLP", d.mlp},
      {"experts and their router", d.experts},
      {"norms, which are no products", d.norms},
      {"other layers", d.other},
  };
  // A tied head does the work that its embedding is counted for: nothing is left to explain.
  if (d.embedding + d.head == units::Count{}) all.erase(all.begin(), all.begin() + 2);
  std::erase_if(all, [](const CauseText& cause) { return cause.flops == units::Count{}; });
  return all;
}

std::string workload_text(const work::Workload& w) {
  std::string text{work::name(w.phase)};
  if (w.sequence_lengths.empty()) {
    text += fmt::format(", batch {} × {}", w.batch, base::counted(w.sequence, "token"));
  } else {
    text += fmt::format(", {} of different lengths", base::counted(w.sequence_lengths.size(), "sequence"));
  }
  if (w.phase == work::Phase::generate) {
    text += fmt::format(" + {} new, {} KV cache", w.new_tokens, w.kv_cache ? "with" : "without");
  }
  return text + fmt::format(", {}", units::name(w.precision));
}

std::string parallel_text(const work::Parallel& p) {
  struct Degree {
    std::string_view name;
    std::int64_t degree;
  };
  std::string text;
  if (p.pipeline > 1) text += fmt::format(" of stage {} of 0 … {}", p.stage, p.pipeline - 1);
  for (const Degree& d :
       {Degree{"tensor", p.tensor}, Degree{"data", p.data}, Degree{"context", p.context}, Degree{"expert", p.expert}}) {
    if (d.degree > 1) text += fmt::format(", {} {}", d.name, d.degree);
  }
  if (p.zero > 0) text += fmt::format(", ZeRO {}", p.zero);
  return text.empty() ? text : "one device" + text;
}

std::string options_text(const work::Parallel& p) {
  struct Degree {
    std::string_view option;
    std::int64_t degree;
  };
  std::string text;
  for (const Degree& d : {Degree{"--tp", p.tensor}, Degree{"--pp", p.pipeline}, Degree{"--dp", p.data},
                          Degree{"--cp", p.context}, Degree{"--ep", p.expert}}) {
    if (d.degree > 1) text += fmt::format("{}{} {}", text.empty() ? "" : " ", d.option, d.degree);
  }
  if (p.stage > 0) text += fmt::format(" --stage {}", p.stage);
  return text.empty() ? "one device" : text;
}

namespace {

/// Titles only: `flopwatt devices NAME` and JSON have the addresses.
std::string titles(const std::vector<device::Source>& sources) {
  std::string text;
  for (const device::Source& source : sources) text += (text.empty() ? "" : "; ") + source.title;
  return text;
}

}  // namespace

Fact peak_fact(const device::Peak& peak) {
  std::string path{device::name(peak.path)};
  std::replace(path.begin(), path.end(), '_', ' ');
  return {"peak", to_text(peak.rate),
          fmt::format("{}, {}, {} accumulation; {} ({})", units::name(peak.precision), path,
                      device::name(peak.accumulate), device::name(peak.origin), titles(peak.sources))};
}

Fact bandwidth_fact(const device::Device& device) {
  if (!device.memory_bandwidth) return {"memory bandwidth", "unknown", ""};
  return {"memory bandwidth", to_text(device.memory_bandwidth->value), titles(device.memory_bandwidth->sources)};
}

std::vector<Fact> power_facts(const power::Prediction& prediction, const answers::CalibrationUsed& used) {
  const std::string source = used.device.empty() ? std::string{"prior of an uncalibrated device"}
                                                 : fmt::format("'{}' model of the {} calibration ({})",
                                                               power::name(prediction.form), used.device, used.origin);
  return {{"power", fmt::format("{:.1f} W", prediction.power.in(units::watt)), source},
          {"interval", fmt::format("{:.1f} to {:.1f} W", prediction.lo.in(units::watt), prediction.hi.in(units::watt)),
           fmt::format("{:g} %, {}", 100 * prediction.level, prediction.interval_method)}};
}

std::string places_text(const audit::Finding& finding, std::size_t shown) {
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, finding.places.size()); ++i) {
    const std::string& place = finding.places[i];
    text += (i > 0 ? ", " : "") + place.substr(place.find_last_of('/') + 1);
  }
  return finding.places.size() > shown ? text + ", …" : text;
}

void add_flags(Document& document, const std::vector<answers::Flag>& flags) {
  if (flags.empty()) return;
  Section section{.heading = "Flags", .facts = {}, .table = {}};
  for (const answers::Flag& flag : flags) section.facts.push_back({flag.code, flag.text, ""});
  document.sections.push_back(std::move(section));
}

}  // namespace flopwatt::report
