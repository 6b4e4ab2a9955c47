#include "flopwatt/model/layer_pattern.hpp"

#include <fmt/format.h>

namespace flopwatt::model {

std::vector<bool> local_layers(const ConfigReader& config, std::int64_t layers,
                               const std::function<bool(std::int64_t)>& rule) {
  std::vector<bool> local;
  const std::vector<std::string> types = config.texts("layer_types");
  if (!types.empty() && types.size() < static_cast<std::size_t>(layers)) {
    config.fail("layer_types", fmt::format("has {} entries for {} layers", types.size(), layers));
    return std::vector<bool>(static_cast<std::size_t>(layers), false);
  }
  for (std::int64_t i = 0; i < layers; ++i) {
    if (types.empty()) {
      local.push_back(rule(i));
      continue;
    }
    const std::string& type = types[static_cast<std::size_t>(i)];
    local.push_back(type == "sliding_attention" || type == "chunked_attention");
    if (!local.back() && type != "full_attention") {
      config.fail("layer_types", fmt::format("names '{}', which this family does not have", base::excerpt(type)));
    }
  }
  return local;
}

std::optional<std::int64_t> window_size(const ConfigReader& config, std::string_view key,
                                        std::optional<std::int64_t> class_default) {
  if (config.is_null(key)) return std::nullopt;
  return config.has(key) ? config.size(key) : class_default;
}

QwenWindows qwen_windows(const ConfigReader& config, std::int64_t layers) {
  QwenWindows windows;
  if (config.flag("use_sliding_window", false)) windows.window = window_size(config, "sliding_window", 4096);
  const std::int64_t first = config.count("max_window_layers", 28);
  windows.local = local_layers(config, layers, [&](std::int64_t i) { return windows.window && i >= first; });
  return windows;
}

}  // namespace flopwatt::model
