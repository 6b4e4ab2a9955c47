#pragma once

#include "flopwatt/model/architecture.hpp"
#include "flopwatt/model/config_reader.hpp"

namespace flopwatt::model {

/// The activation function that a config names as transformers does ("silu", "gelu_new", …).  A name that is not known
/// counts as the class default, with a note: it changes elementwise work only.
[[nodiscard]] Activation read_activation(const ConfigReader& config, const Keys& keys, Activation class_default);

}  // namespace flopwatt::model
