#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "flopwatt/model/config_reader.hpp"

namespace flopwatt::model {

/// Which layers see only a window (or a chunk) of the sequence, and how wide it is.
struct LocalLayers {
  std::optional<std::int64_t> size;  ///< keys
  std::vector<bool> local;           ///< one a layer

  /// Whether this layer is local: the kind of a layer, for StackBuilder::layers.
  [[nodiscard]] bool operator()(std::int64_t layer) const { return local[static_cast<std::size_t>(layer)]; }
  [[nodiscard]] std::optional<std::int64_t> window(bool is_local) const { return is_local ? size : std::nullopt; }
};

/// The local layers are those that `layer_types` calls "sliding_attention" or "chunked_attention", or, in a file
/// without that list, those for which `rule` holds.  Without a size no layer is local; a list that says otherwise is
/// refused.
[[nodiscard]] LocalLayers local_layers(const ConfigReader& config, std::int64_t layers,
                                       std::optional<std::int64_t> size, const std::function<bool(std::int64_t)>& rule);

/// A window that null switches off, and that takes its class default only where the key is absent.
[[nodiscard]] std::optional<std::int64_t> window_size(const ConfigReader& config, std::string_view key,
                                                      std::optional<std::int64_t> class_default);

/// Qwen's rule: with `use_sliding_window` the layers from `max_window_layers` on see `sliding_window` keys.
[[nodiscard]] LocalLayers qwen_local_layers(const ConfigReader& config, std::int64_t layers);

}  // namespace flopwatt::model
