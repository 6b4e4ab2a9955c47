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

/// What was fitted although the audit found fault with it must not look clean.
void add_audit_notes(answers::Fit& answer) {
  for (const fit::DeviceFit& device : answer.result.devices) {
    const auto& findings = device.calibration.findings;
    const auto of = [&](std::string_view severity) {
      return std::count_if(findings.begin(), findings.end(),
                           [&](const power::Finding& finding) { return finding.severity == severity; });
    };
    const auto errors = of("error");
    if (errors == 0) continue;
    std::vector<std::string> codes;
    for (const power::Finding& finding : findings) {
      if (finding.severity == "error" && std::find(codes.begin(), codes.end(), finding.code) == codes.end()) {
        codes.push_back(finding.code);
      }
    }
    answer.notes.push_back(
        fmt::format("{}: the audit found {} ({}) and {} in these rows, and they were fitted all the same; "
                    "'flopwatt audit' names the rows and what to do.",
                    device.device, base::counted(errors, "error"), fmt::join(codes, ", "),
                    base::counted(of("warning"), "warning")));
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
  add_audit_notes(answer);
  return answer;
}

}  // namespace flopwatt::engine
