#include <unistd.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "flopwatt/cli/shared_options.hpp"
#include "flopwatt/cli/verbs.hpp"
#include "flopwatt/engine/devices.hpp"

namespace flopwatt::cli {
namespace {

struct DevicesOptions {
  engine::DevicesRequest request;
  bool measure = false;
  engine::MeasureRequest measuring{.place = {}};
  DataOptions data;
  OutputOptions output;
};

Result<void> run_measure(const DevicesOptions& options, const engine::Facts& facts, Console& console) {
  if (!options.request.derive.empty()) return fail(Errc::usage, "does not go with --measure", "--derive");
  engine::MeasureRequest request = options.measuring;
  if (request.place.empty()) request.place = "cpu";
  request.name = options.request.name;
  if (::isatty(STDERR_FILENO) != 0) {
    request.progress = [](units::Precision dtype) {
      std::fprintf(stderr, "Measuring %s …\n", std::string{units::name(dtype)}.c_str());
    };
  }
  FLOPWATT_TRY(const answers::Devices answer, engine::measure_device(facts, request));
  return present(console, options.output, answer);
}

/// Options that another one leaves without effect.
Result<void> check(const DevicesOptions& options) {
  if (!options.measure) {
    for (const auto& [given, option] :
         {std::pair{!options.measuring.place.empty(), "--device"}, {!options.measuring.dtypes.empty(), "--dtype"}}) {
      if (given) return fail(Errc::usage, "says what to measure", option, "add --measure, or leave it out");
    }
  }
  if (!options.request.derive.empty() && !options.request.name.empty()) {
    return fail(Errc::usage, "a derived device has no name in the catalogue", "NAME", "leave it or --derive out");
  }
  return {};
}

Result<void> run_devices(const DevicesOptions& options, Console& console) {
  FLOPWATT_TRY_VOID(check(options));
  FLOPWATT_TRY(const engine::Facts facts, load_facts(options.data));
  if (options.measure) return run_measure(options, facts, console);
  FLOPWATT_TRY(const answers::Devices answer, engine::devices(facts, options.request));
  return present(console, options.output, answer);
}

}  // namespace

Verb devices_verb() {
  return {
      .name = "devices",
      .summary = "The catalogue of accelerators: peaks, bandwidth and limits, every figure with its source.",
      .example = "flopwatt devices A100-SXM4-80GB",
      .declare = [](Command& command) -> Run {
        const auto options = std::make_shared<DevicesOptions>();
        command.optional_positional("NAME", options->request.name, "one device, or a family; left out: all of them");
        command.text(
            "--derive", "KEY=VALUE,…", options->request.derive,
            "peaks from arithmetic: arch=ampere, class=datacenter, units=108, clock-mhz=1410, joined by commas");
        command.group("Measuring");
        command.flag(
            "--measure", options->measure,
            "a matrix-product ceiling and a copy bandwidth on this machine, beside NAME's or the catalogue's figures");
        command.text("--device", "PLACE", options->measuring.place, "where to measure: cpu (default), cuda:0, hip:0");
        command.add("--dtype", "DTYPE", "measure this dtype only", [options](const std::string& word) -> Result<void> {
          FLOPWATT_TRY(const units::Precision dtype, read_precision(word));
          options->measuring.dtypes = {dtype};
          return {};
        });
        add_output(command, options->output);
        add_data(command, options->data);
        return [options](Console& console) { return run_devices(*options, console); };
      }};
}

}  // namespace flopwatt::cli
