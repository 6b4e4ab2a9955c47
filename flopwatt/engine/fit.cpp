#include "flopwatt/engine/fit.hpp"

#include "flopwatt/dataset/dataset.hpp"
#include "flopwatt/io/file.hpp"

namespace flopwatt::engine {
namespace {

Result<std::vector<dataset::Dataset>> read_all(const FitRequest& request) {
  std::vector<dataset::Dataset> all;
  for (const std::string& file : request.files) {
    FLOPWATT_TRY(const std::string text, io::read_file(file));
    FLOPWATT_TRY(std::vector<dataset::Dataset> read, dataset::read_samples(text, file, {.device = request.device}));
    for (dataset::Dataset& one : read) all.push_back(std::move(one));
  }
  return dataset::merge(std::move(all));
}

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
  FLOPWATT_TRY(const std::vector<dataset::Dataset> datasets, read_all(request));
  FLOPWATT_TRY(const fit::FitOptions options, complete_options(facts, request));
  FLOPWATT_TRY(answer.result, fit::fit(datasets, options));
  answer.options = options;
  answer.options.devices = nullptr;  // the answer may outlive the facts
  answer.options.models = nullptr;
  return answer;
}

}  // namespace flopwatt::engine
