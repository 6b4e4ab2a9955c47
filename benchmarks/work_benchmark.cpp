// What a full count of a training step costs: ledger, totals and memory, beside a straightforward loop over every layer
// and every one of its tensors that knows the same formulas.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "flopwatt/work/ledger.hpp"
#include "flopwatt/work/testing/architectures.hpp"

namespace flopwatt::work {
namespace {

const model::Architecture& llama_405b() {
  static const model::Architecture architecture = testing::dense(testing::kLlama3_405B);
  return architecture;
}
const model::Architecture& llama_405b_of(std::int64_t layers) {
  static model::Architecture architecture;
  testing::Dense shape = testing::kLlama3_405B;
  shape.layers = layers;
  return architecture = testing::dense(shape);
}
const model::Architecture& deepseek_v3() {
  static const model::Architecture architecture = testing::deepseek_v3();
  return architecture;
}

void train_step(benchmark::State& state, const model::Architecture& architecture) {
  const Workload workload{.batch = 16, .sequence = 8192, .kernel = Kernel::flash};
  for (auto _ : state) {
    benchmark::DoNotOptimize(count_step(architecture, workload));
  }
}

// The same FLOPs, bytes of weights, gradients, optimizer and activations, layer by layer.
struct LoopTotals {
  units::Count forward, backward, weight_bytes, gradient_bytes, optimizer_bytes, activation_bytes, parameters, kept;
};
LoopTotals loop_over_layers(const model::Architecture& architecture, std::int64_t batch, std::int64_t sequence) {
  LoopTotals sum;
  const units::Count tokens = units::Count{batch} * sequence;
  const auto visit = [&](const model::Tensor& tensor, const model::Block* block) {
    const units::Count parameters = model::parameters(tensor);
    sum.parameters += parameters;
    sum.gradient_bytes += parameters * 4;
    sum.optimizer_bytes += parameters * 16;
    sum.weight_bytes += parameters * 4;
    if (tensor.use != model::Use::product) return;
    const units::Count rows = tensor.rows == model::Rows::routed ? tokens * block->routing->top_k
                                                                 : tokens / units::Count{tensor.rows_divisor};
    const units::Count flops = units::Count{2} * rows * tensor.k * tensor.n;
    sum.forward += flops;
    sum.backward += flops * 2;
    sum.weight_bytes += units::Count{tensor.k} * tensor.n * tensor.copies * 4;
    sum.activation_bytes += rows * (units::Count{tensor.k} + tensor.n) * 6;
    sum.kept += rows * tensor.k * 2;
  };
  for (const model::Stack& stack : architecture.stacks) {
    for (const model::Tensor& tensor : stack.outside) visit(tensor, nullptr);
    for (const std::uint16_t index : stack.layers) {
      const model::Block& block = stack.blocks[index];
      for (const model::Tensor& tensor : block.tensors) visit(tensor, &block);
      for (const model::Attention& a : block.attentions) {
        const units::Count flops =
            tokens * sequence * 2 * a.query_heads * (units::Count{a.head_dim} + a.value_head_dim);
        sum.forward += flops;
        sum.backward += flops * 2;
      }
    }
  }
  return sum;
}

void per_layer_loop(benchmark::State& state, const model::Architecture& architecture) {
  for (auto _ : state) benchmark::DoNotOptimize(loop_over_layers(architecture, 16, 8192));
}

BENCHMARK_CAPTURE(train_step, llama_3_405b, llama_405b());
BENCHMARK_CAPTURE(per_layer_loop, llama_3_405b, llama_405b());
BENCHMARK_CAPTURE(train_step, deepseek_v3, deepseek_v3());
BENCHMARK_CAPTURE(per_layer_loop, deepseek_v3, deepseek_v3());

// A uniform stack costs the same at any depth.
void train_step_by_layers(benchmark::State& state) { train_step(state, llama_405b_of(state.range(0))); }
BENCHMARK(train_step_by_layers)->Arg(1)->Arg(126)->Arg(10'000);

void census_of(benchmark::State& state, const model::Architecture& architecture) {
  for (auto _ : state) benchmark::DoNotOptimize(model::census(architecture));
}
BENCHMARK_CAPTURE(census_of, deepseek_v3, deepseek_v3());

}  // namespace
}  // namespace flopwatt::work
