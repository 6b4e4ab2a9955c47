#include "flopwatt/model/activation.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace flopwatt::model {
namespace {

// transformers' ACT2FN.  "gelu_pytorch_tanh" is one kernel, unlike the forms that write the tanh out.
constexpr std::array<std::pair<std::string_view, Activation>, 13> kActivations{
    {{"silu", Activation::silu},
     {"swish", Activation::silu},
     {"gelu", Activation::gelu},
     {"gelu_python", Activation::gelu},
     {"gelu_pytorch_tanh", Activation::gelu},
     {"gelu_new", Activation::gelu_tanh},
     {"gelu_fast", Activation::gelu_tanh},
     {"quick_gelu", Activation::quick_gelu},
     {"relu", Activation::relu},
     {"relu2", Activation::relu_squared},
     {"relu_squared", Activation::relu_squared},
     {"linear", Activation::none},
     {"none", Activation::none}}};

}  // namespace

Activation read_activation(const ConfigReader& config, const Keys& keys, Activation class_default) {
  const std::string name = config.text(keys, "");
  if (name.empty()) return class_default;
  for (const auto& [known, activation] : kActivations) {
    if (name == known) return activation;
  }
  config.note(fmt::format("activation '{}' is not known: its elementwise work counts as that of the class default",
                          base::excerpt(name)));
  return class_default;
}

}  // namespace flopwatt::model
