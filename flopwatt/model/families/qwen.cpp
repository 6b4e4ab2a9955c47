#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::qwen {
namespace {

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size(config.has("padded_vocab_size") ? "padded_vocab_size" : "vocab_size");
  const std::int64_t hidden = config.size({"hidden_size", "n_embd"});
  const std::int64_t layers = config.layers({"num_hidden_layers", "n_layer"});
  const std::int64_t heads = config.size({"num_attention_heads", "n_head"});
  const std::int64_t head_dim = config.size("kv_channels", 128);
  const std::int64_t both_ffn_halves = config.size({"intermediate_size", "ffn_hidden_size"});
  const bool bias = !config.flag("no_bias", true);
  config.require(both_ffn_halves % 2 == 0, "intermediate_size", "is odd, but holds the gate and the up half");

  StackBuilder text{draft, hidden, "transformer."};
  text.token_embedding("wte", vocabulary);
  text.layers(layers, "h", [&](Layer& layer) {
    layer.rms_norm("ln_1", hidden);
    fused_self_attention(
        layer, "attn", "c_attn",
        {.heads = heads, .kv_heads = heads, .head_dim = head_dim, .qkv_bias = true, .out_bias = bias, .out = "c_proj"});
    layer.rms_norm("ln_2", hidden);
    gated_mlp(layer, "mlp", {.width = both_ffn_halves / 2, .bias = bias, .gate = "w2", .up = "w1", .down = "c_proj"});
  });
  text.outside().rms_norm("ln_f", hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// Qwen 1 (arXiv 2309.16609), whose intermediate_size counts gate and up together.
extern const Family family{.name = "qwen", .model_types = {"qwen"}, .class_stems = {"QWen"}, .read = read};

}  // namespace flopwatt::model::families::qwen
