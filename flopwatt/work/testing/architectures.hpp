#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "flopwatt/model/architecture.hpp"

/// Architectures built by hand, so that the tests of the ledger do not rest on the readers of config files.

namespace flopwatt::work::testing {

using model::Component;
using model::Rows;
using model::Tensor;
using model::Use;

inline Tensor product(std::string name, std::string_view label, Component component, std::int64_t k, std::int64_t n) {
  return {.name = std::move(name),
          .label = label,
          .dims = {n, k},
          .rank = 2,
          .component = component,
          .use = Use::product,
          .k = k,
          .n = n};
}

inline Tensor vector(std::string name, std::string_view label, Component component, Use use, std::int64_t width) {
  return {.name = std::move(name), .label = label, .dims = {width}, .rank = 1, .component = component, .use = use};
}

inline Tensor norm(std::string name, std::int64_t width) {
  return vector(std::move(name), "norm", Component::norm, Use::scale, width);
}

inline Tensor lookup(std::string name, std::int64_t rows, std::int64_t width) {
  return {.name = std::move(name),
          .label = "embedding",
          .dims = {rows, width},
          .rank = 2,
          .component = Component::embedding,
          .use = Use::lookup};
}

/// A decoder of equal layers.
struct Dense {
  std::int64_t layers = 1, hidden = 8, heads = 2, kv_heads = 1, head_dim = 4, width = 16, vocabulary = 32;
  bool gated = true, qkv_bias = false, tied = false;
};

inline constexpr Dense kQwen25_1B5{.layers = 28,
                                   .hidden = 1536,
                                   .heads = 12,
                                   .kv_heads = 2,
                                   .head_dim = 128,
                                   .width = 8960,
                                   .vocabulary = 151936,
                                   .qkv_bias = true,
                                   .tied = true};
inline constexpr Dense kQwen25_3B{.layers = 36,
                                  .hidden = 2048,
                                  .heads = 16,
                                  .kv_heads = 2,
                                  .head_dim = 128,
                                  .width = 11008,
                                  .vocabulary = 151936,
                                  .qkv_bias = true,
                                  .tied = true};
inline constexpr Dense kLlama2_7B{
    .layers = 32, .hidden = 4096, .heads = 32, .kv_heads = 32, .head_dim = 128, .width = 11008, .vocabulary = 32000};
inline constexpr Dense kLlama2_70B{
    .layers = 80, .hidden = 8192, .heads = 64, .kv_heads = 8, .head_dim = 128, .width = 28672, .vocabulary = 32000};
inline constexpr Dense kLlama3_405B{
    .layers = 126, .hidden = 16384, .heads = 128, .kv_heads = 8, .head_dim = 128, .width = 53248, .vocabulary = 128256};

inline void add_attention(model::Block& block, const Dense& d, const std::string& prefix) {
  auto& t = block.tensors;
  t.push_back(product(prefix + "q_proj.weight", "attention.q", Component::attention, d.hidden, d.heads * d.head_dim));
  t.push_back(
      product(prefix + "k_proj.weight", "attention.k", Component::attention, d.hidden, d.kv_heads * d.head_dim));
  t.push_back(
      product(prefix + "v_proj.weight", "attention.v", Component::attention, d.hidden, d.kv_heads * d.head_dim));
  if (d.qkv_bias) {
    t.push_back(vector(prefix + "q_proj.bias", "attention.q", Component::attention, Use::bias, d.heads * d.head_dim));
    t.push_back(
        vector(prefix + "k_proj.bias", "attention.k", Component::attention, Use::bias, d.kv_heads * d.head_dim));
    t.push_back(
        vector(prefix + "v_proj.bias", "attention.v", Component::attention, Use::bias, d.kv_heads * d.head_dim));
  }
  t.push_back(product(prefix + "o_proj.weight", "attention.out", Component::attention, d.heads * d.head_dim, d.hidden));
  block.attentions.push_back(
      {.query_heads = d.heads, .kv_heads = d.kv_heads, .head_dim = d.head_dim, .value_head_dim = d.head_dim});
}

inline void add_mlp(model::Block& block, std::int64_t hidden, std::int64_t width, bool gated,
                    const std::string& prefix) {
  auto& t = block.tensors;
  if (gated) t.push_back(product(prefix + "gate_proj.weight", "mlp.gate", Component::mlp, hidden, width));
  t.push_back(product(prefix + "up_proj.weight", "mlp.up", Component::mlp, hidden, width));
  t.push_back(product(prefix + "down_proj.weight", "mlp.down", Component::mlp, width, hidden));
}

/// Closes a stack of blocks with embedding, final norm and head.
inline model::Architecture finish(std::vector<model::Block> blocks, std::vector<std::uint16_t> layers,
                                  std::int64_t hidden, std::int64_t vocabulary, bool tied) {
  model::Architecture result;
  result.name = result.source = "made by hand";
  result.vocabulary = vocabulary;
  result.tied_embeddings = tied;
  model::Stack& stack = result.stacks.emplace_back();
  stack.hidden = hidden;
  stack.block_counts.assign(blocks.size(), 0);
  for (const std::uint16_t layer : layers) ++stack.block_counts[layer];
  stack.blocks = std::move(blocks);
  stack.layers = std::move(layers);
  stack.outside.push_back(lookup("model.embed_tokens.weight", vocabulary, hidden));
  stack.outside.push_back(norm("model.norm.weight", hidden));
  Tensor head = product("lm_head.weight", "lm_head", Component::lm_head, hidden, vocabulary);
  head.rows = Rows::logits;
  head.tied = tied;
  stack.outside.push_back(head);
  return result;
}

inline model::Block dense_block(const Dense& d) {
  model::Block block{.kind = "attention+mlp"};
  block.elementwise = {.gated = d.gated, .rotary = true};
  block.tensors.push_back(norm("model.layers.{layer}.input_layernorm.weight", d.hidden));
  add_attention(block, d, "model.layers.{layer}.self_attn.");
  block.tensors.push_back(norm("model.layers.{layer}.post_attention_layernorm.weight", d.hidden));
  add_mlp(block, d.hidden, d.width, d.gated, "model.layers.{layer}.mlp.");
  return block;
}

inline model::Architecture dense(const Dense& d) {
  return finish({dense_block(d)}, std::vector<std::uint16_t>(static_cast<std::size_t>(d.layers), 0), d.hidden,
                d.vocabulary, d.tied);
}

/// Adds routed experts, each with tensors of its own, and their router.
inline void add_experts(model::Block& block, std::int64_t hidden, std::int64_t width, std::int64_t experts,
                        std::int64_t top_k, const std::string& prefix) {
  block.routing = model::Routing{.experts = experts, .top_k = top_k};
  block.tensors.push_back(product(prefix + "gate.weight", "router", Component::router, hidden, experts));
  const auto expert = [&](const char* name, std::string_view label, std::int64_t k, std::int64_t n) {
    Tensor t = product(prefix + "experts.{expert}." + name + ".weight", label, Component::experts, k, n);
    t.rows = Rows::routed;
    t.copies = experts;
    block.tensors.push_back(std::move(t));
  };
  expert("gate_proj", "experts.gate", hidden, width);
  expert("up_proj", "experts.up", hidden, width);
  expert("down_proj", "experts.down", width, hidden);
}

/// Mixtral-8x7B (mistralai/Mixtral-8x7B-v0.1 config.json).
inline model::Architecture mixtral_8x7b() {
  const Dense d{
      .layers = 32, .hidden = 4096, .heads = 32, .kv_heads = 8, .head_dim = 128, .width = 0, .vocabulary = 32000};
  model::Block block{.kind = "attention+experts"};
  block.elementwise = {.gated = true, .rotary = true};
  block.tensors.push_back(norm("model.layers.{layer}.input_layernorm.weight", d.hidden));
  add_attention(block, d, "model.layers.{layer}.self_attn.");
  block.tensors.push_back(norm("model.layers.{layer}.post_attention_layernorm.weight", d.hidden));
  add_experts(block, d.hidden, 14336, 8, 2, "model.layers.{layer}.block_sparse_moe.");
  return finish({block}, std::vector<std::uint16_t>(32, 0), d.hidden, d.vocabulary, false);
}

/// DeepSeek-V3 (deepseek-ai/DeepSeek-V3 config.json) without its multi-token prediction module.
inline model::Architecture deepseek_v3() {
  constexpr std::int64_t kHidden = 7168;
  constexpr std::int64_t kHeads = 128;
  const auto attention = [&](model::Block& block) {
    const std::string p = "model.layers.{layer}.self_attn.";
    auto& t = block.tensors;
    block.elementwise = {.gated = true, .rotary = true};
    t.push_back(norm("model.layers.{layer}.input_layernorm.weight", kHidden));
    t.push_back(product(p + "q_a_proj.weight", "attention.q_a", Component::attention, kHidden, 1536));
    t.push_back(norm(p + "q_a_layernorm.weight", 1536));
    t.push_back(product(p + "q_b_proj.weight", "attention.q_b", Component::attention, 1536, kHeads * 192));
    t.push_back(product(p + "kv_a_proj_with_mqa.weight", "attention.kv_a", Component::attention, kHidden, 576));
    t.push_back(norm(p + "kv_a_layernorm.weight", 512));
    t.push_back(product(p + "kv_b_proj.weight", "attention.kv_b", Component::attention, 512, kHeads * 256));
    t.push_back(product(p + "o_proj.weight", "attention.out", Component::attention, kHeads * 128, kHidden));
    t.push_back(norm("model.layers.{layer}.post_attention_layernorm.weight", kHidden));
    block.attentions.push_back(
        {.query_heads = kHeads,
         .kv_heads = kHeads,
         .head_dim = 192,
         .value_head_dim = 128,
         .latent = model::LatentAttention{
             .query_rank = 1536, .kv_rank = 512, .nope_dim = 128, .rope_dim = 64, .value_dim = 128}});
  };
  model::Block first{.kind = "attention+mlp"};
  attention(first);
  add_mlp(first, kHidden, 18432, true, "model.layers.{layer}.mlp.");
  model::Block rest{.kind = "attention+experts"};
  attention(rest);
  add_experts(rest, kHidden, 2048, 256, 8, "model.layers.{layer}.mlp.");
  rest.tensors.push_back(
      vector("model.layers.{layer}.mlp.gate.e_score_correction_bias", "router", Component::router, Use::bias, 256));
  add_mlp(rest, kHidden, 2048, true, "model.layers.{layer}.mlp.shared_experts.");
  std::vector<std::uint16_t> layers(61, 1);
  layers[0] = layers[1] = layers[2] = 0;
  return finish({first, rest}, layers, kHidden, 129280, false);
}

}  // namespace flopwatt::work::testing
