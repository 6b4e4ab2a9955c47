#include "flopwatt/model/self_attention.hpp"

namespace flopwatt::model {
namespace {

void project_out(Layer& layer, std::string_view name, const SelfAttention& attention, Layout layout) {
  (layer / name)
      .linear({.name = attention.out,
               .label = "attention.out",
               .component = Component::attention,
               .in = attention.query_width(),
               .out = layer.hidden(),
               .bias = attention.out_bias,
               .layout = layout});
}

}  // namespace

void self_attention(Layer& layer, std::string_view name, const SelfAttention& attention) {
  const auto project = [&](std::string_view projection, std::string_view label, std::int64_t width, bool bias) {
    (layer / name)
        .linear({.name = projection,
                 .label = label,
                 .component = Component::attention,
                 .in = layer.hidden(),
                 .out = width,
                 .bias = bias});
  };
  project(attention.q, "attention.q", attention.query_width(), attention.qkv_bias);
  project(attention.k, "attention.k", attention.kv_width(), attention.k_bias.value_or(attention.qkv_bias));
  project(attention.v, "attention.v", attention.kv_width(), attention.qkv_bias);
  attend(layer, attention);
  project_out(layer, name, attention, Layout::out_in);
}

void fused_self_attention(Layer& layer, std::string_view name, std::string_view qkv, const SelfAttention& attention,
                          Layout layout) {
  (layer / name)
      .linear({.name = qkv,
               .label = "attention.qkv",
               .component = Component::attention,
               .in = layer.hidden(),
               .out = attention.query_width() + 2 * attention.kv_width(),
               .bias = attention.qkv_bias,
               .layout = layout});
  attend(layer, attention);
  project_out(layer, name, attention, layout);
}

void cross_attention(Layer& layer, std::string_view name, const SelfAttention& attention) {
  const auto project = [&](std::string_view projection, std::string_view label, std::int64_t in, std::int64_t out,
                           bool bias, Rows rows) {
    (layer / name)
        .linear({.name = projection,
                 .label = label,
                 .component = Component::attention,
                 .in = in,
                 .out = out,
                 .bias = bias,
                 .rows = rows});
  };
  const std::int64_t hidden = layer.hidden();
  const bool k_bias = attention.k_bias.value_or(attention.qkv_bias);
  project(attention.q, "cross_attention.q", hidden, attention.query_width(), attention.qkv_bias, Rows::tokens);
  project(attention.k, "cross_attention.k", hidden, attention.kv_width(), k_bias, Rows::memory);
  project(attention.v, "cross_attention.v", hidden, attention.kv_width(), attention.qkv_bias, Rows::memory);
  layer.part("cross-attention");
  layer.block().attentions.push_back({.query_heads = attention.heads,
                                      .kv_heads = attention.kv_heads,
                                      .head_dim = attention.head_dim,
                                      .value_head_dim = attention.head_dim,
                                      .causal = false,
                                      .cross = true});
  project(attention.out, "cross_attention.out", attention.query_width(), hidden, attention.out_bias, Rows::tokens);
}

void query_key_norm(Layer& layer, std::string_view name, std::int64_t query_width, std::int64_t key_width) {
  Module module = layer / name;
  module.rms_norm("q_norm", query_width);
  module.rms_norm("k_norm", key_width);
}

void attend(Layer& layer, const SelfAttention& attention) {
  layer.part(attention.window || attention.chunk ? "local attention" : "attention");
  layer.block().elementwise.rotary = attention.rotary;
  layer.block().attentions.push_back({.query_heads = attention.heads,
                                      .kv_heads = attention.kv_heads,
                                      .head_dim = attention.head_dim,
                                      .value_head_dim = attention.head_dim,
                                      .causal = attention.causal,
                                      .window = attention.window,
                                      .chunk = attention.chunk});
}

}  // namespace flopwatt::model
