#include "flopwatt/engine/audit.hpp"

#include <memory>

#include "flopwatt/cli/shared_options.hpp"
#include "flopwatt/cli/verbs.hpp"

namespace flopwatt::cli {
namespace {

struct AuditOptions {
  engine::AuditRequest request;
  DataOptions data;
  OutputOptions output;
};

Result<void> run_audit(const AuditOptions& options, Console& console) {
  FLOPWATT_TRY(const engine::Facts facts, load_facts(options.data));
  FLOPWATT_TRY(const answers::Audit answer, engine::audit(facts, options.request));
  return present(console, options.output, answer);
}

}  // namespace

Verb audit_verb() {
  return {.name = "audit",
          .summary = "Holds measured rows against first principles: wrong peaks, lengths, columns, sensors, units.",
          .example = "flopwatt audit runs/a100.csv",
          .declare = [](Command& command) -> Run {
            const auto options = std::make_shared<AuditOptions>();
            command.positionals("DATA", options->request.files, "CSV files of samples or of means");
            command.text("--device", "DEVICE", options->request.device, "of files that do not name theirs");
            add_output(command, options->output);
            add_data(command, options->data);
            return [options](Console& console) { return run_audit(*options, console); };
          }};
}

}  // namespace flopwatt::cli
