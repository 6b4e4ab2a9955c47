#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "flopwatt/model/config_reader.hpp"

namespace flopwatt::model {

/// Which layers see only a window of the sequence: those that `layer_types` calls "sliding_attention" or
/// "chunked_attention", or, in a file without that list, those for which `rule` holds.
[[nodiscard]] std::vector<bool> local_layers(const ConfigReader& config, std::int64_t layers,
                                             const std::function<bool(std::int64_t)>& rule);

/// A window that null switches off, and that takes its class default only where the key is absent.
[[nodiscard]] std::optional<std::int64_t> window_size(const ConfigReader& config, std::string_view key,
                                                      std::optional<std::int64_t> class_default);

/// The Qwen rule: with `use_sliding_window` the layers from `max_window_layers` on see `sliding_window` keys.
struct QwenWindows {
  std::optional<std::int64_t> window;
  std::vector<bool> local;  ///< one a layer

  [[nodiscard]] bool is_local(std::int64_t layer) const { return local[static_cast<std::size_t>(layer)]; }
  [[nodiscard]] std::optional<std::int64_t> of(bool windowed) const { return windowed ? window : std::nullopt; }
};
[[nodiscard]] QwenWindows qwen_windows(const ConfigReader& config, std::int64_t layers);

}  // namespace flopwatt::model
