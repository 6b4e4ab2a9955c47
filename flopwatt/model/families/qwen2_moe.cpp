#include <utility>

#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::qwen2_moe {
namespace {

/// Qwen2MoeConfig's defaults: the shape of Qwen1.5-MoE-A2.7B.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 151936, .hidden = 2048, .layers = 24, .heads = 16, .ffn = 5632, .kv_heads = 16};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool qkv_bias = config.flag("qkv_bias", true);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);
  RoutedExperts mixture = read_routed_experts(config, {.experts = {"num_experts", "num_local_experts"},
                                                       .top_k = "num_experts_per_tok",
                                                       .width = "moe_intermediate_size",
                                                       .default_experts = 60,
                                                       .default_top_k = 4,
                                                       .default_width = 1408});
  mixture.activation = activation;
  const std::int64_t shared_width = config.shape("shared_expert_intermediate_size", 5632);
  const std::vector<bool> sparse = experts_in_sparse_steps(config, sizes.layers);
  const LocalLayers local = qwen_local_layers(config, sizes.layers);

  const auto kind_of = [&](std::int64_t i) { return std::pair{bool{sparse[static_cast<std::size_t>(i)]}, local(i)}; };
  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", kind_of, [&](Layer& layer, std::pair<bool, bool> kind) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = qkv_bias,
                    .window = local.window(kind.second)});
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    if (!kind.first) return gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
    routed_experts(layer, "mlp", mixture);
    gated_shared_expert(layer, "mlp.shared_expert", shared_width, activation);
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// Qwen1.5-MoE and Qwen2-57B-A14B (arXiv 2407.10671): Qwen2 with many small experts and a shared one.
extern const Family family{
    .name = "qwen2_moe", .model_types = {"qwen2_moe"}, .class_stems = {"Qwen2Moe"}, .read = read};

}  // namespace flopwatt::model::families::qwen2_moe
