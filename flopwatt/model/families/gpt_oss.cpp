#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::gpt_oss {
namespace {

/// GptOssConfig's defaults: the shape of gpt-oss-120b.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 201088, .hidden = 2880, .layers = 36, .heads = 64, .ffn = 2880, .kv_heads = 8, .head_dim = 64};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", true);
  RoutedExperts mixture = read_routed_experts(config, {.experts = {"num_local_experts", "num_experts"},
                                                       .top_k = {"num_experts_per_tok", "experts_per_token"},
                                                       .width = "intermediate_size",
                                                       .default_experts = 128,
                                                       .default_top_k = 4,
                                                       .default_width = kDefaults.ffn});
  mixture.router = "router";
  mixture.router_bias = true;
  // Every other layer sees a window, beginning with the first.
  const LocalLayers local = local_layers(config, sizes.layers, window_size(config, "sliding_window", 128),
                                         [](std::int64_t layer) { return layer % 2 == 0; });

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", local, [&](Layer& layer, bool is_local) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = attention_bias,
                    .out_bias = attention_bias,
                    .window = local.window(is_local)});
    // A learned logit of each head that takes part in the softmax and stands for no key.
    layer.tensor("self_attn.sinks", "attention.sinks", {sizes.heads}, Component::attention, Use::scale);
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    fused_routed_experts(layer, "mlp", mixture, {.layout = Layout::in_out, .bias = true});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// gpt-oss: biases everywhere, attention sinks, alternating windows.
extern const Family family{.name = "gpt_oss", .model_types = {"gpt_oss"}, .class_stems = {"GptOss"}, .read = read};

}  // namespace flopwatt::model::families::gpt_oss
