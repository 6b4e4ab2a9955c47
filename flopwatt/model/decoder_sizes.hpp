#pragma once

#include <cstdint>
#include <optional>

#include "flopwatt/model/config_reader.hpp"

namespace flopwatt::model {

/// Defaults of a Hugging Face config class, for nested configs that leave out what equals them.
struct DecoderDefaults {
  std::int64_t vocabulary = 0, hidden = 0, layers = 0, heads = 0;
  std::int64_t ffn = 0;                  ///< 0: the class has no such field
  std::optional<std::int64_t> kv_heads;  ///< absent: as many as heads
  std::optional<std::int64_t> head_dim;  ///< absent: hidden / heads
};

/// The sizes that nearly every decoder has, under their usual names.
struct DecoderSizes {
  std::int64_t vocabulary = 1, hidden = 1, layers = 1, heads = 1, kv_heads = 1, head_dim = 1, ffn = 1;
};

/// vocab_size, hidden_size, num_hidden_layers, num_attention_heads, num_key_value_heads, head_dim, intermediate_size.
/// Fails where heads are not a multiple of kv heads, or do not divide the hidden size that head_dim is derived from.
[[nodiscard]] DecoderSizes read_decoder_sizes(const ConfigReader& config, const DecoderDefaults& defaults);

/// hidden / heads, or a failure naming `heads_key` where that is not whole.
[[nodiscard]] std::int64_t divide_heads(const ConfigReader& config, std::string_view heads_key, std::int64_t hidden,
                                        std::int64_t heads);
/// Fails where query heads cannot be shared out over kv heads.
void check_groups(const ConfigReader& config, std::string_view kv_heads_key, std::int64_t heads, std::int64_t kv_heads);

}  // namespace flopwatt::model
