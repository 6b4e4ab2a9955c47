#include "flopwatt/model/routed_experts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "flopwatt/model/feed_forward.hpp"

namespace flopwatt::model {
namespace {

Tensor& expert_tensor(Module& module, std::string_view name, std::string_view label,
                      std::initializer_list<std::int64_t> dims, Use use) {
  Tensor& tensor = module.tensor(name, label, dims, Component::experts, use);
  tensor.rows = Rows::routed;
  return tensor;
}

}  // namespace

void route(Layer& layer, Module& module, const RoutedExperts& mixture) {
  layer.part("experts");
  layer.block().elementwise.activation = mixture.activation;
  layer.block().elementwise.gated = !mixture.gate.empty();
  layer.block().routing = Routing{.experts = mixture.experts, .top_k = mixture.top_k};
  module.linear({.name = mixture.router,
                 .label = "router",
                 .component = Component::router,
                 .in = layer.hidden(),
                 .out = mixture.experts,
                 .bias = mixture.router_bias});
  if (!mixture.selection_bias.empty()) {
    module.tensor(mixture.selection_bias, "router", {mixture.experts}, Component::router, Use::bias);
  }
}

void routed_experts(Layer& layer, std::string_view name, const RoutedExperts& mixture) {
  Module module = layer / name;
  route(layer, module, mixture);
  const auto one_each = [&](std::string_view projection, std::string_view label, std::int64_t in, std::int64_t out) {
    Tensor& tensor = expert_tensor(module, fmt::format("{}{{expert}}.{}.weight", mixture.container, projection), label,
                                   {out, in}, Use::product);
    tensor.k = in;
    tensor.n = out;
    tensor.copies = mixture.experts;
  };
  const std::int64_t input = mixture.input.value_or(layer.hidden());
  if (!mixture.gate.empty()) one_each(mixture.gate, "experts.gate", input, mixture.width);
  one_each(mixture.up, "experts.up", input, mixture.width);
  one_each(mixture.down, "experts.down", mixture.width, input);
}

void expert_product(Module& module, std::string_view name, std::string_view label,
                    std::initializer_list<std::int64_t> dims, std::int64_t k, std::int64_t n) {
  Tensor& tensor = expert_tensor(module, name, label, dims, Use::product);
  tensor.k = k;
  tensor.n = n;
}

void fused_routed_experts(Layer& layer, std::string_view name, const RoutedExperts& mixture, const FusedExperts& form) {
  Module module = layer / name;
  route(layer, module, mixture);
  const auto together = [&](std::string_view tensor, std::string_view label, std::int64_t in, std::int64_t out) {
    if (form.layout == Layout::out_in) {
      expert_product(module, tensor, label, {mixture.experts, out, in}, in, out);
    } else {
      expert_product(module, tensor, label, {mixture.experts, in, out}, in, out);
    }
    if (form.bias) {
      expert_tensor(module, std::string{tensor} + "_bias", label, {mixture.experts, out}, Use::bias);
    }
  };
  together(form.gate_up, "experts.gate_up", layer.hidden(), 2 * mixture.width);
  together(form.down, "experts.down", mixture.width, layer.hidden());
}

RoutedExperts read_routed_experts(const ConfigReader& config, const ExpertKeys& keys) {
  RoutedExperts mixture;
  mixture.experts = config.experts(keys.experts, keys.default_experts);
  mixture.top_k = config.experts(keys.top_k, keys.default_top_k);
  mixture.width = keys.default_width ? config.shape(keys.width, *keys.default_width) : config.size(keys.width);
  if (mixture.top_k > mixture.experts) {
    config.fail(*keys.top_k.begin(), fmt::format("is {}, more than the {} experts", mixture.top_k, mixture.experts));
    mixture.top_k = mixture.experts;
  }
  return mixture;
}

void shared_expert(Layer& layer, std::string_view name, std::int64_t width, Activation activation) {
  gated_mlp(layer, name, {.width = width, .activation = activation, .part = "shared expert"});
}

void gated_shared_expert(Layer& layer, std::string_view name, std::int64_t width, Activation activation) {
  shared_expert(layer, name, width, activation);
  layer.linear({.name = std::string{name} + "_gate",
                .label = "mlp.shared_gate",
                .component = Component::mlp,
                .in = layer.hidden(),
                .out = 1});
}

std::vector<bool> experts_behind_dense_layers(const ConfigReader& config, std::int64_t layers,
                                              std::int64_t default_dense) {
  std::vector<bool> sparse(static_cast<std::size_t>(layers), false);
  if (const std::vector<std::string> types = config.texts("mlp_layer_types"); !types.empty()) {
    if (types.size() != sparse.size()) {
      config.fail("mlp_layer_types", fmt::format("has {} entries for {} layers", types.size(), layers));
      return sparse;
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      sparse[i] = types[i] == "sparse";
      config.require(sparse[i] || types[i] == "dense", "mlp_layer_types", "names neither 'dense' nor 'sparse'");
    }
    return sparse;
  }
  const std::int64_t dense = config.count("first_k_dense_replace", default_dense);
  const std::int64_t step = config.size("moe_layer_freq", 1);
  for (std::int64_t i = dense; i < layers; ++i) sparse[static_cast<std::size_t>(i)] = i % step == 0;
  return sparse;
}

std::vector<bool> experts_in_sparse_steps(const ConfigReader& config, std::int64_t layers) {
  std::vector<bool> sparse(static_cast<std::size_t>(layers), false);
  const std::int64_t step = config.size("decoder_sparse_step", 1);
  for (std::int64_t i = 0; i < layers; ++i) sparse[static_cast<std::size_t>(i)] = (i + 1) % step == 0;
  for (const std::int64_t dense : config.counts("mlp_only_layers")) {
    if (dense < layers) sparse[static_cast<std::size_t>(dense)] = false;
  }
  return sparse;
}

}  // namespace flopwatt::model
