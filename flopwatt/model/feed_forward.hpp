#pragma once

#include <cstdint>
#include <string_view>

#include "flopwatt/model/architecture.hpp"
#include "flopwatt/model/module.hpp"

namespace flopwatt::model {

/// down(act(gate·x) ⊙ up·x): three products (SwiGLU and its kin, arXiv 2002.05202).
struct GatedMlp {
  std::int64_t width = 0;
  Activation activation = Activation::silu;
  bool bias = false;
  std::string_view gate = "gate_proj", up = "up_proj", down = "down_proj";
  std::string_view part = "mlp";  ///< in the block's name for people
};
void gated_mlp(Layer& layer, std::string_view name, const GatedMlp& mlp);

/// The same with gate and up in one tensor [2·width, hidden] called `gate_up`.
void fused_gated_mlp(Layer& layer, std::string_view name, std::string_view gate_up, const GatedMlp& mlp);

/// down(act(up·x)): two products.
struct PlainMlp {
  std::int64_t width = 0;
  Activation activation = Activation::gelu;
  bool bias = true;
  std::string_view up, down;
  Layout layout = Layout::out_in;
};
/// An empty `name`: the tensors stand in the layer itself.
void plain_mlp(Layer& layer, std::string_view name, const PlainMlp& mlp);

}  // namespace flopwatt::model
