#include "flopwatt/libtorch/causal_lm.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/api/include/torch/version.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "flopwatt/libtorch/checkpointed.hpp"

namespace flopwatt::libtorch {
namespace {

constexpr double kInitialDeviation = 0.02;  // initializer_range of both families

/// scaled_dot_product_attention with a causal mask, under the name that this LibTorch has it by.
at::Tensor library_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, double dropout) {
#if TORCH_VERSION_MAJOR >= 2
  return at::scaled_dot_product_attention(query, key, value, {}, dropout, /*is_causal=*/true);
#else
  return std::get<0>(at::_scaled_dot_product_attention(query, key, value, {}, dropout, /*need_attn_weights=*/false,
                                                       /*is_causal=*/true));
#endif
}

}  // namespace

CausalLm::CausalLm(const Decoder& decoder, const Options& options)
    : decoder_{decoder}, options_{options}, names_{parameters(decoder)} {
  const auto storage = at::TensorOptions{}.dtype(options.dtype).device(options.device);
  for (const Parameter& parameter : names_) {
    at::Tensor tensor = at::empty(parameter.dims, storage);
    if (parameter.dims.size() > 1) {
      tensor.normal_(0.0, kInitialDeviation);
    } else {
      tensor.fill_(parameter.name.ends_with(".bias") ? 0.0 : 1.0);
    }
    tensor.set_requires_grad(true);
    tensors_.push_back(tensor);
    by_name_.emplace(parameter.name, tensor);
  }

  const bool gpt2 = decoder.style == Decoder::Style::gpt2;
  embedding_ = tensor(gpt2 ? "transformer.wte.weight" : "model.embed_tokens.weight");
  head_ = decoder.tied ? embedding_ : tensor("lm_head.weight");
  final_norm_ = pair(gpt2 ? "transformer.ln_f" : "model.norm");
  if (decoder.positions > 0) positions_ = tensor("transformer.wpe.weight");
  for (std::int64_t i = 0; i < decoder.layers; ++i) {
    const std::string name = (gpt2 ? "transformer.h." : "model.layers.") + std::to_string(i);
    Layer layer;
    if (gpt2) {
      layer.norm_1 = pair(name + ".ln_1");
      layer.qkv = pair(name + ".attn.c_attn");
      layer.out = pair(name + ".attn.c_proj");
      layer.norm_2 = pair(name + ".ln_2");
      layer.up = pair(name + ".mlp.c_fc");
      layer.down = pair(name + ".mlp.c_proj");
    } else {
      layer.norm_1 = pair(name + ".input_layernorm");
      layer.q = pair(name + ".self_attn.q_proj");
      layer.k = pair(name + ".self_attn.k_proj");
      layer.v = pair(name + ".self_attn.v_proj");
      layer.out = pair(name + ".self_attn.o_proj");
      if (decoder.query_key_norm) {
        layer.q_norm = tensor(name + ".self_attn.q_norm.weight");
        layer.k_norm = tensor(name + ".self_attn.k_norm.weight");
      }
      layer.norm_2 = pair(name + ".post_attention_layernorm");
      layer.gate = pair(name + ".mlp.gate_proj");
      layer.up = pair(name + ".mlp.up_proj");
      layer.down = pair(name + ".mlp.down_proj");
    }
    layers_.push_back(layer);
  }

  const std::int64_t length = options.max_sequence;
  if (!gpt2) {
    const auto wide = at::TensorOptions{}.dtype(at::kFloat).device(options.device);
    const at::Tensor steps = at::arange(0, decoder.head_dim, 2, wide) / static_cast<double>(decoder.head_dim);
    const at::Tensor rates = at::exp(steps * -std::log(decoder.rope_theta));
    // An outer product by broadcasting: a table, no work of the step.
    const at::Tensor half = at::arange(0, length, wide).unsqueeze(1) * rates.unsqueeze(0);
    const at::Tensor angles = at::cat({half, half}, 1);
    cosine_ = at::cos(angles).to(options.dtype);
    sine_ = at::sin(angles).to(options.dtype);
  }
  if (options.attention == workload::Attention::eager) {
    mask_ = at::ones({length, length}, at::TensorOptions{}.dtype(at::kBool).device(options.device)).triu(1);
  }
}

CausalLm::Pair CausalLm::pair(const std::string& name) const {
  const auto bias = by_name_.find(name + ".bias");
  return {tensor(name + ".weight"), bias == by_name_.end() ? at::Tensor{} : bias->second};
}

at::Tensor CausalLm::forward(const at::Tensor& tokens) const {
  const std::int64_t length = tokens.size(1);
  at::Tensor hidden = at::embedding(embedding_, tokens);
  if (positions_.defined()) {
    const auto numbers = at::arange(0, length, at::TensorOptions{}.dtype(at::kLong).device(options_.device));
    hidden = hidden + at::embedding(positions_, numbers);
    hidden = drop(hidden, decoder_.embedding_dropout);
  }
  for (const Layer& layer : layers_) {
    if (options_.recompute == workload::Recompute::full) {
      hidden = checkpointed([this, &layer](const at::Tensor& input) { return block(layer, input); }, hidden);
    } else {
      hidden = block(layer, hidden);
    }
  }
  return at::linear(norm(hidden, final_norm_), head_);
}

at::Tensor CausalLm::block(const Layer& layer, const at::Tensor& hidden) const {
  const at::Tensor attended = hidden + self_attention(layer, norm(hidden, layer.norm_1));
  return attended + feed_forward(layer, norm(attended, layer.norm_2));
}

