// An optimizer that counts: wrap the one you have, and every call of step() tells what was executed since the last one,
// without another change to the loop.

#include <torch/nn/modules/linear.h>
#include <torch/optim/adamw.h>

#include <cstdio>
#include <utility>

#include "flopwatt/libtorch/operator_counter.hpp"
#include "flopwatt/units/count.hpp"

namespace {

using flopwatt::libtorch::OperatorCounter;
using flopwatt::libtorch::OperatorCounts;

template <class Optimizer>
class Counting {
 public:
  Counting(Optimizer optimizer, OperatorCounter counter)
      : optimizer_{std::move(optimizer)}, counter_{std::move(counter)} {}

  void zero_grad() { optimizer_.zero_grad(); }

  /// Updates the weights; what the step executed, forward and backward of all its micro-batches.
  flopwatt::Result<OperatorCounts> step() {
    optimizer_.step();
    FLOPWATT_TRY(OperatorCounts counts, counter_.stop());
    FLOPWATT_TRY(counter_, OperatorCounter::start());
    return counts;
  }

 private:
  Optimizer optimizer_;
  OperatorCounter counter_;
};

flopwatt::Result<void> train() {
  torch::manual_seed(0);
  torch::nn::Linear model{16, 4};
  FLOPWATT_TRY(OperatorCounter counter, OperatorCounter::start());
  Counting optimizer{torch::optim::AdamW{model->parameters(), torch::optim::AdamWOptions{1e-3}}, std::move(counter)};
  for (int step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    // Two micro-batches, then one update.
    for (int micro_batch = 0; micro_batch < 2; ++micro_batch) model->forward(torch::rand({8, 16})).sum().backward();
    FLOPWATT_TRY(const OperatorCounts counts, optimizer.step());
    // 2 micro-batches × 2·8·16·4 forward, and as many for the weight's gradient.
    std::printf("step %d: %s FLOPs\n", step, to_string(counts.total()).c_str());
  }
  return {};
}

}  // namespace

int main() {
  if (const auto done = train(); !done) {
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return 1;
  }
  return 0;
}
