#include "flopwatt/model/building_blocks.hpp"
#include "flopwatt/model/multimodal.hpp"

namespace flopwatt::model::families::ministral3 {
namespace {

/// Ministral3Config's defaults: the shape of Ministral 3 8B.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 131072, .hidden = 4096, .layers = 34, .heads = 32, .ffn = 14336, .kv_heads = 8, .head_dim = 128};

void read(Draft& draft) {
  // Some files give the whole model its language model's name.
  if (has_text_config(draft)) return family_of_model_type("mistral3")->read(draft);
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const std::optional<std::int64_t> window = window_size(config, "sliding_window", std::nullopt);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads, .kv_heads = sizes.kv_heads, .head_dim = sizes.head_dim, .window = window});
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// The language model of Ministral 3.
extern const Family family{
    .name = "ministral3", .model_types = {"ministral3"}, .class_stems = {"Ministral3"}, .read = read};

}  // namespace flopwatt::model::families::ministral3
