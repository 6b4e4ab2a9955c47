#include "flopwatt/cli/power_options.hpp"

namespace flopwatt::cli {

void add_power(Command& command, PowerOptions& options) {
  using power::Form;
  static constexpr Choice<Form> kForms[] = {{"auto", Form::automatic},
                                            {"linear", Form::linear},
                                            {"dtype", Form::dtype},
                                            {"cell", Form::cell},
                                            {"saturating", Form::saturating}};
  command.group("Power");
  command.text("--calibration", "FILE", options.calibration_file, "instead of the one that ships for the device");
  command.choice("--power-model", options.form, kForms, "default auto: the best that the calibration has");
  command.add("--level", "FRACTION", "of the interval; default 0.9",
              [&options](const std::string& word) -> Result<void> {
                FLOPWATT_TRY(options.level, read_real(word, {.min = 0, .max = 0.9999}));
                return {};
              });
}

}  // namespace flopwatt::cli
