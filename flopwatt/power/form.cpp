#include <array>

#include "flopwatt/power/calibration.hpp"

namespace flopwatt::power {
namespace {

struct Named {
  Form form;
  std::string_view name;
};
constexpr std::array kForms{Named{Form::automatic, "auto"}, Named{Form::linear, "linear"}, Named{Form::dtype, "dtype"},
                            Named{Form::cell, "cell"}, Named{Form::saturating, "saturating"}};

}  // namespace

std::string_view name(Form form) noexcept {
  for (const auto& entry : kForms) {
    if (entry.form == form) return entry.name;
  }
  return "";
}

std::optional<Form> parse_form(std::string_view text) noexcept {
  for (const auto& entry : kForms) {
    if (entry.name == text) return entry.form;
  }
  return std::nullopt;
}

const Peak* Calibration::peak(units::Precision dtype) const noexcept {
  for (const Peak& candidate : peaks) {
    if (candidate.dtype == dtype) return &candidate;
  }
  return nullptr;
}

}  // namespace flopwatt::power
