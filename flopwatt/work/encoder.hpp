#pragma once

#include <cstdint>
#include <optional>

#include "flopwatt/model/architecture.hpp"

namespace flopwatt::work {

/// The stack whose output the text stack attends to; null where the model is no encoder-decoder.
[[nodiscard]] const model::Stack* encoder_of(const model::Architecture& architecture) noexcept;

/// The length of the encoder's own table of positions: 1500 of Whisper; absent without an encoder or a table.
[[nodiscard]] std::optional<std::int64_t> encoder_positions(const model::Architecture& architecture) noexcept;

}  // namespace flopwatt::work
