#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::deepseek {
namespace {

/// DeepseekConfig's defaults in the model's own repository.
constexpr DecoderDefaults kDefaults{.vocabulary = 102400, .hidden = 4096, .layers = 30, .heads = 32, .ffn = 11008};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);
  // Without experts the same class is a dense Llama.
  const bool mixes = config.has("n_routed_experts");
  RoutedExperts mixture;
  if (mixes) {
    mixture = read_routed_experts(config, {.experts = "n_routed_experts",
                                           .top_k = "num_experts_per_tok",
                                           .width = "moe_intermediate_size",
                                           .default_width = 1407});
  }
  mixture.activation = activation;
  const std::int64_t shared = config.count("n_shared_experts", 0);
  std::vector<bool> sparse = experts_behind_dense_layers(config, sizes.layers, 0);
  if (!mixes) sparse.assign(sparse.size(), false);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(
      sizes.layers, "layers", [&](std::int64_t i) { return bool{sparse[static_cast<std::size_t>(i)]}; },
      [&](Layer& layer, bool has_experts) {
        layer.rms_norm("input_layernorm", sizes.hidden);
        self_attention(layer, "self_attn",
                       {.heads = sizes.heads,
                        .kv_heads = sizes.kv_heads,
                        .head_dim = sizes.head_dim,
                        .qkv_bias = attention_bias,
                        .out_bias = attention_bias});
        layer.rms_norm("post_attention_layernorm", sizes.hidden);
        if (!has_experts) return gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
        routed_experts(layer, "mlp", mixture);
        if (shared > 0) shared_expert(layer, "mlp.shared_experts", shared * mixture.width, activation);
      });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// DeepSeekMoE (arXiv 2401.06066): fine-grained experts and shared ones behind a first dense layer.
extern const Family family{.name = "deepseek", .model_types = {"deepseek"}, .class_stems = {"Deepseek"}, .read = read};

}  // namespace flopwatt::model::families::deepseek
