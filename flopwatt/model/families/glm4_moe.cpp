#include "flopwatt/model/building_blocks.hpp"
#include "flopwatt/model/prediction_module.hpp"

namespace flopwatt::model::families::glm4_moe {
namespace {

/// Glm4MoeConfig's defaults: the shape of GLM-4.5-Air.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 151552, .hidden = 4096, .layers = 46, .heads = 96, .ffn = 10944, .kv_heads = 8};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool qkv_bias = config.flag("attention_bias", false);
  const bool norms_heads = config.flag("use_qk_norm", false);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);
  RoutedExperts mixture = read_routed_experts(config, {.experts = {"n_routed_experts", "num_experts"},
                                                       .top_k = "num_experts_per_tok",
                                                       .width = "moe_intermediate_size",
                                                       .default_experts = 128,
                                                       .default_top_k = 8,
                                                       .default_width = 1408});
  mixture.activation = activation;
  mixture.selection_bias = "gate.e_score_correction_bias";
  const std::int64_t shared = config.count("n_shared_experts", 1);
  const std::vector<bool> sparse = experts_behind_dense_layers(config, sizes.layers, 1);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(
      sizes.layers, "layers", [&](std::int64_t i) { return bool{sparse[static_cast<std::size_t>(i)]}; },
      [&](Layer& layer, bool has_experts) {
        layer.rms_norm("input_layernorm", sizes.hidden);
        self_attention(
            layer, "self_attn",
            {.heads = sizes.heads, .kv_heads = sizes.kv_heads, .head_dim = sizes.head_dim, .qkv_bias = qkv_bias});
        if (norms_heads) query_key_norm(layer, "self_attn", sizes.head_dim, sizes.head_dim);
        layer.rms_norm("post_attention_layernorm", sizes.hidden);
        if (!has_experts) return gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
        routed_experts(layer, "mlp", mixture);
        if (shared > 0) shared_expert(layer, "mlp.shared_experts", shared * mixture.width, activation);
      });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
  exclude_prediction_layers(draft.model, config.count({"num_nextn_predict_layers", "num_mtp_layers"}, 0));
}

}  // namespace

/// GLM-4.5 to 4.7 (arXiv 2508.06471).
extern const Family family{.name = "glm4_moe", .model_types = {"glm4_moe"}, .class_stems = {"Glm4Moe"}, .read = read};

}  // namespace flopwatt::model::families::glm4_moe
