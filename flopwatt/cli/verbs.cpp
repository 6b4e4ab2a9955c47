#include "flopwatt/cli/verbs.hpp"

namespace flopwatt::cli {

std::vector<Verb> all_verbs() {
  return {count_verb(),  devices_verb(), mfu_verb(),   audit_verb(), fit_verb(),
          energy_verb(), monitor_verb(), power_verb(), train_verb(), sweep_verb()};
}

}  // namespace flopwatt::cli
