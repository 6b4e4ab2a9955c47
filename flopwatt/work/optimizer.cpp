#include "flopwatt/work/optimizer.hpp"

#include <algorithm>

#include "flopwatt/work/adapters.hpp"
#include "flopwatt/work/elementwise.hpp"

namespace flopwatt::work {

DeviceParameters device_parameters(const Plan& plan) {
  const Workload& w = *plan.workload;
  const bool all = w.trainable.kind == Trainable::Kind::all;
  DeviceParameters sum;
  const auto add = [&](const model::Tensor& tensor, const model::Block* block, Integer layers, bool trained) {
    const Integer held = plan.held(tensor, block) * layers;
    const bool expert = tensor.component == model::Component::experts;
    (expert ? sum.experts : sum.dense) += held;
    (expert ? sum.weight_bytes_experts : sum.weight_bytes_dense) += plan.weight_bytes(tensor, block, held);
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
      const Integer layers = plan.layers(stack, i);
      if (layers == 0) continue;
      const model::Block& block = stack.blocks[i];
      for (const model::Tensor& tensor : block.tensors) {
        add(tensor, &block, layers, all);
        if (stack.role == model::StackRole::vision || !adapted(w.trainable, tensor)) continue;
        const Cut cut = plan.cut(tensor, &block);
        const bool routed = tensor.rows == model::Rows::routed && block.routing;
        const Integer copies = routed ? block.routing->experts / plan.experts_over : 1;
        const Integer adapter = (cut.k + cut.n) * w.trainable.lora_rank * copies * layers;
        (routed ? sum.experts : sum.dense) += adapter;
        (routed ? sum.weight_bytes_experts : sum.weight_bytes_dense) += ceil_div(adapter * plan.activation_bits, 8);
        (routed ? sum.trained_experts : sum.trained_dense) += adapter;
      }
    }
  }
  return sum;
}

Integer optimizer_bits(const Workload& w) noexcept {
  const Integer state = units::bits(w.optimizer_precision);
  Integer bits = 0;
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
  return bits + (w.master_weights ? 32 : 0);
}

ZeroSpread zero_spread(const Plan& plan, int from_stage) noexcept {
  const Parallel& p = plan.workload->parallel;
  if (p.zero < from_stage) return {};
  // Copies of an expert: the devices of a stage over those that share one set of experts.
  const Integer copies =
      std::max<Integer>(1, Integer{p.data} * p.tensor / (Integer{plan.experts_over} * plan.expert_tensor));
  return {.dense = p.data, .experts = std::min<Integer>(copies, p.data)};
}

Row update_row(const Plan& plan) {
  const Workload& w = *plan.workload;
  const DeviceParameters held = device_parameters(plan);
  const ZeroSpread spread = zero_spread(plan, 1);
  const Integer parameters =
      ceil_div(held.trained_dense, spread.dense) + ceil_div(held.trained_experts, spread.experts);
  const UpdateTraffic traffic = update_traffic(w.optimizer, w.execution);
  const auto bytes = [&](Integer bits) { return units::Count{ceil_div(parameters * bits, 8)}; };
  const auto at = [](ByteKind kind) { return static_cast<std::size_t>(kind); };
  Row row;
  row.op = OpClass::optimizer;
  row.pass = Pass::update;
  row.label = "optimizer";
  row.precision = w.master_weights ? units::Precision::float32 : plan.other_precision;
  row.executions = 1;
  row.elementwise_flops = parameters * traffic.flops;
  // Adapters are kept in the activations' precision; where everything is trained the weights' own counts.
  const Integer weight_bits = w.trainable.kind == Trainable::Kind::lora ? plan.activation_bits : plan.weight_bits;
  const Integer state_bits = w.optimizer == Optimizer::adamw_8bit ? 8 : units::bits(w.optimizer_precision);
  Integer optimizer_read = state_bits * traffic.states_read;
  Integer optimizer_written = state_bits * traffic.states_written;
  if (w.master_weights) {
    // The fp32 copy is updated in place of the weights, which are then written from it.
    const Integer copies = w.execution == Execution::eager ? 1 : 0;
    optimizer_read += 32 * (traffic.weights_read + copies);
    optimizer_written += 32 * traffic.weights_written;
    row.bytes_written[at(ByteKind::weights)] = bytes(weight_bits);
  } else {
    row.bytes_read[at(ByteKind::weights)] = bytes(weight_bits * traffic.weights_read);
    row.bytes_written[at(ByteKind::weights)] = bytes(weight_bits * traffic.weights_written);
  }
  row.bytes_read[at(ByteKind::gradients)] = bytes(Integer{plan.gradient_bits} * traffic.gradients_read);
  row.bytes_read[at(ByteKind::optimizer)] = bytes(optimizer_read);
  row.bytes_written[at(ByteKind::optimizer)] = bytes(optimizer_written);
  return row;
}

}  // namespace flopwatt::work
