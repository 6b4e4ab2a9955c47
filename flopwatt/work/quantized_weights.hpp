#pragma once

#include "flopwatt/work/plan.hpp"

/// Bytes of weights that a checkpoint stores quantised.

namespace flopwatt::work {

/// In how many of `layers` (the layers of the block, by their index in the model) a tensor of the template name
/// "a.{layer}.b" is left unquantised by one of the patterns.  A pattern matches as a part of a name; '*' and the ".*"
/// of a "re:" pattern stand for anything.
[[nodiscard]] std::int64_t unquantized_layers(std::span<const std::string> patterns, std::string_view name,
                                              std::span<const std::uint16_t> layers, std::uint16_t block);

/// Bits that one stored weight takes, shared scales and zero points included: numerator and denominator.  A 2-D block
/// has one fp32 scale (DeepSeek-V3's weight_scale_inv), an MX or NVFP4 group an 8-bit one, GPTQ and AWQ groups a 16-bit
/// scale and a zero point, other groups a 16-bit scale.  One scale a tensor or row is left out.
struct StoredBits {
  Integer bits = 16, per_weights = 1;
};
[[nodiscard]] StoredBits stored_bits(const model::Quantization& quantization) noexcept;

}  // namespace flopwatt::work
