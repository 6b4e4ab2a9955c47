#include "flopwatt/model/latent_decoder.hpp"

#include <tuple>

#include "flopwatt/model/building_blocks.hpp"
#include "flopwatt/model/prediction_module.hpp"

namespace flopwatt::model {
namespace {

LatentAttention read_ranks(const ConfigReader& config, const LatentAttention& defaults) {
  LatentAttention ranks{.kv_rank = config.shape("kv_lora_rank", defaults.kv_rank),
                        .nope_dim = config.shape("qk_nope_head_dim", defaults.nope_dim),
                        .rope_dim = config.shape("qk_rope_head_dim", defaults.rope_dim),
                        .value_dim = config.shape("v_head_dim", defaults.value_dim)};
  // null is a plain query projection (DeepSeek-V2-Lite).
  if (!config.is_null("q_lora_rank")) ranks.query_rank = config.shape("q_lora_rank", *defaults.query_rank);
  config.require(config.flag("use_mla", true), "use_mla", "is false: latent attention alone is supported");
  return ranks;
}

}  // namespace

SparseIndex read_sparse_index(const ConfigReader& config, const SparseIndex& defaults) {
  return {.heads = config.shape("index_n_heads", defaults.heads),
          .head_dim = config.shape("index_head_dim", defaults.head_dim),
          .top_k = config.shape("index_topk", defaults.top_k)};
}

void read_latent_decoder(Draft& draft, const LatentDecoder& defaults, const LayerIndexes& indexes) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.shape("vocab_size", defaults.vocabulary);
  const std::int64_t hidden = config.shape("hidden_size", defaults.hidden);
  const std::int64_t layers = config.layers("num_hidden_layers", defaults.layers);
  const std::int64_t heads = config.shape("num_attention_heads", defaults.heads);
  const std::int64_t ffn = config.shape("intermediate_size", defaults.ffn);
  const LatentAttention ranks = read_ranks(config, defaults.ranks);
  const bool attention_bias = config.flag("attention_bias", false);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);

  RoutedExperts mixture = read_routed_experts(config, {.experts = {"n_routed_experts", "num_experts"},
                                                       .top_k = "num_experts_per_tok",
                                                       .width = "moe_intermediate_size",
                                                       .default_experts = defaults.experts,
                                                       .default_top_k = defaults.top_k,
                                                       .default_width = defaults.expert_width});
  mixture.activation = activation;
  const bool corrected = config.text("topk_method", "noaux_tc") == "noaux_tc";
  if (defaults.selection_bias && corrected) mixture.selection_bias = "gate.e_score_correction_bias";
  const std::int64_t shared =
      config.is_null("n_shared_experts") ? 0 : config.count("n_shared_experts", defaults.shared_experts);
  const std::vector<bool> sparse = experts_behind_dense_layers(config, layers, defaults.dense_layers);
  const bool indexed = indexes.size() == static_cast<std::size_t>(layers);

  const auto kind_of = [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return std::tuple{bool{sparse[at]}, indexed ? indexes[at].heads : 0};
  };
  StackBuilder text{draft, hidden, "model."};
  text.token_embedding("embed_tokens", vocabulary);
  text.layers(layers, "layers", kind_of, [&](Layer& layer, const std::tuple<bool, std::int64_t>& kind) {
    const auto [has_experts, index_heads] = kind;
    LatentAttentionSpec attention{.heads = heads, .ranks = ranks, .bias = attention_bias};
    if (indexed) {
      attention.sparse = indexes.front();
      attention.sparse->heads = index_heads;
      if (index_heads == 0) attention.sparse->head_dim = 0;
    }
    layer.rms_norm("input_layernorm", hidden);
    latent_attention(layer, "self_attn", attention);
    layer.rms_norm("post_attention_layernorm", hidden);
    if (!has_experts) return gated_mlp(layer, "mlp", {.width = ffn, .activation = activation});
    routed_experts(layer, "mlp", mixture);
    if (shared > 0) shared_expert(layer, "mlp.shared_experts", shared * mixture.width, activation);
  });
  text.outside().rms_norm("norm", hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
  exclude_prediction_layers(draft.model, config.count({"num_nextn_predict_layers", "num_mtp_layers"}, 0));
}

}  // namespace flopwatt::model
