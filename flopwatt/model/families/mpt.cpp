#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::mpt {
namespace {

/// transformers' class knows one form; MosaicML's own code had more, under the same model_type.
void check_supported(const ConfigReader& config) {
  config.require(config.flag("no_bias", true), "no_bias", "is false: an MPT with biases is not supported");
  const auto attention = config.optional_object("attn_config");
  if (!attention) return;
  attention->require(attention->flag("alibi", true), "alibi", "is false: learned positions are not supported");
  attention->require(!attention->flag("qk_ln", false), "qk_ln", "is true: an MPT with query norms is not supported");
  attention->require(attention->text("attn_type", "multihead_attention") == "multihead_attention", "attn_type",
                     "is not multihead_attention, which alone is supported");
}

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size({"d_model", "hidden_size"});
  const std::int64_t layers = config.layers({"n_layers", "num_hidden_layers"});
  const std::int64_t heads = config.size({"n_heads", "num_attention_heads"});
  const std::int64_t head_dim = divide_heads(config, "n_heads", hidden, heads);
  const std::int64_t ffn = config.size("expansion_ratio", 4) * hidden;
  check_supported(config);

  StackBuilder text{draft, hidden, "transformer."};
  text.token_embedding("wte", vocabulary);
  text.layers(layers, "blocks", [&](Layer& layer) {
    layer.layer_norm("norm_1", hidden, false);
    fused_self_attention(layer, "attn", "Wqkv",
                         {.heads = heads, .kv_heads = heads, .head_dim = head_dim, .rotary = false, .out = "out_proj"});
    layer.layer_norm("norm_2", hidden, false);
    plain_mlp(layer, "ffn", {.width = ffn, .bias = false, .up = "up_proj", .down = "down_proj"});
  });
  text.outside().layer_norm("norm_f", hidden, false);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// MosaicML's MPT: alibi positions and no bias anywhere, not even in the norms.
extern const Family family{.name = "mpt", .model_types = {"mpt"}, .class_stems = {"Mpt", "MPT"}, .read = read};

}  // namespace flopwatt::model::families::mpt
