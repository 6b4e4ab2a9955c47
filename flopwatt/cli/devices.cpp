#include <memory>

#include "flopwatt/cli/shared_options.hpp"
#include "flopwatt/cli/verbs.hpp"
#include "flopwatt/engine/devices.hpp"

namespace flopwatt::cli {
namespace {

struct DevicesOptions {
  engine::DevicesRequest request;
  DataOptions data;
  OutputOptions output;
};

Result<void> run_devices(const DevicesOptions& options, Console& console) {
  FLOPWATT_TRY(const engine::Facts facts, load_facts(options.data));
  FLOPWATT_TRY(const answers::Devices answer, engine::devices(facts, options.request));
  return present(console, options.output, answer);
}

}  // namespace

Verb devices_verb() {
  return {.name = "devices",
          .summary = "The catalogue of accelerators: peaks, bandwidth and limits, every figure with its source.",
          .example = "flopwatt devices A100-SXM4-80GB",
          .declare = [](Command& command) -> Run {
            const auto options = std::make_shared<DevicesOptions>();
            command.optional_positional("NAME", options->request.name,
                                        "one device, or a family; left out: all of them");
            command.text(
                "--derive", "KEY=VALUE,…", options->request.derive,
                "peaks from arithmetic: arch=ampere, class=datacenter, units=108, clock-mhz=1410, joined by commas");
            add_output(command, options->output);
            add_data(command, options->data);
            return [options](Console& console) { return run_devices(*options, console); };
          }};
}

}  // namespace flopwatt::cli
