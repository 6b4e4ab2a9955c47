#include <algorithm>

#include "flopwatt/work/adapters.hpp"
#include "flopwatt/work/elementwise.hpp"
#include "flopwatt/work/ledger.hpp"
#include "flopwatt/work/optimizer.hpp"
#include "flopwatt/work/plan.hpp"
#include "flopwatt/work/row_writer.hpp"
#include "flopwatt/work/sequence_mixing.hpp"
#include "flopwatt/work/tensor_part.hpp"

namespace flopwatt::work {
namespace {

using model::Component;
using model::Rows;
using model::Tensor;
using model::Use;

class Counter {
 public:
  Counter(const Plan& plan, const DeviceParameters& held, std::size_t rows)
      : plan_{plan}, held_{held}, workload_{*plan.workload}, tensor_{plan.tensor_parallel}, writer_{rows} {}

  void count();
  [[nodiscard]] bool exact() const noexcept { return writer_.exact(); }
  [[nodiscard]] RowWriter& writer() noexcept { return writer_; }

 private:
  struct BlockSums {
    Integer norm_elements = 0;                         ///< per token
    Integer mlp_width = 0, expert_width = 0;           ///< of the activation functions' results
    Integer small_weights = 0, small_gradients = 0;    ///< bytes of norms and biases
    Integer expert_weights = 0, expert_gradients = 0;  ///< the same of experts: in a pass those that are reached
    Integer loose_parameters = 0;                      ///< parameters that are no product, per token
  };

  void run(const Run& run);
  void block(const Run& run, const model::Block& block, const LayerCounts& layers, bool trained);
  /// Rows that the experts of this device take over all passes: by the count, and as executed.
  struct RoutedRows {
    Integer model = 0, hardware = 0;
    Integer experts = 0;  ///< that this device runs in one pass
  };
  [[nodiscard]] RoutedRows routed_rows(const Run& run, const model::Routing& routing, Integer rows) const;
  void product(const Run& run, const Tensor& tensor, const model::Block* block, const LayerCounts& layers,
               bool trained);
  void adapter(const Operation& base, const LayerCounts& layers, Integer experts, Integer passes);
  void elementwise(const Run& run, const model::Block& block, const BlockSums& sums, const LayerCounts& layers,
                   bool trained);
  void outside(const Run& run, const Tensor& tensor);
  void loose_parameters(const Run& run, Integer parameters, const LayerCounts& layers);
  void update();
  void move(Operation& operation, Integer elements, Traffic traffic) const;
  [[nodiscard]] LayerCounts layer_counts(const Run& run, std::size_t block) const;
  [[nodiscard]] Integer rows_of(const Run& run, const Tensor& tensor) const;
  [[nodiscard]] bool trains_everything() const { return workload_.trainable.kind == Trainable::Kind::all; }
  [[nodiscard]] bool trains_head() const {
    return trains_everything() || workload_.trainable.kind == Trainable::Kind::head;
  }
  [[nodiscard]] Integer activation(Integer elements) const { return to_bytes(elements, plan_.activation_bits); }

