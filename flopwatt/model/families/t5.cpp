#include <fmt/format.h>

#include <string>

#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::t5 {
namespace {

struct Shape {
  std::int64_t vocabulary = 1, hidden = 1, heads = 1, head_dim = 1, ffn = 1, buckets = 1;
  std::int64_t encoder_layers = 1, decoder_layers = 1;
  bool gated = false;
  bool bias_in_every_layer = false;  ///< of positions relative to each other; else the first layer's serves all
  Activation activation = Activation::relu;
};

Shape read_shape(const Draft& draft) {
  const ConfigReader& config = draft.config;
  Shape shape{.vocabulary = config.size("vocab_size"),
              .hidden = config.size("d_model"),
              .heads = config.size("num_heads"),
              .head_dim = config.size("d_kv"),
              .ffn = config.size("d_ff"),
              .buckets = config.size("relative_attention_num_buckets", 32),
              .encoder_layers = config.layers("num_layers"),
              .bias_in_every_layer = draft.model.model_type == "umt5"};
  shape.decoder_layers = config.has("num_decoder_layers") ? config.layers("num_decoder_layers") : shape.encoder_layers;
  const std::string form = config.text("feed_forward_proj", draft.model.model_type == "t5" ? "relu" : "gated-gelu");
  constexpr std::string_view kGated = "gated-";
  shape.gated = form.starts_with(kGated);
  const std::string name = shape.gated ? form.substr(kGated.size()) : form;
  if (name == "gelu") {
    shape.activation = Activation::gelu_tanh;
  } else if (name == "silu") {
    shape.activation = Activation::silu;
  } else if (name != "relu") {
    config.fail("feed_forward_proj", fmt::format("is '{}', which is not known", base::excerpt(form)));
  }
  return shape;
}

/// A bias of each head for each distance: added to the scores, so that a token takes no row of it.
void relative_bias(Module attention, const Shape& shape) {
  attention.tensor("relative_attention_bias.weight", "attention.relative_bias", {shape.buckets, shape.heads},
                   Component::attention, Use::scale);
}

void feed_forward(Layer& layer, const std::string& place, const Shape& shape) {
  const std::string name = place + ".DenseReluDense";
  layer.rms_norm(place + ".layer_norm", shape.hidden);
  if (shape.gated) {
    return gated_mlp(layer, name,
                     {.width = shape.ffn, .activation = shape.activation, .gate = "wi_0", .up = "wi_1", .down = "wo"});
  }
  plain_mlp(layer, name, {.width = shape.ffn, .activation = shape.activation, .bias = false, .up = "wi", .down = "wo"});
}

void block(Layer& layer, const Shape& shape, bool decodes) {
  SelfAttention attention{.heads = shape.heads,
                          .kv_heads = shape.heads,
                          .head_dim = shape.head_dim,
                          .causal = decodes,
                          .rotary = false,
                          .q = "q",
                          .k = "k",
                          .v = "v",
                          .out = "o"};
  layer.block().elementwise.residuals = decodes ? 3 : 2;
  layer.rms_norm("layer.0.layer_norm", shape.hidden);
  self_attention(layer, "layer.0.SelfAttention", attention);
  if (shape.bias_in_every_layer) relative_bias(layer / "layer.0.SelfAttention", shape);
  if (decodes) {
    layer.rms_norm("layer.1.layer_norm", shape.hidden);
    cross_attention(layer, "layer.1.EncDecAttention", attention);
  }
  feed_forward(layer, decodes ? "layer.2" : "layer.1", shape);
}

void stack_layers(StackBuilder& stack, const Shape& shape, bool decodes) {
  const std::int64_t layers = decodes ? shape.decoder_layers : shape.encoder_layers;
  stack.layers(layers, "block", [&](Layer& layer) { block(layer, shape, decodes); });
  if (!shape.bias_in_every_layer) relative_bias(stack.outside() / "block.0.layer.0.SelfAttention", shape);
  stack.outside().rms_norm("final_layer_norm", shape.hidden);
}

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const Shape shape = read_shape(draft);
  const bool encoder_alone = draft.model.class_name.ends_with("EncoderModel");
  config.require(draft.head == Head::none || draft.head == Head::language_model, "architectures",
                 "names a head that is not supported for this family");

  StackBuilder encoder{StackRole::encoder, shape.hidden, "encoder."};
  if (encoder_alone) {
    encoder.outside("").lookup("shared", "embedding", shape.vocabulary, shape.hidden);
    draft.model.vocabulary = shape.vocabulary;
  } else {
    // The same words as the decoder's: looked up here, counted there.
    encoder.outside()
        .tensor("embed_tokens.weight", "embedding", {shape.vocabulary, shape.hidden}, Component::embedding, Use::lookup)
        .tied = true;
    draft.body_prefix = "decoder.";
    StackBuilder decoder{draft, shape.hidden, "decoder."};
    decoder.shared_embedding("shared", shape.vocabulary, "");
    stack_layers(decoder, shape, true);
    // Files of the first T5 say nothing and tie; those of 1.1 and later say false and store a head.
    decoder.head({.tied = draft.tied_embeddings(draft.model.model_type != "mt5")});
    draft.model.vocabulary = shape.vocabulary;
    decoder.finish(draft.model);
  }
  stack_layers(encoder, shape, false);
  encoder.finish(draft.model);
}

}  // namespace

/// T5 (arXiv 1910.10683), T5 1.1, Flan-T5, mT5 and umT5: encoder and decoder with relative positions.
extern const Family family{
    .name = "t5", .model_types = {"t5", "mt5", "umt5"}, .class_stems = {"T5", "MT5", "UMT5"}, .read = read};

}  // namespace flopwatt::model::families::t5
