#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/model/architecture.hpp"

namespace flopwatt::libtorch {

/// What a causal language model of the two families that are built here is made of: GPT-2 (learned positions, layer
/// norms, fused qkv, a plain MLP) and Llama (rotary positions, RMS norms, grouped-query attention, a gated MLP), with
/// the biases and query-key norms by which Qwen2, Qwen3 and Mistral differ from it.
struct Decoder {
  enum class Style : std::uint8_t { gpt2, llama };
  Style style = Style::llama;
  std::int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocabulary = 0;
  std::int64_t positions = 0;  ///< rows of the position table; 0: rotary
  bool tied = false;           ///< the head is the embedding
  bool qkv_bias = false, out_bias = false, mlp_bias = false;
  bool query_key_norm = false;
  model::Activation activation = model::Activation::silu;
  double norm_epsilon = 1e-6;
  /// Rotary base.  Scaling of the angles for long contexts (rope_scaling) is left out: it changes values, not work.
  double rope_theta = 10'000;
  // Probabilities, as a model in training mode has them.
  double embedding_dropout = 0, attention_dropout = 0, residual_dropout = 0;
};

/// One parameter, under its checkpoint name.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> dims;
};

/// The model that `architecture` (read from `config`, the text of its config.json) describes, for sequences of
/// `sequence` tokens.  Errc::unavailable, `where` "config.json": a family that is not built here, a window shorter than
/// the sequence, or a variant whose tensors are not those of parameters(); Errc::infeasible: a sequence longer than the
/// position table.
[[nodiscard]] Result<Decoder> read_decoder(const model::Architecture& architecture, std::string_view config,
                                           std::int64_t sequence);

/// Every parameter in the order of the layers; a tied head is none.
[[nodiscard]] std::vector<Parameter> parameters(const Decoder& decoder);

}  // namespace flopwatt::libtorch
