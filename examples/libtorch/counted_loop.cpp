// A training loop of your own: what its operators really execute, step by step.
//
// Build: link flopwatt::libtorch (CMake option FLOPWATT_LIBTORCH).

#include <torch/nn/modules/linear.h>
#include <torch/optim/adamw.h>

#include <cstdio>
#include <string>
#include <vector>

#include "flopwatt/libtorch/operator_counter.hpp"
#include "flopwatt/units/count.hpp"

int main() {
  torch::manual_seed(0);
  torch::nn::Linear first{64, 128};
  torch::nn::Linear second{128, 10};
  std::vector<torch::Tensor> parameters = first->parameters();
  for (const torch::Tensor& parameter : second->parameters()) parameters.push_back(parameter);
  torch::optim::AdamW optimizer{parameters, torch::optim::AdamWOptions{1e-3}};
  const torch::Tensor input = torch::rand({32, 64});
  const torch::Tensor target = torch::randint(10, {32}, torch::kLong);

  for (int step = 0; step < 3; ++step) {
    auto counter = flopwatt::libtorch::OperatorCounter::start();
    if (!counter) {
      std::fprintf(stderr, "%s\n", counter.error().message().c_str());
      return 1;
    }
    optimizer.zero_grad();
    const torch::Tensor logits = second->forward(torch::gelu(first->forward(input)));
    torch::cross_entropy_loss(logits, target).backward();
    optimizer.step();

    const auto counts = counter->stop();
    if (!counts) {
      std::fprintf(stderr, "%s\n", counts.error().message().c_str());
      return 1;
    }
    // Forward: 2·32·64·128 + 2·32·128·10 = 606,208.  Backward: both products of the second layer, and of the first
    // only the weight's, because nobody wants the gradient of the input.
    std::printf("step %d: forward %s, backward %s FLOPs\n", step, to_string(counts->forward).c_str(),
                to_string(counts->backward).c_str());
    for (const std::string& name : counts->not_counted) std::printf("  not counted: %s\n", name.c_str());
  }
  return 0;
}
