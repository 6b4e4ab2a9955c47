#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "flopwatt/model/read_config.hpp"

/// For the tests of families: one shape, small enough to count by hand.

namespace flopwatt::model {

/// 10 words, hidden 8, 2 layers, 4 heads of 2 over 2 kv heads, feed-forward 12, 6 positions; `extra` is appended
/// (", "key": value").
inline std::string small_config(std::string_view model_type, std::string_view extra = "") {
  return R"({"model_type": ")" + std::string{model_type} +
         R"(", "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 4,
             "num_key_value_heads": 2, "intermediate_size": 12, "max_position_embeddings": 6)" +
         std::string{extra} + "}";
}

/// The same under GPT-2's names, without kv heads and feed-forward width.
inline std::string small_gpt_config(std::string_view model_type, std::string_view extra = "") {
  return R"({"model_type": ")" + std::string{model_type} +
         R"(", "vocab_size": 10, "n_embd": 8, "n_layer": 2, "n_head": 4, "n_positions": 6)" + std::string{extra} + "}";
}

inline Architecture read_small(std::string_view json) {
  Result<Architecture> model = read_config(json, "config.json");
  EXPECT_TRUE(model.has_value()) << model.error().message();
  return model ? std::move(*model) : Architecture{.stacks = {Stack{}}};
}

inline units::Count total_of(std::string_view json) { return census(read_small(json)).total; }

/// The message of the refusal.
inline std::string refusal_of(std::string_view json) {
  const Result<Architecture> model = read_config(json, "config.json");
  EXPECT_FALSE(model.has_value()) << json;
  return model ? std::string{} : model.error().message();
}

}  // namespace flopwatt::model
