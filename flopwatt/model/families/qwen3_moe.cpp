#include <utility>

#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::qwen3_moe {
namespace {

/// Qwen3MoeConfig's defaults, and those of Qwen3VLMoeTextConfig.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 151936, .hidden = 2048, .layers = 24, .heads = 32, .ffn = 6144, .kv_heads = 4};
constexpr DecoderDefaults kVisionDefaults{
    .vocabulary = 151936, .hidden = 2048, .layers = 24, .heads = 16, .ffn = 5632, .kv_heads = 16};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  // Within Qwen3-VL the experts are stored together.
  const bool of_vision = config.text("model_type", "") == "qwen3_vl_moe_text";
  const DecoderSizes sizes = read_decoder_sizes(config, of_vision ? kVisionDefaults : kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);
  RoutedExperts mixture = read_routed_experts(config, {.experts = {"num_experts", "num_local_experts"},
                                                       .top_k = "num_experts_per_tok",
                                                       .width = "moe_intermediate_size",
                                                       .default_experts = of_vision ? 60 : 128,
                                                       .default_top_k = of_vision ? 4 : 8,
                                                       .default_width = of_vision ? 1408 : 768});
  mixture.activation = activation;
  const std::vector<bool> sparse = experts_in_sparse_steps(config, sizes.layers);
  const bool windowed = config.flag("use_sliding_window", false);
  const LocalLayers local =
      local_layers(config, sizes.layers, windowed ? window_size(config, "sliding_window", 4096) : std::nullopt,
                   [](std::int64_t) { return true; });

  const auto kind_of = [&](std::int64_t i) { return std::pair{bool{sparse[static_cast<std::size_t>(i)]}, local(i)}; };
  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", kind_of, [&](Layer& layer, std::pair<bool, bool> kind) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = attention_bias,
                    .out_bias = attention_bias,
                    .window = local.window(kind.second)});
    query_key_norm(layer, "self_attn", sizes.head_dim, sizes.head_dim);
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    if (!kind.first) return gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
    of_vision ? fused_routed_experts(layer, "mlp", mixture, {.layout = Layout::in_out})
              : routed_experts(layer, "mlp", mixture);
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// Qwen3 mixtures of experts (arXiv 2505.09388): Qwen3's attention, no shared expert.
extern const Family family{
    .name = "qwen3_moe", .model_types = {"qwen3_moe", "qwen3_vl_moe_text"}, .class_stems = {"Qwen3Moe"}, .read = read};

}  // namespace flopwatt::model::families::qwen3_moe
