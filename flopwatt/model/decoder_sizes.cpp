#include "flopwatt/model/decoder_sizes.hpp"

#include <fmt/format.h>

namespace flopwatt::model {

std::int64_t divide_heads(const ConfigReader& config, std::string_view heads_key, std::int64_t hidden,
                          std::int64_t heads) {
  if (hidden % heads == 0) return hidden / heads;
  config.fail(heads_key, fmt::format("is {}, which does not divide the hidden size {}", heads, hidden));
  return 1;
}

void check_groups(const ConfigReader& config, std::string_view kv_heads_key, std::int64_t heads,
                  std::int64_t kv_heads) {
  if (heads % kv_heads == 0) return;
  config.fail(kv_heads_key, fmt::format("is {}, which does not divide the {} attention heads", kv_heads, heads));
}

DecoderSizes read_decoder_sizes(const ConfigReader& config, const DecoderDefaults& defaults) {
  DecoderSizes sizes{.vocabulary = config.shape("vocab_size", defaults.vocabulary),
                     .hidden = config.shape("hidden_size", defaults.hidden),
                     .layers = config.layers("num_hidden_layers", defaults.layers),
                     .heads = config.shape("num_attention_heads", defaults.heads),
                     .ffn = defaults.ffn > 0 ? config.shape("intermediate_size", defaults.ffn) : 0};
  // null and absent differ here: null asks for one kv head a query head, absent takes the class default.
  const bool as_heads = config.is_null("num_key_value_heads") || !defaults.kv_heads;
  if (!as_heads && !config.has("num_key_value_heads")) {
    config.note(fmt::format("num_key_value_heads is missing: the default of its class, {}", *defaults.kv_heads));
  }
  sizes.kv_heads = config.size("num_key_value_heads", as_heads ? sizes.heads : *defaults.kv_heads);
  check_groups(config, "num_key_value_heads", sizes.heads, sizes.kv_heads);
  sizes.head_dim = config.has("head_dim") ? config.size("head_dim")
                   : defaults.head_dim    ? *defaults.head_dim
                                          : divide_heads(config, "num_attention_heads", sizes.hidden, sizes.heads);
  return sizes;
}

}  // namespace flopwatt::model
