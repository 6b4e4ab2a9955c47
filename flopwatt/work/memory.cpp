#include <algorithm>

#include "flopwatt/work/activations.hpp"
#include "flopwatt/work/ledger.hpp"
#include "flopwatt/work/optimizer.hpp"
#include "flopwatt/work/sequence_mixing.hpp"

namespace flopwatt::work {
namespace {

// Positions of context that a layer still holds when a sequence has reached `length`.
Integer held_positions(Reach reach, bool sparse, std::int64_t length) noexcept {
  if (reach.kind == Reach::Kind::everything || sparse) return length;
  return std::min(reach.bound, length);
}

void add_cache(const Plan& plan, const Run& run, Memory& memory) {
  const Workload& w = *plan.workload;
  const std::int64_t grown = run.kind == Run::Kind::steps ? run.last : 0;
  const model::Stack& stack = *run.stack;
  Integer elements = 0;
  for (std::size_t i = 0; i < stack.blocks.size(); ++i) {
    const Integer layers = plan.layers(stack, i);
    for (const model::Attention& a : stack.blocks[i].attentions) {
      const CachedElements cached = cached_elements(a, plan.tensor_parallel);
      const Reach reached = a.sparse ? Reach{} : reach(a);
      const Integer positions =
          a.cross ? plan.encoder_length * run.sequences : sum_over_sequences(w, 0, [&](std::int64_t length) {
            return held_positions(reached, a.sparse.has_value(), length + grown);
          });
      elements += ceil_div(positions, plan.replicas) * (cached.keys_values + cached.index) * layers;
    }
    if (stack.blocks[i].recurrence) {
      elements += ceil_div(run.sequences, w.parallel.data) *
                  ceil_div(state_elements(*stack.blocks[i].recurrence), plan.tensor_parallel) * layers;
    }
  }
  memory.kv_cache = to_bytes(elements, plan.kv_bits);
}

void add_activations(const Plan& plan, const Run& run, Memory& memory) {
  const Workload& w = *plan.workload;
  const model::Stack& stack = *run.stack;
  const bool text = plan.is_text(stack);
  Integer kept_bytes = 0;
  Integer workspace = 0;
  for (std::size_t i = 0; i < stack.blocks.size(); ++i) {
    const model::Block& block = stack.blocks[i];
    if (!plan.backward) {
      workspace = std::max(workspace, widest_moment(plan, run, block));
      continue;
    }
    const bool frozen = !text && w.trainable.kind != Trainable::Kind::all &&
                        (w.trainable.kind != Trainable::Kind::lora || stack.role == model::StackRole::vision);
    const Integer layers = frozen ? 0
                           : text ? plan.layers_from(stack, i, plan.first_trained_layer)
                                  : Integer{plan.layers(stack, i)};
    if (layers == 0) continue;
    const KeptActivations kept = kept_activations(plan, run, block);
    const Integer scores = w.recompute == Recompute::selective ? 0 : kept.scores;
    Integer rebuilt = 0;
    if (w.recompute == Recompute::full) {
      rebuilt =
          w.recompute_layers ? std::min<Integer>(layers, plan.first_layers(stack, i, *w.recompute_layers)) : layers;
    }
    kept_bytes += (layers - rebuilt) * (kept.linear + scores) + rebuilt * kept.input;
    if (rebuilt > 0) workspace = std::max(workspace, kept.linear + kept.scores - kept.input);
    if (w.recompute == Recompute::selective) workspace = std::max(workspace, kept.scores);
  }
  memory.activations += kept_bytes * w.parallel.in_flight;
  memory.workspace = std::max(memory.workspace, units::Count{workspace});
  if (!text || !plan.last_stage) return;

  for (const model::Tensor& tensor : stack.outside) {
    if (tensor.component != model::Component::lm_head || tensor.use != model::Use::product) continue;
    const Integer vocabulary = ceil_div(tensor.n, plan.tensor_parallel);
    const Integer rows = plan.backward ? run.logits_rows : ceil_div(run.logits_rows, run.passes);
    const int bits = plan.activation_bits + (w.phase == Phase::train ? (plan.backward ? 64 : 32) : 0);
    memory.logits = std::max(memory.logits, units::Count{to_bytes(rows * vocabulary, bits)});
  }
  // Inputs of the final norm and of the head (section 4.3 of the paper); of the head alone where only it is trained.
  const Integer over = w.parallel.sequence ? plan.tensor_parallel : 1;
  if (plan.backward) {
    const Integer inputs = plan.trains_head_alone() ? 1 : 2;
    memory.activations += inputs * to_bytes(ceil_div(run.tokens * stack.hidden, over), plan.activation_bits);
  }
}

}  // namespace

Result<Memory> memory(const Plan& plan, const DeviceParameters& held) {
  const Workload& workload = *plan.workload;
  const auto spread = [&](Integer dense, Integer experts, int stage) -> units::Count {
    const ZeroSpread over = zero_spread(plan, stage);
    return ceil_div(dense, over.dense) + ceil_div(experts, over.experts);
  };
  const auto bytes = [](Integer parameters, std::uint64_t bits) { return to_bytes(parameters, bits); };
  Memory memory;
  memory.weights = spread(held.weight_bytes_dense, held.weight_bytes_experts, 3);
  if (plan.backward) {
    memory.gradients =
        spread(bytes(held.trained_dense, plan.gradient_bits), bytes(held.trained_experts, plan.gradient_bits), 2);
    if (workload.optimizer != Optimizer::none) {
      const std::uint64_t bits = optimizer_bits(workload);
      memory.optimizer = spread(bytes(held.trained_dense, bits), bytes(held.trained_experts, bits), 1);
    }
  }
  for (const Run& run : plan.all_runs()) {
    add_activations(plan, run, memory);
    const bool cached = workload.phase == Phase::prefill || workload.phase == Phase::decode ||
                        (workload.phase == Phase::generate && workload.kv_cache);
    if (cached && plan.is_text(*run.stack)) add_cache(plan, run, memory);
  }
  memory.total = memory.weights + memory.gradients + memory.optimizer + memory.activations + memory.logits +
                 memory.kv_cache + memory.workspace;
  if (memory.total.to_double() > 0x1p100 || memory.total < 0) {
    return fail(Errc::usage, "the memory does not fit into 128 bits", "--seq", "count less at once");
  }
  return memory;
}

Result<Memory> memory(const model::Architecture& architecture, const Workload& workload) {
  FLOPWATT_TRY(const Plan plan, make_plan(architecture, workload));
  return memory(plan, device_parameters(plan));
}

units::Count kv_cache_bytes_per_token(const model::Architecture& architecture, units::Precision precision) {
  Integer elements = 0;
  const model::Stack& text = architecture.text();
  for (std::size_t i = 0; i < text.blocks.size(); ++i) {
    for (const model::Attention& a : text.blocks[i].attentions) {
      if (a.cross || text.role != model::StackRole::decoder) continue;
      const CachedElements cached = cached_elements(a, 1);
      elements += (cached.keys_values + cached.index) * text.block_counts[i];
    }
  }
  return to_bytes(elements, units::bits(precision));
}

units::Count state_bytes_per_sequence(const model::Architecture& architecture, units::Precision precision) {
  Integer elements = 0;
  const model::Stack& text = architecture.text();
  for (std::size_t i = 0; i < text.blocks.size(); ++i) {
    if (text.blocks[i].recurrence) elements += state_elements(*text.blocks[i].recurrence) * text.block_counts[i];
  }
  return to_bytes(elements, units::bits(precision));
}

}  // namespace flopwatt::work
