#pragma once

#include <string>
#include <tl/expected.hpp>

#include "flopwatt/telemetry/nvml.hpp"
#include "flopwatt/telemetry/nvml_abi.hpp"
#include "flopwatt/telemetry/reading.hpp"
#include "flopwatt/telemetry/source.hpp"

namespace flopwatt::telemetry::nvml {

/// The library's functions; one that it lacks is null.
struct Library {
#define FLOPWATT_NVML_MEMBER(member, exported, parameters) std::uint32_t(*member) parameters = nullptr;
  FLOPWATT_NVML_CALLS(FLOPWATT_NVML_MEMBER)
#undef FLOPWATT_NVML_MEMBER
};

/// Opens and initialises the library.
[[nodiscard]] tl::expected<Library, SourceAbsence> open_library(const std::string& path);

/// Calls one that may be missing: true, or why it gave nothing.
template <class... Parameters, class... Arguments>
[[nodiscard]] Reading<bool> call(std::uint32_t (*function)(Parameters...), Arguments... arguments) {
  if (function == nullptr) return Absence::missing_symbol;
  const std::uint32_t code = function(arguments...);
  if (code != kSuccess) return nvml_absence(code);
  return true;
}

}  // namespace flopwatt::telemetry::nvml
