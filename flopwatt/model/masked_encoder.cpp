#include "flopwatt/model/masked_encoder.hpp"

#include <string>

#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model {
namespace {

struct EncoderShape {
  std::int64_t vocabulary = 1, hidden = 1, layers = 1, heads = 1, ffn = 1, positions = 1, types = 1;
  Activation activation = Activation::gelu;
};

EncoderShape read_encoder_shape(const ConfigReader& config) {
  const EncoderShape shape{.vocabulary = config.size("vocab_size"),
                           .hidden = config.size("hidden_size"),
                           .layers = config.layers("num_hidden_layers"),
                           .heads = config.size("num_attention_heads"),
                           .ffn = config.size("intermediate_size"),
                           .positions = config.size("max_position_embeddings"),
                           .types = config.size("type_vocab_size"),
                           .activation = read_activation(config, "hidden_act", Activation::gelu)};
  const std::string positions = config.text("position_embedding_type", "absolute");
  config.require(positions == "absolute", "position_embedding_type", "is not 'absolute': not supported");
  config.require(!config.flag("add_cross_attention", false), "add_cross_attention", "is true: not supported");
  return shape;
}

/// Norms stand behind each sublayer and take in its residual.
void encoder_layer(Layer& layer, const EncoderShape& shape, std::int64_t head_dim, bool causal) {
  self_attention(layer, "attention",
                 {.heads = shape.heads,
                  .kv_heads = shape.heads,
                  .head_dim = head_dim,
                  .qkv_bias = true,
                  .out_bias = true,
                  .causal = causal,
                  .rotary = false,
                  .q = "self.query",
                  .k = "self.key",
                  .v = "self.value",
                  .out = "output.dense"});
  layer.layer_norm("attention.output.LayerNorm", shape.hidden);
  plain_mlp(layer, "",
            {.width = shape.ffn, .activation = shape.activation, .up = "intermediate.dense", .down = "output.dense"});
  layer.layer_norm("output.LayerNorm", shape.hidden);
}

Linear top(std::string_view name, std::int64_t in, std::int64_t out, Rows rows) {
  return {.name = name,
          .label = "classification",
          .component = Component::other,
          .in = in,
          .out = out,
          .bias = true,
          .rows = rows};
}

/// A product before the vocabulary's, with a norm; the vocabulary product is the embedding again, with a bias.
void masked_head(Draft& draft, StackBuilder& stack, const EncoderShape& shape, const MaskedEncoder& line) {
  const bool tied = draft.tied_embeddings(true);
  draft.model.tied_embeddings = tied;
  Module module = stack.outside(std::string{line.head});
  module.linear({.name = line.transform,
                 .label = "lm_head.transform",
                 .component = Component::other,
                 .in = shape.hidden,
                 .out = shape.hidden,
                 .bias = true,
                 .rows = Rows::logits});
  module.layer_norm(line.norm, shape.hidden);
  Tensor& decoder =
      module.tensor("decoder.weight", "lm_head", {shape.vocabulary, shape.hidden}, Component::lm_head, Use::product);
  decoder.k = shape.hidden;
  decoder.n = shape.vocabulary;
  decoder.rows = Rows::logits;
  decoder.tied = tied;
  module.tensor("bias", "lm_head", {shape.vocabulary}, tied ? Component::other : Component::lm_head, Use::bias).rows =
      Rows::logits;
}

void put_on_top(Draft& draft, StackBuilder& stack, const EncoderShape& shape, const MaskedEncoder& line,
                const std::string& body) {
  Module outside = stack.outside("");
  const std::int64_t h = shape.hidden;
  const auto pooler = [&] { stack.outside(body).linear(top("pooler.dense", h, h, Rows::sequences)); };
  switch (draft.head) {
    case Head::none:
      return pooler();
    case Head::sequence_class:
      if (line.pooled_classifier) {
        pooler();
        return outside.linear(top("classifier", h, draft.labels, Rows::sequences));
      }
      outside.linear(top("classifier.dense", h, h, Rows::sequences));
      return outside.linear(top("classifier.out_proj", h, draft.labels, Rows::sequences));
    case Head::token_class:
      return outside.linear(top("classifier", h, draft.labels, Rows::tokens));
    case Head::answer_span:
      return outside.linear(top("qa_outputs", h, 2, Rows::tokens));
    case Head::masked_model:
      if (draft.model.class_name.ends_with("ForPreTraining")) {
        pooler();
        outside.linear(top("cls.seq_relationship", h, 2, Rows::sequences));
      }
      break;
    case Head::language_model:
      break;
  }
  masked_head(draft, stack, shape, line);
}

}  // namespace

void read_masked_encoder(Draft& draft, const MaskedEncoder& line) {
  const ConfigReader& config = draft.config;
  const EncoderShape shape = read_encoder_shape(config);
  const std::int64_t head_dim = divide_heads(config, "num_attention_heads", shape.hidden, shape.heads);
  if (draft.model.class_name.empty()) {
    config.note("no class is named: the body with its pooler");
    draft.head = Head::none;
  }
  const bool causal = config.flag("is_decoder", false);
  const std::string body = draft.head == Head::none ? "" : std::string{line.body};
  draft.model.vocabulary = shape.vocabulary;
  draft.model.max_positions = shape.positions;

  StackBuilder stack{StackRole::encoder, shape.hidden, body};
  Module embeddings = stack.outside() / "embeddings";
  embeddings.lookup("word_embeddings", "embedding", shape.vocabulary, shape.hidden);
  embeddings.lookup("position_embeddings", "embedding", shape.positions, shape.hidden);
  embeddings.lookup("token_type_embeddings", "embedding", shape.types, shape.hidden);
  embeddings.layer_norm("LayerNorm", shape.hidden);
  stack.layers(shape.layers, "encoder.layer", [&](Layer& layer) { encoder_layer(layer, shape, head_dim, causal); });
  put_on_top(draft, stack, shape, line, body);
  stack.finish(draft.model);
}

}  // namespace flopwatt::model
