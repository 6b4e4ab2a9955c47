#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::gpt2 {
namespace {

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size({"n_embd", "hidden_size"});
  const std::int64_t layers = config.layers({"n_layer", "num_hidden_layers"});
  const std::int64_t heads = config.size({"n_head", "num_attention_heads"});
  // n_ctx, where it differs, is the size of a mask buffer in old checkpoints: the embedding has n_positions rows.
  const std::int64_t positions = config.size({"n_positions", "max_position_embeddings"});
  const std::int64_t head_dim = divide_heads(config, "n_head", hidden, heads);
  config.require(!config.flag("add_cross_attention", false), "add_cross_attention",
                 "is true: a GPT-2 with an encoder is not supported");

  const Activation activation = read_activation(config, "activation_function", Activation::gelu_tanh);

  StackBuilder text{draft, hidden, "transformer."};
  text.token_embedding("wte", vocabulary);
  text.outside().lookup("wpe", "embedding.position", positions, hidden);
  text.layers(layers, "h", [&](Layer& layer) {
    layer.layer_norm("ln_1", hidden);
    fused_self_attention(layer, "attn", "c_attn",
                         {.heads = heads,
                          .kv_heads = heads,
                          .head_dim = head_dim,
                          .qkv_bias = true,
                          .out_bias = true,
                          .rotary = false,
                          .out = "c_proj"},
                         Layout::in_out);
    layer.layer_norm("ln_2", hidden);
    plain_mlp(layer, "mlp",
              {.width = config.size("n_inner", 4 * hidden),
               .activation = activation,
               .up = "c_fc",
               .down = "c_proj",
               .layout = Layout::in_out});
  });
  text.outside().layer_norm("ln_f", hidden);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
  exclude_mask_buffers(draft.model, "attn", layers, config.size("n_ctx", positions));
}

}  // namespace

/// GPT-2 and its fine-tunes (DialoGPT): learned positions, fused qkv, biases everywhere, matrices stored [in, out].
extern const Family family{.name = "gpt2", .model_types = {"gpt2"}, .class_stems = {"GPT2"}, .read = read};

}  // namespace flopwatt::model::families::gpt2
