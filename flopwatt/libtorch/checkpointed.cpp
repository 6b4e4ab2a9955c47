#include "flopwatt/libtorch/checkpointed.hpp"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/function.h>

#include <memory>
#include <mutex>
#include <utility>

namespace flopwatt::libtorch {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The random numbers of a device, kept and put back.
at::Tensor random_state(at::Device device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock{generator.mutex()};
  return generator.get_state();
}
void set_random_state(at::Device device, const at::Tensor& state) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock{generator.mutex()};
  generator.set_state(state);
}

/// What the graph keeps of a segment; an IValue can hold it because it is counted by reference.
struct Kept final : torch::CustomClassHolder {
  explicit Kept(Segment the_segment) : segment{std::move(the_segment)} {}
  Segment segment;
};

struct Checkpointed final : torch::autograd::Function<Checkpointed> {
  static at::Tensor forward(AutogradContext* context, const c10::intrusive_ptr<torch::CustomClassHolder>& kept,
                            const at::Tensor& input) {
    context->saved_data["segment"] = c10::IValue::make_capsule(kept);
    context->saved_data["random_state"] = random_state(input.device());
    context->save_for_backward({input});
    const at::NoGradGuard no_grad;
    return static_cast<Kept&>(*kept).segment(input);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto kept = context->saved_data["segment"].toCapsule();
    const at::Tensor saved = context->get_saved_variables()[0];
    const at::Tensor before = random_state(saved.device());
    set_random_state(saved.device(), context->saved_data["random_state"].toTensor());
    at::Tensor input;
    at::Tensor output;
    {
      const at::AutoGradMode with_grad{true};
      input = saved.detach();
      input.set_requires_grad(saved.requires_grad());
      output = static_cast<Kept&>(*kept).segment(input);
    }
    set_random_state(saved.device(), before);
    output.backward(gradients[0]);
    return {at::Tensor{}, input.grad()};
  }
};

}  // namespace

at::Tensor checkpointed(Segment segment, const at::Tensor& input) {
  const c10::intrusive_ptr<torch::CustomClassHolder> kept = c10::make_intrusive<Kept>(std::move(segment));
  return Checkpointed::apply(kept, input);
}

}  // namespace flopwatt::libtorch
