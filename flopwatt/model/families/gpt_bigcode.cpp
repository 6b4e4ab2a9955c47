#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::gpt_bigcode {
namespace {

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size({"n_embd", "hidden_size"});
  const std::int64_t layers = config.layers({"n_layer", "num_hidden_layers"});
  const std::int64_t heads = config.size({"n_head", "num_attention_heads"});
  const std::int64_t positions = config.size({"n_positions", "max_position_embeddings"});
  const std::int64_t head_dim = divide_heads(config, "n_head", hidden, heads);
  const std::int64_t kv_heads = config.flag("multi_query", true) ? 1 : heads;
  const Activation activation = read_activation(config, "activation_function", Activation::gelu);
  config.require(!config.flag("add_cross_attention", false), "add_cross_attention",
                 "is true: a model with an encoder is not supported");

  StackBuilder text{draft, hidden, "transformer."};
  text.token_embedding("wte", vocabulary);
  text.outside().lookup("wpe", "embedding.position", positions, hidden);
  text.layers(layers, "h", [&](Layer& layer) {
    layer.layer_norm("ln_1", hidden);
    fused_self_attention(layer, "attn", "c_attn",
                         {.heads = heads,
                          .kv_heads = kv_heads,
                          .head_dim = head_dim,
                          .qkv_bias = true,
                          .out_bias = true,
                          .rotary = false,
                          .out = "c_proj"});
    layer.layer_norm("ln_2", hidden);
    plain_mlp(layer, "mlp",
              {.width = config.size("n_inner", 4 * hidden), .activation = activation, .up = "c_fc", .down = "c_proj"});
  });
  text.outside().layer_norm("ln_f", hidden);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// SantaCoder and StarCoder (arXiv 2305.06161): GPT-2 with one key and value head for all queries.
extern const Family family{
    .name = "gpt_bigcode", .model_types = {"gpt_bigcode"}, .class_stems = {"GPTBigCode"}, .read = read};

}  // namespace flopwatt::model::families::gpt_bigcode
