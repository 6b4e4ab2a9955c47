#include "flopwatt/work/quantized_weights.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace flopwatt::work {
namespace {

constexpr std::string_view kLayer = "{layer}";
constexpr std::string_view kExpert = "{expert}";

// How a pattern meets a name: not at all, in every layer, or in one.
struct Match {
  bool matched = false;
  std::optional<std::int64_t> layer;
};

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Matches `pattern` from the start of `name`; what follows it in the name does not matter.
Match match_prefix(std::string_view pattern, std::string_view name) {
  Match match{.matched = true, .layer = {}};
  while (!pattern.empty()) {
    if (pattern.front() == '*') {
      pattern.remove_prefix(1);
      for (std::size_t skip = 0; skip <= name.size(); ++skip) {
        Match rest = match_prefix(pattern, name.substr(skip));
        if (!rest.matched) continue;
        if (match.layer) rest.layer = match.layer;
        return rest;
      }
      return {};
    }
    const bool layer = name.starts_with(kLayer);
    if (layer || name.starts_with(kExpert)) {
      std::int64_t index = 0;
      const auto [end, error] = std::from_chars(pattern.data(), pattern.data() + pattern.size(), index);
      if (error != std::errc{}) return {};
      if (layer) match.layer = index;
      pattern.remove_prefix(static_cast<std::size_t>(end - pattern.data()));
      name.remove_prefix(layer ? kLayer.size() : kExpert.size());
      continue;
    }
    if (name.empty() || name.front() != pattern.front()) return {};
    pattern.remove_prefix(1);
    name.remove_prefix(1);
  }
  // "layers.1" is not a part of "layers.12", nor "mlp.gate" of "mlp.gate_proj".
  if (match.layer && !name.empty() && is_digit(name.front())) return {};
  return match;
}

// A "re:" pattern of the usual kind as a glob: ".*" becomes '*', "\." a dot, anchors go.
std::string as_glob(std::string_view pattern) {
  if (!pattern.starts_with("re:")) return std::string{pattern};
  pattern.remove_prefix(3);
  std::string glob;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern.substr(i).starts_with(".*")) {
      glob += '*';
      ++i;
    } else if (pattern[i] == '\\' && i + 1 < pattern.size()) {
      glob += pattern[++i];
    } else if (pattern[i] != '^' && pattern[i] != '$') {
      glob += pattern[i];
    }
  }
  return glob;
}

}  // namespace

std::int64_t unquantized_layers(std::span<const std::string> patterns, std::string_view name,
                                std::span<const std::uint16_t> layers, std::uint16_t block) {
  std::vector<std::int64_t> kept;
  for (const std::string& pattern : patterns) {
    const std::string glob = as_glob(pattern);
    if (glob.empty()) continue;
    for (std::size_t start = 0; start < name.size(); ++start) {
      // A part starts where a module's name does.
      if (start > 0 && name[start - 1] != '.' && glob.front() != '*') continue;
      const Match match = match_prefix(glob, name.substr(start));
      if (!match.matched) continue;
      if (!match.layer) return std::ranges::count(layers, block);
      const std::int64_t layer = *match.layer;
      if (layer >= 0 && layer < std::ssize(layers) && layers[static_cast<std::size_t>(layer)] == block) {
        kept.push_back(layer);
      }
      break;
    }
  }
  std::ranges::sort(kept);
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return std::ssize(kept);
}

StoredBits stored_bits(const model::Quantization& q) noexcept {
  const Integer bits = units::bits(q.precision);
  if (q.block_size.size() == 2 && q.block_size[0] > 0 && q.block_size[1] > 0) {
    const Integer block = Integer{q.block_size[0]} * q.block_size[1];
    return {bits * block + 32, block};
  }
  if (q.group_size && *q.group_size > 0) {
    const bool tiny = q.precision == units::Precision::fp4 && q.method != "bitsandbytes";
    const bool zeros = q.method == "gptq" || q.method == "awq";
    return {bits * *q.group_size + (tiny ? 8 : zeros ? 16 + bits : 16), *q.group_size};
  }
  return {bits, 1};
}

}  // namespace flopwatt::work
