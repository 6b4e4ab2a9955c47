#include "flopwatt/engine/fit.hpp"

#include <memory>

#include "flopwatt/cli/report_folder.hpp"
#include "flopwatt/cli/shared_options.hpp"
#include "flopwatt/cli/suggest.hpp"
#include "flopwatt/cli/verbs.hpp"
#include "flopwatt/io/file.hpp"

namespace flopwatt::cli {
namespace {

struct FitOptions {
  engine::FitRequest request;
  std::string calibration;  ///< file, or folder that ends in '/' or exists
  std::string report;       ///< folder; empty: none
  DataOptions data;
  OutputOptions output;
};

bool names_a_folder(const std::string& path) { return path.ends_with('/') || io::is_folder(path); }

/// "Quadro RTX 5000" → "quadro-rtx-5000.json"
std::string file_name(const std::string& device) {
  std::string name = lower(device);
  for (char& c : name) {
    if (c == ' ' || c == '/') c = '-';
  }
  return name + ".json";
}

/// One file a device; into a folder also the prior of devices that nobody measured.
Result<void> write_calibrations(const fit::FitResult& result, const std::string& path) {
  const std::vector<fit::DeviceFit>& devices = result.devices;
  if (names_a_folder(path)) {
    const std::string folder = path.ends_with('/') ? path : path + '/';
    for (const fit::DeviceFit& device : devices) {
      FLOPWATT_TRY_VOID(io::write_file_atomic(folder + file_name(device.calibration.device),
                                              power::write_calibration(device.calibration)));
    }
    return result.prior ? io::write_file_atomic(folder + "prior.json", power::write_prior(*result.prior))
                        : Result<void>{};
  }
  if (devices.size() != 1) {
    return fail(Errc::usage, "a calibration file holds one device, and several were fitted", "-o",
                "name a folder, with a '/' at its end");
  }
  return io::write_file_atomic(path, power::write_calibration(devices.front().calibration));
}

Result<void> run_fit(const FitOptions& options, Console& console) {
  FLOPWATT_TRY(const engine::Facts facts, load_facts(options.data));
  FLOPWATT_TRY(answers::Fit answer, engine::fit(facts, options.request));
  if (!options.calibration.empty()) FLOPWATT_TRY_VOID(write_calibrations(answer.result, options.calibration));
  if (options.report.empty()) return present(console, options.output, answer);
  // A report that cannot be written does not take the answer along.
  auto notes = write_report(answer, options.report, data_folders(options.data));
  if (notes) answer.notes.insert(answer.notes.end(), notes->begin(), notes->end());
  FLOPWATT_TRY_VOID(present(console, options.output, answer));
  return notes ? Result<void>{} : fail(notes.error());
}

void add_models(Command& command, fit::FitOptions& options) {
  command.add("--models", "NAME,…", "linear, dtype, cell, saturating (default: all of them)",
              [&options](const std::string& word) -> Result<void> {
                options.forms.clear();
                FLOPWATT_TRY(const std::vector<std::string> names, read_word_list(word));
                for (const std::string& name : names) {
                  const auto form = power::parse_form(name);
                  if (!form || *form == power::Form::automatic) {
                    return fail(Errc::usage, "unknown model '" + base::excerpt(name) + "'", {},
                                "use linear, dtype, cell, saturating");
                  }
                  options.forms.push_back(*form);
                }
                return {};
              });
}

}  // namespace

Verb fit_verb() {
  return {.name = "fit",
          .summary = "Fits power models to measured rows: the study's tables with intervals, and a calibration file.",
          .example = "flopwatt fit runs/a100.csv -o a100.json",
          .declare = [](Command& command) -> Run {
            const auto options = std::make_shared<FitOptions>();
            engine::FitRequest& request = options->request;
            command.positionals("DATA", request.files, "CSV files of samples or of means");
            command.text("--device", "DEVICE", request.device, "of files that do not name theirs");
            add_models(command, request.options);
            command.add("--bootstrap", "N", "resamples of the intervals; default 2000, 0 for none",
                        [&request](const std::string& word) -> Result<void> {
                          FLOPWATT_TRY(const std::int64_t n, read_whole(word, {.min = 0, .max = 1'000'000}));
                          if (n == 1)
                            return fail(Errc::usage, "one resample makes no interval", {}, "use 2000, or 0 for none");
                          request.options.resamples = static_cast<std::size_t>(n);
                          return {};
                        });
            command.add("--seed", "N", "of the resampling; default 0",
                        [&request](const std::string& word) -> Result<void> {
                          FLOPWATT_TRY(const std::int64_t seed, read_whole(word, {.min = 0, .max = kMaxTokens}));
                          request.options.seed = static_cast<std::uint64_t>(seed);
                          return {};
                        });
            command.text("--peaks", "recorded|catalogue|audited|FILE", request.peaks,
                         "what an MFU is normalised by; default recorded");
            command.flag("--fit-anyway", request.options.anyway,
                         "fit power even where the audit takes it for milliwatts or kilowatts");
            command.text("-o,--output", "FILE", options->calibration,
                         "write the calibration there; into a folder that ends in / for several devices");
            command.add("--report", "DIR", "write there: one HTML page, and each figure as Vega-Lite, CSV and SVG",
                        [options](const std::string& word) -> Result<void> {
                          if (word.empty()) return fail(Errc::usage, "is empty");
                          options->report = word;
                          options->request.options.details = true;
                          return {};
                        });
            add_format(command, options->output);
            add_data(command, options->data);
            return [options](Console& console) { return run_fit(*options, console); };
          }};
}

}  // namespace flopwatt::cli
