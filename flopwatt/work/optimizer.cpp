#include "flopwatt/work/optimizer.hpp"

#include <algorithm>

#include "flopwatt/work/adapters.hpp"
#include "flopwatt/work/elementwise.hpp"

namespace flopwatt::work {

DeviceParameters device_parameters(const Plan& plan) {
  const Workload& w = *plan.workload;
  const bool all = w.trainable.kind == Trainable::Kind::all;
  const bool adapters = plan.backward && w.trainable.kind == Trainable::Kind::lora;
  DeviceParameters sum;
  Integer adapters_dense = 0;
  Integer adapters_experts = 0;
  const auto add = [&](const model::Tensor& tensor, const model::Block* block, std::uint64_t layers, bool trained) {
    const Integer held = plan.held(tensor, block) * layers;
    const bool expert = tensor.component == model::Component::experts;
    (expert ? sum.experts : sum.dense) += held;
    if (plan.quantization) {
      (expert ? sum.weight_bytes_experts : sum.weight_bytes_dense) += plan.weight_bytes(tensor, block, held);
    }
    if (trained) (expert ? sum.trained_experts : sum.trained_dense) += held;
  };
  for (const model::Stack& stack : plan.architecture->stacks) {
    for (const model::Tensor& tensor : stack.outside) {
      if (!plan.here(stack, tensor)) continue;
      // A tied head is the embedding's storage: training it trains that.
      const bool head = tensor.component == model::Component::lm_head ||
                        (plan.architecture->tied_embeddings && tensor.component == model::Component::embedding &&
                         tensor.use == model::Use::lookup && tensor.dims[0] == plan.architecture->vocabulary);
      add(tensor, nullptr, 1, all || (head && w.trainable.kind == Trainable::Kind::head));
    }
    for (std::size_t i = 0; i < stack.blocks.size(); ++i) {
      const auto layers = static_cast<std::uint64_t>(plan.layers(stack, i));
      if (layers == 0) continue;
      const model::Block& block = stack.blocks[i];
      for (const model::Tensor& tensor : block.tensors) {
        add(tensor, &block, layers, all);
        if (!adapters || stack.role == model::StackRole::vision || !adapted(w.trainable, tensor)) continue;
        const Cut cut = plan.cut(tensor, &block);
        const bool routed = tensor.rows == model::Rows::routed && block.routing;
        const Integer copies = routed ? block.routing->experts / plan.experts_over : 1;
        const Integer adapter = (cut.k + cut.n) * w.trainable.lora_rank * copies * layers;
        (routed ? adapters_experts : adapters_dense) += adapter;
        (routed ? sum.trained_experts : sum.trained_dense) += adapter;
      }
    }
  }
  if (!plan.quantization) {
    sum.weight_bytes_dense = to_bytes(sum.dense, plan.weight_bits);
    sum.weight_bytes_experts = to_bytes(sum.experts, plan.weight_bits);
  }
  sum.dense += adapters_dense;
  sum.experts += adapters_experts;
  sum.weight_bytes_dense += to_bytes(adapters_dense, plan.activation_bits);
  sum.weight_bytes_experts += to_bytes(adapters_experts, plan.activation_bits);
  return sum;
}

std::uint64_t optimizer_bits(const Workload& w) noexcept {
  const int state = units::bits(w.optimizer_precision);
  int bits = 0;
  switch (w.optimizer) {
    case Optimizer::adamw:
      bits = 2 * state;
      break;
    case Optimizer::adamw_8bit:
      bits = 16;
      break;
    case Optimizer::sgd_momentum:
      bits = state;
      break;
    case Optimizer::sgd:
    case Optimizer::none:
      break;
  }
  return static_cast<std::uint64_t>(bits + (w.master_weights ? 32 : 0));
}

ZeroSpread zero_spread(const Plan& plan, int from_stage) noexcept {
  const Parallel& p = plan.workload->parallel;
  if (p.zero < from_stage) return {};
  // Copies of an expert: the devices of a stage over those that share one set of experts.
  const Integer copies =
      std::max<Integer>(1, Integer{p.data} * p.tensor / (Integer{plan.experts_over} * plan.expert_tensor));
  return {.dense = p.data, .experts = std::min<Integer>(copies, p.data)};
}

Row update_row(const Plan& plan, const DeviceParameters& held) {
  const Workload& w = *plan.workload;
  const ZeroSpread spread = zero_spread(plan, 1);
  const Integer parameters =
      ceil_div(held.trained_dense, spread.dense) + ceil_div(held.trained_experts, spread.experts);
  const UpdateTraffic traffic = update_traffic(w.optimizer, w.execution);
  const auto bytes = [&](int bits) { return units::Count{to_bytes(parameters, static_cast<std::uint64_t>(bits))}; };
  const auto at = [](ByteKind kind) { return static_cast<std::size_t>(kind); };
  Row row;
  row.op = OpClass::optimizer;
  row.pass = Pass::update;
  row.label = "optimizer";
  row.precision = w.master_weights ? units::Precision::float32 : plan.other_precision;
  row.executions = 1;
  row.elementwise_flops = parameters * traffic.flops;
  // Adapters are kept in the activations' precision; where everything is trained the weights' own counts.
  const int weight_bits = w.trainable.kind == Trainable::Kind::lora ? plan.activation_bits : plan.weight_bits;
  const int state_bits = w.optimizer == Optimizer::adamw_8bit ? 8 : units::bits(w.optimizer_precision);
  int optimizer_read = state_bits * traffic.states_read;
  int optimizer_written = state_bits * traffic.states_written;
  if (w.master_weights) {
    // The fp32 copy is updated in place of the weights, which are then written from it.
    const int copies = w.execution == Execution::eager ? 1 : 0;
    optimizer_read += 32 * (traffic.weights_read + copies);
    optimizer_written += 32 * traffic.weights_written;
    row.bytes_written[at(ByteKind::weights)] = bytes(weight_bits);
  } else {
    row.bytes_read[at(ByteKind::weights)] = bytes(weight_bits * traffic.weights_read);
    row.bytes_written[at(ByteKind::weights)] = bytes(weight_bits * traffic.weights_written);
  }
  row.bytes_read[at(ByteKind::gradients)] = bytes(plan.gradient_bits * traffic.gradients_read);
  row.bytes_read[at(ByteKind::optimizer)] = bytes(optimizer_read);
  row.bytes_written[at(ByteKind::optimizer)] = bytes(optimizer_written);
  return row;
}

}  // namespace flopwatt::work
