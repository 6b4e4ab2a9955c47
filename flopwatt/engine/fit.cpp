#include "flopwatt/engine/fit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/engine/samples.hpp"
#include "flopwatt/io/file.hpp"

namespace flopwatt::engine {
namespace {

Result<fit::FitOptions> complete_options(const Facts& facts, const FitRequest& request) {
  fit::FitOptions options = request.options;
  options.devices = &facts.devices();
  options.models = &facts.models();
  options.peaks_from = fit::parse_peaks_from(request.peaks).value_or(fit::PeaksFrom::file);
  if (options.peaks_from == fit::PeaksFrom::file) {
    FLOPWATT_TRY(const std::string text, io::read_file(request.peaks));
    FLOPWATT_TRY(options.peaks, fit::read_peaks(text, request.peaks));
  }
  return options;
}

/// The codes of findings, each once, in order.
std::string codes(const std::vector<const audit::Finding*>& findings) {
  std::vector<std::string_view> out;
  for (const audit::Finding* finding : findings) {
    if (std::ranges::find(out, finding->code) == out.end()) out.push_back(finding->code);
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

/// What was fitted although the audit found fault with it must not look clean.
void add_audit_notes(answers::Fit& answer, fit::PeaksFrom peaks_from) {
  for (const fit::DeviceFit& device : answer.result.devices) {
    std::vector<const audit::Finding*> used, unused;
    for (const audit::Finding& finding : answer.result.audited.findings) {
      if (finding.device != device.calibration.label) continue;
      if (finding.code == "synthetic_power") {
        answer.notes.push_back(
            fmt::format("{}: this fit is no measurement: {}. Every answer made from its "
                        "calibration says so (synthetic_power).",
                        device.device, finding.text));
      }
      if (finding.severity != audit::Severity::error) continue;
      (fit::concerns_fit(finding, peaks_from) ? used : unused).push_back(&finding);
    }
    if (!used.empty()) {
      answer.notes.push_back(fmt::format(
          "{}: the audit found {} ({}) in what this fit rests on, and the rows were fitted all the same; look at "
          "them before you rely on it: 'flopwatt audit' names the rows and what to do.",
          device.device, base::counted(used.size(), "error"), codes(used)));
    }
    if (!unused.empty()) {
      answer.notes.push_back(
          fmt::format("{}: the audit found {} ({}) in columns or rows that the power models do not rest on; 'flopwatt "
                      "audit' names them and what to do.",
                      device.device, base::counted(unused.size(), "error"), codes(unused)));
    }
  }
}

}  // namespace

Result<answers::Fit> fit(const Facts& facts, const FitRequest& request) {
  answers::Fit answer;
  answer.files = request.files;
  FLOPWATT_TRY(const std::vector<dataset::Dataset> datasets, read_samples_files(request.files, request.device));
  FLOPWATT_TRY(const fit::FitOptions options, complete_options(facts, request));
  FLOPWATT_TRY(answer.result, fit::fit(datasets, options));
  answer.options = options;
  answer.options.devices = nullptr;  // the answer may outlive the facts
  answer.options.models = nullptr;
  add_audit_notes(answer, options.peaks_from);
  return answer;
}

}  // namespace flopwatt::engine
