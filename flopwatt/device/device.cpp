#include "flopwatt/device/device.hpp"

#include <array>
#include <cstddef>

namespace flopwatt::device {
namespace {

using namespace std::string_view_literals;

// The names of each enumeration, in the order of its values.
constexpr std::array kPaths{"vector"sv, "tensor_dense"sv, "tensor_sparse"sv};
constexpr std::array kAccumulates{"fp32"sv, "fp16"sv, "int32"sv};
constexpr std::array kConfidences{"A"sv, "B"sv, "C"sv};
constexpr std::array kOrigins{"published"sv, "derived"sv, "measured"sv, "given"sv};
constexpr std::array kScopes{"gpu"sv, "gpu_of_superchip"sv, "module"sv, "die"sv, "chip"sv, "card"sv};
constexpr std::array kLinkKinds{"nvlink"sv, "nvlink_c2c"sv, "pcie"sv, "infinity_fabric"sv, "ici"sv, "ethernet"sv};

template <class Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view text) noexcept {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}
template <class Enum, std::size_t N>
std::string_view at(const std::array<std::string_view, N>& names, Enum value) noexcept {
  return names[static_cast<std::size_t>(value)];
}

}  // namespace

std::string_view name(Path path) noexcept { return at(kPaths, path); }
std::string_view name(Accumulate accumulate) noexcept { return at(kAccumulates, accumulate); }
std::string_view name(Confidence confidence) noexcept { return at(kConfidences, confidence); }
std::string_view name(Origin origin) noexcept { return at(kOrigins, origin); }
std::string_view name(Scope scope) noexcept { return at(kScopes, scope); }
std::string_view name(LinkKind kind) noexcept { return at(kLinkKinds, kind); }

std::optional<Path> parse_path(std::string_view text) noexcept { return find<Path>(kPaths, text); }
std::optional<Accumulate> parse_accumulate(std::string_view text) noexcept {
  return find<Accumulate>(kAccumulates, text);
}
std::optional<Confidence> parse_confidence(std::string_view text) noexcept {
  return find<Confidence>(kConfidences, text);
}
std::optional<Origin> parse_origin(std::string_view text) noexcept { return find<Origin>(kOrigins, text); }
std::optional<Scope> parse_scope(std::string_view text) noexcept { return find<Scope>(kScopes, text); }
std::optional<LinkKind> parse_link_kind(std::string_view text) noexcept { return find<LinkKind>(kLinkKinds, text); }

std::string to_text(const std::vector<Source>& sources) {
  std::string text;
  for (const Source& source : sources) {
    if (!text.empty()) text += "; ";
    text += source.title;
    if (!source.url.empty()) text += ", " + source.url;
  }
  return text;
}

}  // namespace flopwatt::device
