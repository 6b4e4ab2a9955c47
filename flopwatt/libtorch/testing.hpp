#pragma once

#include <string>

namespace flopwatt::libtorch::testing {

// Small enough for a step of milliseconds; every size is different, so that a mix-up of two changes a count.

/// GPT-2: 2 layers, hidden 24, 3 heads of 8, MLP 96, vocabulary 101.
inline const std::string kGpt2 = R"({"model_type": "gpt2", "vocab_size": 101, "n_positions": 64, "n_embd": 24,
  "n_layer": 2, "n_head": 3})";
/// Qwen2: qkv biases, grouped queries (4 heads on 2), tied head.
inline const std::string kQwen2 = R"({"model_type": "qwen2", "vocab_size": 103, "hidden_size": 32,
  "intermediate_size": 88, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
  "max_position_embeddings": 128, "tie_word_embeddings": true, "use_sliding_window": false})";
/// Llama: no biases, an untied head, heads of another width than hidden / heads.
inline const std::string kLlama = R"({"model_type": "llama", "vocab_size": 107, "hidden_size": 40,
  "intermediate_size": 72, "num_hidden_layers": 2, "num_attention_heads": 5, "num_key_value_heads": 1, "head_dim": 16,
  "max_position_embeddings": 128, "tie_word_embeddings": false})";
/// Qwen3: query and key norms.
inline const std::string kQwen3 = R"({"model_type": "qwen3", "vocab_size": 109, "hidden_size": 32,
  "intermediate_size": 56, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 12,
  "max_position_embeddings": 128, "tie_word_embeddings": true, "use_sliding_window": false})";

}  // namespace flopwatt::libtorch::testing
