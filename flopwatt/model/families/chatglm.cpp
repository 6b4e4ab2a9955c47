#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::chatglm {
namespace {

/// ChatGLM-6B, the first: GPT's layers with biases everywhere and two-dimensional rotary positions.
void read_first(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size("hidden_size");
  const std::int64_t layers = config.layers({"num_layers", "num_hidden_layers"});
  const std::int64_t heads = config.size("num_attention_heads");
  const std::int64_t ffn = config.size("inner_hidden_size");
  const std::int64_t head_dim = divide_heads(config, "num_attention_heads", hidden, heads);

  StackBuilder text{draft, hidden, "transformer."};
  text.token_embedding("word_embeddings", vocabulary);
  text.layers(layers, "layers", [&](Layer& layer) {
    layer.layer_norm("input_layernorm", hidden);
    fused_self_attention(
        layer, "attention", "query_key_value",
        {.heads = heads, .kv_heads = heads, .head_dim = head_dim, .qkv_bias = true, .out_bias = true, .out = "dense"});
    layer.layer_norm("post_attention_layernorm", hidden);
    plain_mlp(layer, "mlp",
              {.width = ffn, .activation = Activation::gelu_tanh, .up = "dense_h_to_4h", .down = "dense_4h_to_h"});
  });
  text.outside().layer_norm("final_layernorm", hidden);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

void read(Draft& draft) {
  if (draft.head == Head::none) draft.head = Head::language_model;  // ChatGLMModel has a head
  if (draft.config.has("inner_hidden_size")) return read_first(draft);
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size({"padded_vocab_size", "vocab_size"});
  const std::int64_t hidden = config.size("hidden_size");
  const std::int64_t layers = config.layers({"num_layers", "num_hidden_layers"});
  const std::int64_t heads = config.size("num_attention_heads");
  const std::int64_t head_dim = config.size("kv_channels", 128);
  const std::int64_t kv_heads =
      config.flag("multi_query_attention", false) ? config.size("multi_query_group_num") : heads;
  const std::int64_t ffn = config.size("ffn_hidden_size");
  const bool linear_bias = config.flag("add_bias_linear", false);
  const bool qkv_bias = config.flag("add_qkv_bias", false);
  check_groups(config, "multi_query_group_num", heads, kv_heads);
  const auto norm = [rms = config.flag("rmsnorm", true), hidden](auto& place, std::string_view name) {
    rms ? place.rms_norm(name, hidden) : place.layer_norm(name, hidden);
  };

  StackBuilder text{draft, hidden, "transformer."};
  text.token_embedding("embedding.word_embeddings", vocabulary);
  text.layers(layers, "encoder.layers", [&](Layer& layer) {
    norm(layer, "input_layernorm");
    fused_self_attention(layer, "self_attention", "query_key_value",
                         {.heads = heads,
                          .kv_heads = kv_heads,
                          .head_dim = head_dim,
                          .qkv_bias = linear_bias || qkv_bias,
                          .out_bias = linear_bias,
                          .out = "dense"});
    norm(layer, "post_attention_layernorm");
    fused_gated_mlp(layer, "mlp", "dense_h_to_4h", {.width = ffn, .bias = linear_bias, .down = "dense_4h_to_h"});
  });
  Module outside = text.outside();
  if (config.flag("post_layer_norm", true)) norm(outside, "encoder.final_layernorm");
  text.head({.name = "transformer.output_layer", .tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
  exclude_rotary_buffers(draft.model, 1, head_dim / 2);  // half of each head is rotated
}

}  // namespace

/// ChatGLM 1 to 3 and GLM-4-9B under their first model_type (arXiv 2406.12793).
extern const Family family{.name = "chatglm", .model_types = {"chatglm"}, .class_stems = {"ChatGLM"}, .read = read};

}  // namespace flopwatt::model::families::chatglm
