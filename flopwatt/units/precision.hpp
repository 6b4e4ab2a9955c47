#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace flopwatt::units {

/// The number format of the operands of a product or of a stored tensor.
/// `tf32` is float32 in memory with tensor-core products on 19-bit operands.
enum class Precision : std::uint8_t { float32, tf32, float16, bfloat16, fp8, int8, fp4, int4 };

inline constexpr std::array<Precision, 8> kPrecisions{Precision::float32,  Precision::tf32, Precision::float16,
                                                      Precision::bfloat16, Precision::fp8,  Precision::int8,
                                                      Precision::fp4,      Precision::int4};

/// Stored bits of one element (scales of block formats are not part of it): 32, 32, 16, 16, 8, 8, 4, 4.
[[nodiscard]] int bits(Precision precision) noexcept;

/// The canonical name: "float32", "tf32", "float16", "bfloat16", "fp8", "int8", "fp4", "int4".
[[nodiscard]] std::string_view name(Precision precision) noexcept;

/// Reads a canonical name or a usual alias, in any case: fp32, f32, single; tf32; fp16, f16, half; bf16;
/// float8, fp8_e4m3, e4m3, e5m2, float8_e4m3fn; i8; nvfp4, mxfp4, float4; i4.  A "torch." prefix is ignored.
[[nodiscard]] std::optional<Precision> parse_precision(std::string_view text) noexcept;

}  // namespace flopwatt::units
