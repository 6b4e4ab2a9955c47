#include "flopwatt/model/recurrent_mixers.hpp"

#include <string>

namespace flopwatt::model {
namespace {

Linear projection(std::string_view name, std::string_view label, std::int64_t in, std::int64_t out, bool bias = false) {
  return {.name = name, .label = label, .component = Component::attention, .in = in, .out = out, .bias = bias};
}

/// A causal convolution of each channel by itself.
void convolution(Module& mixer, std::int64_t channels, std::int64_t kernel, bool bias) {
  mixer.tensor("conv1d.weight", "convolution", {channels, 1, kernel}, Component::attention, Use::convolution);
  if (bias) mixer.tensor("conv1d.bias", "convolution", {channels}, Component::attention, Use::bias);
}

void scale(Module& mixer, std::string_view name, std::int64_t width) {
  mixer.tensor(name, "recurrence", {width}, Component::attention, Use::scale);
}

}  // namespace

void mamba1_mixer(Layer& layer, std::string_view name, const Mamba1& spec) {
  Module mixer = layer / name;
  mixer.linear(projection("in_proj", "mamba.in", layer.hidden(), 2 * spec.inner, spec.bias));
  convolution(mixer, spec.inner, spec.kernel, spec.conv_bias);
  mixer.linear(projection("x_proj", "mamba.x", spec.inner, spec.step_rank + 2 * spec.state));
  if (spec.inner_norms) {
    mixer.rms_norm("dt_layernorm", spec.step_rank);
    mixer.rms_norm("b_layernorm", spec.state);
    mixer.rms_norm("c_layernorm", spec.state);
  }
  mixer.linear(projection("dt_proj", "mamba.dt", spec.step_rank, spec.inner, true));
  mixer.tensor("A_log", "recurrence", {spec.inner, spec.state}, Component::attention, Use::scale);
  scale(mixer, "D", spec.inner);
  mixer.linear(projection("out_proj", "mamba.out", spec.inner, layer.hidden(), spec.bias));
  layer.part("mamba");
  layer.block().recurrence = Recurrence{.kind = Recurrence::Kind::mamba1,
                                        .heads = 1,
                                        .head_dim = spec.inner,
                                        .state_dim = spec.state,
                                        .conv_channels = spec.inner,
                                        .conv_kernel = spec.kernel};
}

void mamba2_mixer(Layer& layer, std::string_view name, const Mamba2& spec) {
  const std::int64_t inner = spec.heads * spec.head_dim;
  const std::int64_t channels = inner + 2 * spec.groups * spec.state;  // x, B and C
  Module mixer = layer / name;
  // z, the convolution's channels, and a step for each head.
  mixer.linear(projection("in_proj", "mamba.in", layer.hidden(), inner + channels + spec.heads, spec.bias));
  convolution(mixer, channels, spec.kernel, spec.conv_bias);
  scale(mixer, "dt_bias", spec.heads);
  scale(mixer, "A_log", spec.heads);
  scale(mixer, "D", spec.heads);
  mixer.rms_norm("norm", inner);
  mixer.linear(projection("out_proj", "mamba.out", inner, layer.hidden(), spec.bias));
  layer.part("mamba2");
  layer.block().recurrence = Recurrence{.kind = Recurrence::Kind::mamba2,
                                        .heads = spec.heads,
                                        .head_dim = spec.head_dim,
                                        .state_dim = spec.state,
                                        .conv_channels = channels,
                                        .conv_kernel = spec.kernel};
}

void gated_delta_mixer(Layer& layer, std::string_view name, const GatedDelta& spec) {
  const std::int64_t keys = spec.key_heads * spec.key_dim;
  const std::int64_t values = spec.value_heads * spec.value_dim;
  const std::int64_t channels = 2 * keys + values;
  Module mixer = layer / name;
  if (spec.fused) {
    mixer.linear(projection("in_proj_qkvz", "delta.qkvz", layer.hidden(), channels + values));
    mixer.linear(projection("in_proj_ba", "delta.ba", layer.hidden(), 2 * spec.value_heads));
  } else {
    mixer.linear(projection("in_proj_qkv", "delta.qkv", layer.hidden(), channels));
    mixer.linear(projection("in_proj_z", "delta.z", layer.hidden(), values));
    mixer.linear(projection("in_proj_b", "delta.b", layer.hidden(), spec.value_heads));
    mixer.linear(projection("in_proj_a", "delta.a", layer.hidden(), spec.value_heads));
  }
  convolution(mixer, channels, spec.kernel, false);
  scale(mixer, "dt_bias", spec.value_heads);
  scale(mixer, "A_log", spec.value_heads);
  mixer.rms_norm("norm", spec.value_dim);
  mixer.linear(projection("out_proj", "delta.out", values, layer.hidden()));
  layer.part("gated delta");
  layer.block().recurrence = Recurrence{.kind = Recurrence::Kind::gated_delta,
                                        .heads = spec.value_heads,
                                        .head_dim = spec.value_dim,
                                        .state_dim = spec.key_dim,
                                        .conv_channels = channels,
                                        .conv_kernel = spec.kernel};
}

}  // namespace flopwatt::model
