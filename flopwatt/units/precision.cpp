#include "flopwatt/units/precision.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace flopwatt::units {
namespace {

struct Format {
  std::string_view name;
  int bits;
};
constexpr std::array<Format, kPrecisions.size()> kFormats{{{"float32", 32},
                                                           {"tf32", 32},
                                                           {"float16", 16},
                                                           {"bfloat16", 16},
                                                           {"fp8", 8},
                                                           {"int8", 8},
                                                           {"fp4", 4},
                                                           {"int4", 4}}};

constexpr auto kAliases = std::to_array<std::pair<std::string_view, Precision>>({
    {"fp32", Precision::float32},
    {"f32", Precision::float32},
    {"single", Precision::float32},
    {"float", Precision::float32},
    {"tensorfloat32", Precision::tf32},
    {"fp16", Precision::float16},
    {"f16", Precision::float16},
    {"half", Precision::float16},
    {"bf16", Precision::bfloat16},
    {"float8", Precision::fp8},
    {"f8", Precision::fp8},
    {"fp8_e4m3", Precision::fp8},
    {"fp8_e5m2", Precision::fp8},
    {"e4m3", Precision::fp8},
    {"e5m2", Precision::fp8},
    {"f8_e4m3", Precision::fp8},
    {"f8_e5m2", Precision::fp8},
    {"float8_e4m3fn", Precision::fp8},
    {"float8_e5m2", Precision::fp8},
    {"i8", Precision::int8},
    {"float4", Precision::fp4},
    {"f4", Precision::fp4},
    {"nvfp4", Precision::fp4},
    {"mxfp4", Precision::fp4},
    {"i4", Precision::int4},
    {"mxfp8", Precision::fp8},
});

constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == y; });
}

}  // namespace

int bits(Precision precision) noexcept { return kFormats[static_cast<std::size_t>(precision)].bits; }

std::string_view name(Precision precision) noexcept { return kFormats[static_cast<std::size_t>(precision)].name; }

std::optional<Precision> parse_precision(std::string_view text) noexcept {
  constexpr std::string_view kTorch = "torch.";
  if (same(text.substr(0, kTorch.size()), kTorch)) text.remove_prefix(kTorch.size());
  for (const Precision precision : kPrecisions) {
    if (same(text, name(precision))) return precision;
  }
  for (const auto& [alias, precision] : kAliases) {
    if (same(text, alias)) return precision;
  }
  return std::nullopt;
}

}  // namespace flopwatt::units