  const Plan& plan_;
  const DeviceParameters& held_;
  const Workload& workload_;
  Integer tensor_;
  RowWriter writer_;
};

LayerCounts Counter::layer_counts(const Run& run, std::size_t block) const {
  const model::Stack& stack = *run.stack;
  LayerCounts result{.forward = plan_.layers(stack, block)};
  if (!plan_.backward) return result;
  if (plan_.is_text(stack)) {
    result.backward =
        plan_.first_trained_layer == 0 ? result.forward : plan_.layers_from(stack, block, plan_.first_trained_layer);
  } else {
    const bool adapters = workload_.trainable.kind == Trainable::Kind::lora && stack.role != model::StackRole::vision;
    result.backward = trains_everything() || adapters ? result.forward : 0;
  }
  if (workload_.recompute == Recompute::selective) result.recompute_core = result.backward;
  if (workload_.recompute == Recompute::full) {
    result.recompute =
        workload_.recompute_layers
            ? std::min<std::int64_t>(result.backward, plan_.first_layers(stack, block, *workload_.recompute_layers))
            : result.backward;
  }
  return result;
}

Integer Counter::rows_of(const Run& run, const Tensor& tensor) const {
  Integer rows = 0;
  switch (tensor.rows) {
    case Rows::tokens:
    case Rows::routed:
      rows = run.tokens;
      break;
    case Rows::logits:
      rows = run.logits_rows;
      break;
    case Rows::sequences:
      rows = ceil_div(run.sequences * run.passes, workload_.parallel.data);
      break;
    case Rows::memory:
      rows = run.memory_tokens;
      break;
    case Rows::patches: {
      const auto& vision = plan_.architecture->vision;
      const Integer patches = plan_.image_tokens - (vision ? vision->extra_tokens : 0);
      rows = ceil_div(run.sequences * patches, plan_.replicas);
      break;
    }
  }
  return ceil_div(rows * tensor.rows_factor, tensor.rows_divisor);
}

Counter::RoutedRows Counter::routed_rows(const Run& run, const model::Routing& routing, Integer rows) const {
  const Integer all = routing.experts;
  RoutedRows result{.model = rows * routing.top_k, .hardware = rows * routing.top_k};
  if (workload_.capacity_factor > 0) {
    // Every expert computes `capacity` rows; what is routed beyond them is dropped.
    const Integer capacity = std::max<Integer>(
        1, static_cast<Integer>(
               workload_.capacity_factor * static_cast<double>(result.model) / static_cast<double>(all) + 0.999999));
    result.hardware = capacity * all;
    result.model = std::min(result.model, result.hardware);
  }
  if (plan_.expert_tensor != plan_.tensor_parallel) result.hardware = ceil_div(result.hardware, tensor_);
  result.experts = std::min(all / plan_.experts_over, ceil_div(result.hardware, run.passes));
  return result;
}

void Counter::product(const Run& run, const Tensor& tensor, const model::Block* block, const LayerCounts& layers,
                      bool trained) {
  const Cut cut = plan_.cut(tensor, block);
  Integer rows = rows_of(run, tensor);
  if (rows == 0) return;
  const bool routed = tensor.rows == Rows::routed && block && block->routing;
  Integer experts = 1;  // that this device runs in one pass
  Integer hardware_rows = rows;
  if (routed) {
    const RoutedRows reached = routed_rows(run, *block->routing, rows);
    rows = reached.model;
    hardware_rows = reached.hardware;
    experts = reached.experts;
  } else if (cut.sequence_split) {
    hardware_rows = ceil_div(rows, tensor_);
  }
  Operation o{.product = true, .component = tensor.component, .label = tensor.label};
  o.op = routed ? OpClass::experts : tensor.component == Component::lm_head ? OpClass::lm_head : OpClass::linear;
  const bool linear = block && tensor.component != Component::router;
  o.precision = linear ? plan_.linear_precision : plan_.other_precision;
  const Integer passes_experts = run.passes * experts;
  o.m = static_cast<std::int64_t>(ceil_div(hardware_rows, passes_experts));
  o.k = static_cast<std::int64_t>(cut.k);
  o.n = static_cast<std::int64_t>(cut.n);
  o.executions = passes_experts;
  const bool one_a_sequence = tensor.rows == Rows::sequences || (tensor.rows == Rows::logits && !plan_.logits_all);
  const Integer repeats = one_a_sequence ? run.sequence_repeats : run.token_repeats;
  o.model_flops = ceil_div(2 * rows * tensor.k * tensor.n, cut.model_divisor * repeats);
  o.hardware_flops = 2 * hardware_rows * cut.k * cut.n;
  const Integer weights = cut.k * cut.n * experts;
  o.weights_read = plan_.weight_bytes(tensor, block, weights) * run.passes;
  const int operand_bits =
      linear ? std::min(units::bits(plan_.linear_precision), plan_.activation_bits) : plan_.activation_bits;
  o.activations_read = to_bytes(hardware_rows * cut.k, operand_bits);
  const Integer written = activation(hardware_rows * cut.n);
  if (tensor.component == Component::lm_head && tensor.rows == Rows::logits) {
    o.logits_written = written;
  } else {
    o.activations_written = written;
  }
  o.trained = trained;
  o.activation_gradient = !plan_.trains_head_alone();
  if (plan_.backward && trained) {
    const Integer held =
        routed ? cut.k * cut.n * (Integer{block->routing->experts} / plan_.experts_over) : cut.k * cut.n;
    o.gradients = to_bytes(held, plan_.gradient_bits);
  }
  if (block && linear && tensor.label == "attention.kv_b" && run.kind == Run::Kind::steps) {
    o.label = "attention.kv_b_absorbed";
  }
  writer_.write(o, layers);
  if (block && plan_.backward && adapted(workload_.trainable, tensor)) adapter(o, layers, experts, run.passes);
}

// Two thin products beside a frozen one, in one row: their FLOPs are 2·m·r·(k + n).
void Counter::adapter(const Operation& base, const LayerCounts& layers, Integer experts, Integer passes) {
  const std::int64_t rank = workload_.trainable.lora_rank;
  Operation o = base;
  o.label = "lora";
  o.op = OpClass::linear;
  o.precision = plan_.other_precision;
  o.n = rank;
  o.executions = 2 * base.executions;
  const Integer rows = Integer{base.m} * base.executions;
  o.model_flops = o.hardware_flops = 2 * rows * rank * (Integer{base.k} + base.n);
  o.weights_read = activation(rank * (Integer{base.k} + base.n)) * experts * passes;
  o.activations_read = activation(rows * (Integer{base.k} + rank));
  o.activations_written = activation(rows * (Integer{base.n} + rank));
  o.gradients = to_bytes(rank * (Integer{base.k} + base.n) * experts, plan_.gradient_bits);
  o.trained = true;
  writer_.write(o, layers);
}

void Counter::loose_parameters(const Run& run, Integer parameters, const LayerCounts& layers) {
  if (workload_.body != BodyCount::parameters || parameters == 0) return;
  Operation o{.op = OpClass::linear, .component = Component::norm, .label = "body.parameters"};
  o.model_flops = ceil_div(2 * run.tokens * parameters, tensor_ * run.token_repeats);
  writer_.write(o, {.forward = layers.forward, .backward = layers.backward});
}

// Bytes of `elements` that each move `traffic`.
void Counter::move(Operation& o, Integer elements, Traffic traffic) const {
  o.activations_read += to_bytes(elements, traffic.read);
  o.activations_written += to_bytes(elements, traffic.written);
  o.backward_read += to_bytes(elements, traffic.backward_read);
  o.backward_written += to_bytes(elements, traffic.backward_written);
}

void Counter::elementwise(const Run& run, const model::Block& block, const BlockSums& sums, const LayerCounts& layers,
                          bool trained) {
  const model::Elementwise& kind = block.elementwise;
  const Execution execution = workload_.execution;
  const int bits = plan_.activation_bits;
  const Integer hidden = run.stack->hidden;
  const Integer split = workload_.parallel.sequence ? tensor_ : 1;
  const Integer tokens = ceil_div(run.tokens, split);
  const bool sees = run.stack->role == model::StackRole::vision;
  Operation norm{.component = sees ? Component::vision : Component::norm,
                 .precision = plan_.other_precision,
                 .label = "norm+residual"};
  norm.executions = run.passes;
  norm.elementwise_flops = tokens * (norm_flops(kind.norm) * sums.norm_elements + kind.residuals * hidden);
  move(norm, tokens * sums.norm_elements, norm_traffic(kind.norm, execution, bits));
  move(norm, tokens * kind.residuals * hidden, residual_traffic(bits));
  norm.weights_read = sums.small_weights * run.passes;
  norm.gradients = sums.small_gradients;
  norm.trained = trained;
  writer_.write(norm, layers);

  const auto activate = [&](std::string_view label, Component component, Integer rows, Integer width) {
    if (width == 0) return;
    Operation o{.component = component, .precision = plan_.other_precision, .label = label};
    const Integer results = rows * ceil_div(width, tensor_);
    o.elementwise_flops = results * activation_flops(kind.activation, kind.gated);
    move(o, results, activation_traffic(kind.activation, kind.gated, execution, bits));
    o.executions = run.passes;
    writer_.write(o, layers);
  };
  activate("mlp.activation", sees ? Component::vision : Component::mlp, run.tokens, sums.mlp_width);
  if (block.routing) {
    const Integer rows = run.tokens * block.routing->top_k;
    activate("experts.activation", Component::experts, rows, sums.expert_width);
    // Tokens are copied to their experts' order, and their outputs weighted and added up.
    Operation o{.component = Component::experts, .precision = plan_.other_precision, .label = "experts.dispatch"};
    o.elementwise_flops = ceil_div(2 * rows * hidden, split);
    move(o, ceil_div((run.tokens + rows) * hidden, split), {bits, bits, bits, bits});
    o.weights_read = sums.expert_weights * run.passes;  // biases that are added to the experts' results
    o.gradients = sums.expert_gradients;
    o.trained = trained;
    o.executions = run.passes;
    writer_.write(o, layers);
  }
}

void Counter::block(const Run& run, const model::Block& block, const LayerCounts& layers, bool trained) {
  const std::int64_t hidden = run.stack->hidden;
  BlockSums sums;
  for (const Tensor& tensor : block.tensors) {
    if (tensor.use == Use::product) {
      product(run, tensor, &block, layers, trained);
      if (tensor.label.ends_with("down")) {
        if (part_of(tensor) == Component::mlp) sums.mlp_width += tensor.k;
        if (tensor.rows == Rows::routed) sums.expert_width += tensor.k;
      }
      continue;
    }
    Integer held = stored_elements(tensor);
    if (part_of(tensor) == Component::norm) {
      // A norm of the head's width runs on every head.
      Integer width = tensor.dims[0];
      if (!block.attentions.empty() && tensor.dims[0] == block.attentions.front().head_dim &&
          tensor.dims[0] != hidden) {
        const model::Attention& a = block.attentions.front();
        const bool key =
            tensor.name.find("k_norm") != std::string::npos || tensor.name.find("k_layer") != std::string::npos;
        width *= key ? a.kv_heads : a.query_heads;
      }
      if (!tensor.name.ends_with("bias")) sums.norm_elements += width;
    }
    if (tensor.component == Component::experts && block.routing) {
      sums.loose_parameters += held * block.routing->top_k / block.routing->experts;
      // A tensor's elements of one expert times the experts that a pass reaches.
      held = plan_.held(tensor, &block);
      const Integer local = block.routing->experts / plan_.experts_over;
      const Integer reached = routed_rows(run, *block.routing, run.tokens).experts;
      sums.expert_weights += to_bytes(ceil_div(held * reached, local), plan_.weight_bits);
      sums.expert_gradients += to_bytes(held, plan_.gradient_bits);
      continue;
    }
    sums.loose_parameters += held;
    sums.small_weights += to_bytes(held, plan_.weight_bits);
    sums.small_gradients += to_bytes(held, plan_.gradient_bits);
  }
  for (const model::Attention& attention : block.attentions) {
    write_attention(plan_, run, block, attention, layers, writer_);
  }
  if (block.recurrence) write_recurrence(plan_, run, *block.recurrence, layers, writer_);
  elementwise(run, block, sums, layers, trained);
  loose_parameters(run, sums.loose_parameters, layers);
}

void Counter::outside(const Run& run, const Tensor& tensor) {
  if (!plan_.here(*run.stack, tensor)) return;
  const bool text = plan_.is_text(*run.stack);
  const bool head = tensor.component == Component::lm_head;
  const bool top = head || tensor.component == Component::norm || tensor.rows == Rows::logits ||
                   tensor.rows == Rows::sequences || tensor.label.ends_with("out");
  const bool trained = head ? trains_head() : trains_everything();
  LayerCounts once;
  if (plan_.backward)
    once.backward = trains_everything() || (text && top && (head || !plan_.trains_head_alone())) ? 1 : 0;
  if (tensor.use == Use::product) {
    product(run, tensor, nullptr, once, trained);
    if (head && tensor.rows == Rows::logits && workload_.phase == Phase::train) {
      Operation loss{.component = Component::lm_head, .precision = plan_.other_precision, .label = "loss"};
      const Integer logits = run.logits_rows * ceil_div(tensor.n, tensor_);
      const Traffic traffic = loss_traffic(workload_.execution, plan_.activation_bits);
      loss.elementwise_flops = kLossFlops * logits;
      loss.logits_read = to_bytes(logits, traffic.read);
      loss.logits_written = to_bytes(logits, traffic.written);
      loss.logits_backward_read = to_bytes(logits, traffic.backward_read);
      loss.logits_backward_written = to_bytes(logits, traffic.backward_written);
      writer_.write(loss, once);
    }
    return;
  }
  const Integer elements = stored_elements(tensor);
  Operation o{.component = tensor.component, .precision = plan_.other_precision, .label = tensor.label};
  o.executions = run.passes;
  if (tensor.use == Use::lookup) {
    const Integer width = tensor.rank > 1 ? tensor.dims[1] : 1;
    const bool shared = plan_.architecture->tied_embeddings && tensor.component == Component::embedding &&
                        tensor.dims[0] == plan_.architecture->vocabulary;
    o.weights_read = to_bytes(run.tokens * width, plan_.weight_bits);
    o.activations_written = activation(run.tokens * width);
    o.gradients = to_bytes(plan_.held(tensor, nullptr), plan_.gradient_bits);
    o.backward_read = o.activations_written;
    if (shared && plan_.pipeline == 1) {
      // The head's product has written this gradient: it is added to in place, or eagerly made apart and summed.
      o.gradients = workload_.execution == Execution::eager ? 2 * o.gradients : 0;
      o.gradients_read = o.gradients;
    }
    if (once.backward == 0 && plan_.backward && shared && trains_head() && text) once.backward = 1;
    o.trained = once.backward > 0;
  } else {
    if (part_of(tensor) == Component::norm && !tensor.name.ends_with("bias")) {
      const Integer rows = rows_of(run, tensor);
      const model::Norm kind =
          run.stack->blocks.empty() ? model::Norm::none : run.stack->blocks.front().elementwise.norm;
      o.elementwise_flops = norm_flops(kind) * rows * tensor.dims[0];
      move(o, rows * tensor.dims[0], norm_traffic(kind, workload_.execution, plan_.activation_bits));
    }
    o.weights_read = to_bytes(elements, plan_.weight_bits) * run.passes;
    o.gradients = to_bytes(elements, plan_.gradient_bits);
    o.trained = trained;
    if (tensor.component != Component::embedding && !head) loose_parameters(run, elements, once);
  }
  writer_.write(o, once);
}

void Counter::run(const Run& run) {
  const model::Stack& stack = *run.stack;
  for (const Tensor& tensor : stack.outside) {
    if (tensor.use == Use::lookup) outside(run, tensor);
  }
  for (std::size_t i = 0; i < stack.blocks.size(); ++i) {
    const LayerCounts layers = layer_counts(run, i);
    if (layers.forward > 0) block(run, stack.blocks[i], layers, trains_everything());
  }
  for (const Tensor& tensor : stack.outside) {
    if (tensor.use != Use::lookup) outside(run, tensor);
  }
}

void Counter::count() {
  for (const Run& each : plan_.all_runs()) run(each);
  if (plan_.backward && workload_.optimizer != Optimizer::none) {
    writer_.write_update(update_row(plan_, held_));
  }
}

}  // namespace

class LedgerMaker {
 public:
  static Ledger make(RowWriter& writer, units::Count tokens) {
    Ledger ledger;
    ledger.totals_ = writer.totals();
    ledger.totals_.tokens = tokens;
    ledger.rows_ = writer.take();
    return ledger;
  }
};

Result<Ledger> count(const Plan& plan, const DeviceParameters& held) {
  const Workload& workload = *plan.workload;
  std::size_t most_rows = 1;
  Integer rows = 0;
  Integer tokens = 0;
  for (const Run& run : plan.all_runs()) {
    std::size_t operations = 2 * run.stack->outside.size() + 1;
    for (const model::Block& block : run.stack->blocks) operations += block.tensors.size() + 8;
    most_rows += operations;
    rows += run.tokens + run.memory_tokens;
    if (plan.is_text(*run.stack) || plan.run_count == 1) tokens += run.tokens;
  }
  if (plan.backward) most_rows *= workload.recompute == Recompute::none ? 2 : 3;
  Counter counter{plan, held, most_rows};
  counter.count();
  if (!counter.exact() || static_cast<double>(rows) * plan.products > 0x1p104) {
    return fail(Errc::usage, "the count does not fit into 128 bits", "--seq", "count less at once");
  }
  if (workload.phase == Phase::generate) {
    tokens = ceil_div(plan.runs[plan.run_count - 1].sequences * workload.new_tokens, workload.parallel.data);
  }
  return LedgerMaker::make(counter.writer(), tokens);
}

Result<Ledger> count(const model::Architecture& architecture, const Workload& workload) {
  FLOPWATT_TRY(const Plan plan, make_plan(architecture, workload));
  return count(plan, plan.backward ? device_parameters(plan) : DeviceParameters{});
}

Result<StepCount> count_step(const model::Architecture& architecture, const Workload& workload) {
  FLOPWATT_TRY(const Plan plan, make_plan(architecture, workload));
  const DeviceParameters held = device_parameters(plan);
  FLOPWATT_TRY(Ledger ledger, count(plan, held));
  FLOPWATT_TRY(const Memory memory_of_step, memory(plan, held));
  const Totals totals = ledger.totals();
  return StepCount{std::move(ledger), totals, memory_of_step};
}

}  // namespace flopwatt::work
