#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::whisper {
namespace {

/// A part of the model: encoder or decoder.
struct Part {
  std::int64_t layers = 1, heads = 1, ffn = 1, positions = 1;
};

SelfAttention attention_of(const Part& part, std::int64_t hidden, bool causal) {
  return {.heads = part.heads,
          .kv_heads = part.heads,
          .head_dim = hidden / part.heads,
          .qkv_bias = true,
          .out_bias = true,
          .k_bias = false,
          .causal = causal,
          .rotary = false,
          .out = "out_proj"};
}

void layers_of(StackBuilder& stack, const Part& part, Activation activation, bool decodes) {
  const std::int64_t hidden = stack.hidden();
  const SelfAttention attention = attention_of(part, hidden, decodes);
  stack.layers(part.layers, "layers", [&](Layer& layer) {
    layer.block().elementwise.residuals = decodes ? 3 : 2;
    layer.layer_norm("self_attn_layer_norm", hidden);
    self_attention(layer, "self_attn", attention);
    if (decodes) {
      layer.layer_norm("encoder_attn_layer_norm", hidden);
      cross_attention(layer, "encoder_attn", attention);
    }
    layer.layer_norm("final_layer_norm", hidden);
    plain_mlp(layer, "", {.width = part.ffn, .activation = activation, .up = "fc1", .down = "fc2"});
  });
  stack.outside().layer_norm("layer_norm", hidden);
}

/// A convolution over three frames with all channels: a product of [3·in] for each frame that it gives.
void convolution(Module module, std::string_view name, std::int64_t in, std::int64_t out, std::int64_t frames) {
  constexpr std::int64_t kTaps = 3;
  Tensor& product = module.tensor(std::string{name} + ".weight", "audio.convolution", {out, in, kTaps},
                                  Component::other, Use::product);
  product.k = kTaps * in;
  product.n = out;
  product.rows_factor = frames;
  module.tensor(std::string{name} + ".bias", "audio.convolution", {out}, Component::other, Use::bias);
}

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size("d_model");
  const Part encoder_part{.layers = config.layers("encoder_layers"),
                          .heads = config.size("encoder_attention_heads"),
                          .ffn = config.size("encoder_ffn_dim"),
                          .positions = config.size("max_source_positions", 1500)};
  const Part decoder_part{.layers = config.layers("decoder_layers"),
                          .heads = config.size("decoder_attention_heads"),
                          .ffn = config.size("decoder_ffn_dim"),
                          .positions = config.size("max_target_positions", 448)};
  const std::int64_t mels = config.size("num_mel_bins", 80);
  const Activation activation = read_activation(config, "activation_function", Activation::gelu);
  (void)divide_heads(config, "encoder_attention_heads", hidden, encoder_part.heads);
  (void)divide_heads(config, "decoder_attention_heads", hidden, decoder_part.heads);
  const bool with_head = draft.model.class_name.empty() || draft.model.class_name.ends_with("ForConditionalGeneration");
  config.require(with_head || draft.head == Head::none, "architectures",
                 "names a head that is not supported for this family");
  const std::string prefix = draft.head == Head::none ? "" : "model.";
  draft.model.max_positions = decoder_part.positions;

  draft.body_prefix = prefix + "decoder.";
  StackBuilder decoder{draft, hidden, *draft.body_prefix};
  decoder.token_embedding("embed_tokens", vocabulary);
  decoder.outside().lookup("embed_positions", "embedding", decoder_part.positions, hidden);
  layers_of(decoder, decoder_part, activation, true);
  decoder.head({.name = "proj_out", .tied = draft.tied_embeddings(true)});
  draft.model.vocabulary = vocabulary;
  decoder.finish(draft.model);

  StackBuilder encoder{StackRole::audio, hidden, prefix + "encoder."};
  // The second convolution leaves every other frame out.
  convolution(encoder.outside(), "conv1", mels, hidden, 2);
  convolution(encoder.outside(), "conv2", hidden, hidden, 1);
  encoder.outside().lookup("embed_positions", "embedding", encoder_part.positions, hidden);
  layers_of(encoder, encoder_part, activation, false);
  encoder.finish(draft.model);
}

}  // namespace

/// Whisper (arXiv 2212.04356): an encoder of audio frames and a decoder of text.
extern const Family family{.name = "whisper", .model_types = {"whisper"}, .class_stems = {"Whisper"}, .read = read};

}  // namespace flopwatt::model::families::whisper
