#include "flopwatt/model/feed_forward.hpp"

namespace flopwatt::model {
namespace {

Module open_mlp(Layer& layer, std::string_view name, Activation activation, bool gated, std::string_view part = "mlp") {
  layer.part(part);
  layer.block().elementwise.activation = activation;
  layer.block().elementwise.gated = gated;
  return name.empty() ? Module{layer} : layer / name;
}

Linear mlp_linear(std::string_view name, std::string_view label, std::int64_t in, std::int64_t out, bool bias) {
  return {.name = name, .label = label, .component = Component::mlp, .in = in, .out = out, .bias = bias};
}

}  // namespace

void gated_mlp(Layer& layer, std::string_view name, const GatedMlp& mlp) {
  Module module = open_mlp(layer, name, mlp.activation, true, mlp.part);
  module.linear(mlp_linear(mlp.gate, "mlp.gate", layer.hidden(), mlp.width, mlp.bias));
  module.linear(mlp_linear(mlp.up, "mlp.up", layer.hidden(), mlp.width, mlp.bias));
  module.linear(mlp_linear(mlp.down, "mlp.down", mlp.width, layer.hidden(), mlp.bias));
}

void fused_gated_mlp(Layer& layer, std::string_view name, std::string_view gate_up, const GatedMlp& mlp) {
  Module module = open_mlp(layer, name, mlp.activation, true, mlp.part);
  module.linear(mlp_linear(gate_up, "mlp.gate_up", layer.hidden(), 2 * mlp.width, mlp.bias));
  module.linear(mlp_linear(mlp.down, "mlp.down", mlp.width, layer.hidden(), mlp.bias));
}

void plain_mlp(Layer& layer, std::string_view name, const PlainMlp& mlp) {
  Module module = open_mlp(layer, name, mlp.activation, false);
  Linear up = mlp_linear(mlp.up, "mlp.up", layer.hidden(), mlp.width, mlp.bias);
  Linear down = mlp_linear(mlp.down, "mlp.down", mlp.width, layer.hidden(), mlp.bias);
  up.layout = down.layout = mlp.layout;
  module.linear(up);
  module.linear(down);
}

}  // namespace flopwatt::model
