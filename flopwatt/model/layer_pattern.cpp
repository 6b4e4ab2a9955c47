#include "flopwatt/model/layer_pattern.hpp"

#include <fmt/format.h>

namespace flopwatt::model {

LocalLayers local_layers(const ConfigReader& config, std::int64_t layers, std::optional<std::int64_t> size,
                         const std::function<bool(std::int64_t)>& rule) {
  LocalLayers result{.size = size, .local = std::vector<bool>(static_cast<std::size_t>(layers), false)};
  const std::vector<std::string> types = config.texts("layer_types");
  if (!types.empty() && types.size() < result.local.size()) {
    config.fail("layer_types", fmt::format("has {} entries for {} layers", types.size(), layers));
    return result;
  }
  for (std::size_t i = 0; i < result.local.size(); ++i) {
    if (types.empty()) {
      result.local[i] = size && rule(static_cast<std::int64_t>(i));
      continue;
    }
    result.local[i] = types[i] == "sliding_attention" || types[i] == "chunked_attention";
    if (result.local[i]) {
      config.require(size.has_value(), "layer_types", "has local layers, but no size of their window is given");
    } else if (types[i] != "full_attention") {
      config.fail("layer_types", fmt::format("names '{}', which this family does not have", base::excerpt(types[i])));
    }
  }
  return result;
}

std::optional<std::int64_t> window_size(const ConfigReader& config, std::string_view key,
                                        std::optional<std::int64_t> class_default) {
  if (config.is_null(key)) return std::nullopt;
  return config.has(key) ? config.size(key) : class_default;
}

LocalLayers qwen_local_layers(const ConfigReader& config, std::int64_t layers) {
  const bool used = config.flag("use_sliding_window", false);
  const std::int64_t first = config.count("max_window_layers", 28);
  return local_layers(config, layers, used ? window_size(config, "sliding_window", 4096) : std::nullopt,
                      [&](std::int64_t layer) { return layer >= first; });
}

}  // namespace flopwatt::model
