#pragma once

#include <c10/core/ScalarType.h>

#include "flopwatt/units/precision.hpp"

namespace flopwatt::libtorch {

/// What tensors of a precision are stored as: tf32 is float32 in memory.
[[nodiscard]] constexpr c10::ScalarType scalar_type(units::Precision precision) noexcept {
  switch (precision) {
    case units::Precision::float16:
      return c10::ScalarType::Half;
    case units::Precision::bfloat16:
      return c10::ScalarType::BFloat16;
    default:
      return c10::ScalarType::Float;
  }
}

}  // namespace flopwatt::libtorch
