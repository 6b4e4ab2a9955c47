#pragma once

#include <optional>

#include "flopwatt/model/architecture.hpp"
#include "flopwatt/model/config_reader.hpp"

namespace flopwatt::model {

/// `quantization_config` (or `compression_config`, or mlx's `quantization`) of a config.json.  Nothing if the file has
/// none, or, with a note, if the method or its number of bits is not one that flopwatt knows.
[[nodiscard]] std::optional<Quantization> read_quantization(const ConfigReader& config);

}  // namespace flopwatt::model
