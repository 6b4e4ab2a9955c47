#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::dbrx {
namespace {

/// A config object that may be left out, and then has the defaults of its class.
std::int64_t nested_shape(const ConfigReader& config, std::string_view object, std::string_view key,
                          std::int64_t class_default) {
  const auto nested = config.optional_object(object);
  return nested ? nested->shape(key, class_default) : class_default;
}

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size({"d_model", "hidden_size"});
  const std::int64_t layers = config.layers({"n_layers", "num_hidden_layers"});
  const std::int64_t heads = config.size({"n_heads", "num_attention_heads"});
  const std::int64_t kv_heads = nested_shape(config, "attn_config", "kv_n_heads", 1);
  const std::int64_t head_dim = divide_heads(config, "n_heads", hidden, heads);
  check_groups(config, "attn_config.kv_n_heads", heads, kv_heads);
  RoutedExperts mixture{.experts = nested_shape(config, "ffn_config", "moe_num_experts", 4),
                        .top_k = nested_shape(config, "ffn_config", "moe_top_k", 1),
                        .width = nested_shape(config, "ffn_config", "ffn_hidden_size", 3584),
                        .router = "router.layer"};
  config.require(mixture.top_k <= mixture.experts, "ffn_config.moe_top_k", "is more than the experts");
  if (const auto ffn = config.optional_object("ffn_config"); ffn && ffn->is_object("ffn_act_fn")) {
    mixture.activation = read_activation(ffn->object("ffn_act_fn"), "name", Activation::silu);
  }

  StackBuilder text{draft, hidden, "transformer."};
  text.token_embedding("wte", vocabulary);
  text.layers(layers, "blocks", [&](Layer& layer) {
    layer.layer_norm("norm_attn_norm.norm_1", hidden, false);
    fused_self_attention(layer, "norm_attn_norm.attn", "Wqkv",
                         {.heads = heads, .kv_heads = kv_heads, .head_dim = head_dim, .out = "out_proj"});
    layer.layer_norm("norm_attn_norm.norm_2", hidden, false);
    Module ffn = layer / "ffn";
    route(layer, ffn, mixture);
    // Each of the three is the experts' weights below one another, w2 stored the way the others are.
    const std::int64_t rows = mixture.experts * mixture.width;
    expert_product(ffn, "experts.mlp.w1", "experts.gate", {rows, hidden}, hidden, mixture.width);
    expert_product(ffn, "experts.mlp.v1", "experts.up", {rows, hidden}, hidden, mixture.width);
    expert_product(ffn, "experts.mlp.w2", "experts.down", {rows, hidden}, mixture.width, hidden);
  });
  text.outside().layer_norm("norm_f", hidden, false);
  // The objects inside say `tie_word_embeddings: true` of themselves, which means nothing.
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// DBRX: norms without biases, clipped q, k and v, 16 fine-grained experts.
extern const Family family{.name = "dbrx", .model_types = {"dbrx"}, .class_stems = {"Dbrx"}, .read = read};

}  // namespace flopwatt::model::families::dbrx
