#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::opt {
namespace {

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size("hidden_size");
  const std::int64_t layers = config.layers("num_hidden_layers");
  const std::int64_t heads = config.size("num_attention_heads");
  const std::int64_t ffn = config.size("ffn_dim");
  const std::int64_t positions = config.size("max_position_embeddings");
  const std::int64_t embedding_width = config.size("word_embed_proj_dim", hidden);
  const std::int64_t head_dim = divide_heads(config, "num_attention_heads", hidden, heads);
  const bool bias = config.flag("enable_bias", true);
  const Activation activation = read_activation(config, "activation_function", Activation::relu);
  config.require(config.flag("layer_norm_elementwise_affine", true), "layer_norm_elementwise_affine",
                 "is false: norms without weights are not supported");

  StackBuilder text{draft, hidden, "model.decoder."};
  text.token_embedding("embed_tokens", vocabulary, embedding_width);
  // The first two rows are left over from fairseq's padding.
  text.outside().lookup("embed_positions", "embedding.position", positions + 2, hidden);
  if (embedding_width != hidden) {
    text.outside().linear({.name = "project_in",
                           .label = "embedding.project_in",
                           .component = Component::other,
                           .in = embedding_width,
                           .out = hidden});
  }
  text.layers(layers, "layers", [&](Layer& layer) {
    layer.layer_norm("self_attn_layer_norm", hidden);
    self_attention(layer, "self_attn",
                   {.heads = heads,
                    .kv_heads = heads,
                    .head_dim = head_dim,
                    .qkv_bias = bias,
                    .out_bias = bias,
                    .rotary = false,
                    .out = "out_proj"});
    layer.layer_norm("final_layer_norm", hidden);
    plain_mlp(layer, "", {.width = ffn, .activation = activation, .bias = bias, .up = "fc1", .down = "fc2"});
  });
  // OPT-350m normalises behind each sublayer instead, and has no norm at the end.
  if (config.flag("do_layer_norm_before", true) && !config.flag("_remove_final_layer_norm", false)) {
    text.outside().layer_norm("final_layer_norm", hidden);
  }
  if (embedding_width != hidden) {
    text.outside().linear({.name = "project_out",
                           .label = "lm_head.project_out",
                           .component = Component::other,
                           .in = hidden,
                           .out = embedding_width});
  }
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// OPT (arXiv 2205.01068) and Galactica: GPT-2's layers with unfused projections and ReLU.
extern const Family family{.name = "opt", .model_types = {"opt"}, .class_stems = {"OPT"}, .read = read};

}  // namespace flopwatt::model::families::opt
