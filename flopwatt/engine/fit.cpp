#include "flopwatt/engine/fit.hpp"

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
  return answer;
}

}  // namespace flopwatt::engine