at::Tensor CausalLm::self_attention(const Layer& layer, const at::Tensor& hidden) const {
  const std::int64_t batch = hidden.size(0);
  const std::int64_t length = hidden.size(1);
  const auto split = [&](const at::Tensor& flat, std::int64_t heads) {
    return flat.view({batch, length, heads, decoder_.head_dim});
  };
  at::Tensor query;
  at::Tensor key;
  at::Tensor value;
  if (decoder_.style == Decoder::Style::gpt2) {
    const auto parts = project(hidden, layer.qkv).split(decoder_.hidden, 2);
    query = split(parts[0], decoder_.heads).transpose(1, 2);
    key = split(parts[1], decoder_.heads).transpose(1, 2);
    value = split(parts[2], decoder_.heads).transpose(1, 2);
  } else {
    query = split(project(hidden, layer.q), decoder_.heads);
    key = split(project(hidden, layer.k), decoder_.kv_heads);
    if (decoder_.query_key_norm) {
      query = norm(query, {layer.q_norm, {}});
      key = norm(key, {layer.k_norm, {}});
    }
    query = rotate(query.transpose(1, 2));
    key = rotate(key.transpose(1, 2));
    value = split(project(hidden, layer.v), decoder_.kv_heads).transpose(1, 2);
    const std::int64_t group = decoder_.heads / decoder_.kv_heads;
    if (group > 1) {
      key = key.repeat_interleave(group, 1);
      value = value.repeat_interleave(group, 1);
    }
  }
  const at::Tensor mixed = mix(query, key, value).transpose(1, 2).reshape({batch, length, -1});
  return drop(project(mixed, layer.out), decoder_.residual_dropout);
}

/// softmax(QKᵀ/√d + mask)·V over [batch, heads, sequence, width].
at::Tensor CausalLm::mix(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) const {
  if (options_.attention == workload::Attention::sdpa) {
    return library_attention(query, key, value, decoder_.attention_dropout);
  }
  const std::int64_t length = query.size(2);
  at::Tensor scores = at::matmul(query, key.transpose(2, 3)) * (1.0 / std::sqrt(static_cast<double>(query.size(3))));
  const at::Tensor mask = mask_.narrow(0, 0, length).narrow(1, 0, length);
  scores = scores.masked_fill(mask, -std::numeric_limits<double>::infinity());
  // Llama takes the softmax in float32 whatever the weights are; GPT-2 in the type of the scores.
  const at::Tensor weights = decoder_.style == Decoder::Style::gpt2
                                 ? at::softmax(scores, -1)
                                 : at::softmax(scores, -1, at::kFloat).to(query.scalar_type());
  return at::matmul(drop(weights, decoder_.attention_dropout), value);
}

at::Tensor CausalLm::feed_forward(const Layer& layer, const at::Tensor& hidden) const {
  at::Tensor inner;
  if (decoder_.style == Decoder::Style::gpt2) {
    inner = activate(project(hidden, layer.up));
  } else {
    inner = activate(project(hidden, layer.gate)) * project(hidden, layer.up);
  }
  return drop(project(inner, layer.down), decoder_.residual_dropout);
}

at::Tensor CausalLm::norm(const at::Tensor& hidden, const Pair& pair) const {
  if (decoder_.style == Decoder::Style::gpt2) {
    return at::layer_norm(hidden, pair.weight.sizes(), pair.weight, pair.bias, decoder_.norm_epsilon);
  }
  // In float32 whatever the weights are, as the family does.
  const at::Tensor wide = hidden.to(at::kFloat);
  const at::Tensor scale = at::rsqrt(wide.square().mean(-1, /*keepdim=*/true) + decoder_.norm_epsilon);
  return pair.weight * (wide * scale).to(hidden.scalar_type());
}

at::Tensor CausalLm::project(const at::Tensor& hidden, const Pair& pair) const {
  if (decoder_.style == Decoder::Style::llama) {
    return pair.bias.defined() ? at::linear(hidden, pair.weight, pair.bias) : at::linear(hidden, pair.weight);
  }
  const at::Tensor rows = hidden.reshape({-1, hidden.size(2)});
  return at::addmm(pair.bias, rows, pair.weight).view({hidden.size(0), hidden.size(1), pair.weight.size(1)});
}

at::Tensor CausalLm::activate(const at::Tensor& hidden) const {
  switch (decoder_.activation) {
    case model::Activation::silu:
      return at::silu(hidden);
    case model::Activation::relu:
      return at::relu(hidden);
    case model::Activation::relu_squared:
      return at::relu(hidden).square();
    case model::Activation::gelu:
      return at::gelu(hidden);
    case model::Activation::quick_gelu:
      return hidden * at::sigmoid(hidden * 1.702);
    case model::Activation::gelu_tanh: {
      // Written out, as the family runs it: eight kernels.
      const at::Tensor inner = std::sqrt(2.0 / M_PI) * (hidden + 0.044715 * at::pow(hidden, 3.0));
      return 0.5 * hidden * (1.0 + at::tanh(inner));
    }
    case model::Activation::none:
      break;
  }
  return hidden;
}

at::Tensor CausalLm::drop(const at::Tensor& hidden, double probability) const {
  return probability > 0 ? at::dropout(hidden, probability, /*train=*/true) : hidden;
}

/// Rotary positions (arXiv 2104.09864) in the half-split layout of the family, over [batch, heads, sequence, width].
at::Tensor CausalLm::rotate(const at::Tensor& heads) const {
  const std::int64_t length = heads.size(2);
  const std::int64_t half = heads.size(3) / 2;
  const at::Tensor turned = at::cat({-heads.narrow(3, half, half), heads.narrow(3, 0, half)}, 3);
  return heads * cosine_.narrow(0, 0, length) + turned * sine_.narrow(0, 0, length);
}

}  // namespace flopwatt::libtorch
