#include "flopwatt/work/sequence_mixing.hpp"

#include <algorithm>

#include "flopwatt/work/elementwise.hpp"

namespace flopwatt::work {
namespace {

using model::Attention;
using model::Component;

// Twice the pairs of a run over the whole batch, under one convention.
Integer twice_pairs_of(const Plan& plan, const Run& run, Reach reach, bool causal, MaskConvention mask) {
  const Workload& w = *plan.workload;
  if (run.length > 0) return twice_pairs(reach, causal, mask, run.length) * run.sequences;
  return sum_over_sequences(w, 0, [&](std::int64_t length) -> Integer {
    switch (run.kind) {
      case Run::Kind::whole:
        return twice_pairs(reach, causal, mask, length);
      case Run::Kind::steps:
        return 2 * keys_sum(reach, length + run.first, length + run.last);
      case Run::Kind::regrow:
        break;
    }
    return twice_pairs_sum(reach, causal, mask, length + run.first, length + run.last);
  });
}

// Queries meet every position of the encoder's output.
Integer twice_cross_pairs(const Plan& plan, const Run& run) {
  const Workload& w = *plan.workload;
  Integer queries = run.sequences * run.passes;
  if (run.kind == Run::Kind::whole)
    queries = sum_over_sequences(w, 0, [](std::int64_t length) -> Integer { return length; });
  if (run.kind == Run::Kind::regrow) {
    queries = sum_over_sequences(
        w, 0, [&](std::int64_t length) -> Integer { return run.passes * length + run.passes * (run.passes - 1) / 2; });
  }
  return 2 * queries * plan.encoder_length;
}

Integer visited(const Plan& plan, const Run& run, const Attention& attention, Reach reached) {
  const Workload& w = *plan.workload;
  if (run.kind == Run::Kind::steps) {
    return twice_pairs_of(plan, run, reached, attention.causal, MaskConvention::causal);
  }
  if (w.kernel == Kernel::eager) return twice_pairs_of(plan, run, {}, false, MaskConvention::full);
  const bool dense_mask = w.kernel == Kernel::sdpa && reached.kind != Reach::Kind::everything;
  if (!dense_mask) return twice_pairs_of(plan, run, reached, attention.causal, MaskConvention::causal);
  // A mask tensor makes the kernel visit every pair of a sequence that is longer than the reach.
  return sum_over_sequences(w, run.length, [&](std::int64_t length) -> Integer {
    const std::int64_t last = length + run.last;
    if (last <= reached.bound) {
      return run.kind == Run::Kind::regrow
                 ? twice_pairs_sum({}, attention.causal, MaskConvention::causal, length + run.first, last)
                 : twice_pairs({}, attention.causal, MaskConvention::causal, length);
    }
    return run.kind == Run::Kind::regrow ? twice_pairs_sum({}, false, MaskConvention::full, length + run.first, last)
                                         : twice_pairs({}, false, MaskConvention::full, length);
  });
}

bool keeps_cache(const Plan& plan, const Run& run) {
  const Workload& w = *plan.workload;
  if (!plan.is_text(*run.stack) || run.kind == Run::Kind::regrow) return false;
  return w.phase == Phase::prefill || w.phase == Phase::decode || w.phase == Phase::generate;
}

// A mean length of a sequence, for the shape of a row.
std::int64_t typical_keys(const Plan& plan, const Run& run, Integer twice, Integer queries) {
  if (plan.workload->sequence_lengths.empty() && run.kind == Run::Kind::whole) {
    return run.length > 0 ? run.length : plan.workload->sequence;
  }
  return static_cast<std::int64_t>(ceil_div(twice, std::max<Integer>(1, 2 * queries)));
}

void write_index(const Plan& plan, const Run& run, const model::SparseIndex& index, bool causal,
                 const LayerCounts& layers, RowWriter& writer) {
  const Workload& w = *plan.workload;
  const Integer twice = twice_pairs_of(plan, run, {}, causal, w.mask);
  const Integer twice_visited = w.kernel == Kernel::eager && run.kind != Run::Kind::steps
                                    ? twice_pairs_of(plan, run, {}, false, MaskConvention::full)
                                    : twice_pairs_of(plan, run, {}, causal, MaskConvention::causal);
  const Integer width = Integer{index.heads} * index.head_dim;
  Operation o{.op = OpClass::attention,
              .component = Component::attention,
              .precision = plan.other_precision,
              .label = "attention.index"};
  writer.watch(static_cast<double>(twice_visited) * static_cast<double>(width) * static_cast<double>(layers.forward));
  // The index stands whole on every tensor-parallel device.
  o.model_flops = ceil_div(twice * width, Integer{plan.replicas} * plan.tensor_parallel);
  o.hardware_flops = ceil_div(twice_visited * width, plan.replicas);
  o.hardware_backward = 2 * o.hardware_flops;
  o.elementwise_flops = ceil_div(twice_visited * index.heads, plan.replicas);  // rectify, weigh, add up the heads
  o.m = static_cast<std::int64_t>(
      ceil_div(run.tokens, run.passes * std::max<Integer>(1, run.sequences / w.parallel.data)));
  o.k = index.head_dim;
  o.n = typical_keys(plan, run, twice_visited, run.tokens * plan.replicas);
  o.executions = ceil_div(run.sequences * run.passes, w.parallel.data) * index.heads;
  o.activations_read = to_bytes(run.tokens * (width + index.head_dim), plan.activation_bits);
  o.backward_read = 2 * o.activations_read;
  o.backward_written = o.activations_read;
  if (keeps_cache(plan, run)) {
    o.cache_written = to_bytes(run.tokens * index.head_dim, plan.kv_bits);
    if (run.kind == Run::Kind::steps) {
      const Integer keys = ceil_div(twice_pairs_of(plan, run, {}, causal, MaskConvention::causal) / 2, plan.replicas);
      o.cache_read = to_bytes((keys - run.tokens) * index.head_dim, plan.kv_bits);
    }
  }
  writer.write(o, layers);
}

}  // namespace

CachedElements cached_elements(const Attention& a, std::int64_t tensor) noexcept {
  CachedElements result;
  if (a.latent) {
    result.keys_values = Integer{a.latent->kv_rank} + a.latent->rope_dim;
  } else {
    result.keys_values = ceil_div(a.kv_heads, tensor) * (Integer{a.head_dim} + a.value_head_dim);
  }
  if (a.sparse) result.index = a.sparse->head_dim;
  return result;
}

Integer state_elements(const model::Recurrence& r) noexcept {
  const Integer state =
      r.kind == model::Recurrence::Kind::short_convolution ? 0 : Integer{r.heads} * r.head_dim * r.state_dim;
  return state + Integer{r.conv_channels} * std::max<std::int64_t>(0, r.conv_kernel - 1);
}

void write_attention(const Plan& plan, const Run& run, const model::Block& block, const Attention& a,
                     const LayerCounts& layers, RowWriter& writer) {
  const Workload& w = *plan.workload;
  const bool steps = run.kind == Run::Kind::steps;
  const Reach reached = reach(a);
  const Integer twice = a.cross ? twice_cross_pairs(plan, run) : twice_pairs_of(plan, run, reached, a.causal, w.mask);
  const Integer twice_visited = a.cross ? twice : visited(plan, run, a, reached);
  const bool text = plan.is_text(*run.stack);
  const Integer over = plan.tensor_parallel;  // of every stack, as its products are
  const Integer heads = ceil_div(a.query_heads, over);

  // The width of scores and of values, in the form that is executed.
  Integer key = a.head_dim;
  Integer value = a.value_head_dim;
  Integer kv_heads = ceil_div(a.latent ? a.query_heads : a.kv_heads, over);
  std::string_view label = a.cross ? "attention.cross_core" : "attention.core";
  if (a.latent) {
    label = steps ? "attention.core_mla_absorbed" : "attention.core_mla_expanded";
    if (steps) {
      key = Integer{a.latent->kv_rank} + a.latent->rope_dim;
      value = a.latent->kv_rank;
      kv_heads = 1;
    }
  }
  const Integer width = heads * (key + value);
  writer.watch(static_cast<double>(twice_visited) * static_cast<double>(a.query_heads) *
               static_cast<double>(key + value) * static_cast<double>(layers.forward));

  Operation o{
      .op = OpClass::attention,
      .component = text || run.stack->role != model::StackRole::vision ? Component::attention : Component::vision,
      .precision = plan.other_precision,
      .label = label};
  o.attention_core = true;
  o.model_flops = ceil_div(twice * width, plan.replicas);
  o.hardware_flops = ceil_div(twice_visited * width, plan.replicas);
  // Eager: dV, dP, dQ, dK.  Fused kernels compute the scores once more.
  const Integer again = w.kernel == Kernel::eager ? 0 : key;
  o.hardware_backward = ceil_div(twice_visited * heads * (2 * key + 2 * value + again), plan.replicas);
  const Integer sequences = ceil_div(run.sequences, w.parallel.data);
  o.m = static_cast<std::int64_t>(ceil_div(run.tokens, run.passes * sequences));
  o.k = static_cast<std::int64_t>(key);
  o.n = a.cross ? plan.encoder_length : typical_keys(plan, run, twice_visited, run.tokens * plan.replicas);
  o.executions = sequences * run.passes * heads;

  const auto bytes = [&](Integer elements) { return to_bytes(elements, plan.activation_bits); };
  const auto cache_bytes = [&](Integer elements) { return to_bytes(elements, plan.kv_bits); };
  const Integer kv_rows = a.cross ? run.memory_tokens : run.tokens;
  const Integer queries = bytes(run.tokens * heads * key);
  const Integer keys_values = bytes(kv_rows * kv_heads * (key + value));
  const Integer outputs = bytes(run.tokens * heads * value);
  o.activations_read = queries + (steps ? 0 : keys_values);
  o.activations_written = outputs;
  o.backward_read = queries + keys_values + 2 * outputs;
  o.backward_written = queries + keys_values;

  const CachedElements cached = cached_elements(a, plan.tensor_parallel);
  if (keeps_cache(plan, run)) {
    if (!(a.cross && steps)) o.cache_written = cache_bytes(kv_rows * cached.keys_values);
    if (steps) {
      // The new position comes from its projection, the others from the cache: each crosses the bus once.
      const Integer keys = ceil_div(twice_visited / 2, plan.replicas);
      o.cache_read = cache_bytes((a.cross ? keys : keys - run.tokens) * cached.keys_values);
    }
  }

  Operation softmax{.component = o.component, .precision = plan.other_precision, .label = "attention.softmax"};
  softmax.attention_core = true;
  softmax.executions = run.passes;
  const int bits = plan.activation_bits;
  const Integer scores = ceil_div(twice_visited / 2 * heads, plan.replicas);
  const auto move = [](Operation& to, Integer elements, Traffic traffic) {
    to.activations_read += to_bytes(elements, traffic.read);
    to.activations_written += to_bytes(elements, traffic.written);
    to.backward_read += to_bytes(elements, traffic.backward_read);
    to.backward_written += to_bytes(elements, traffic.backward_written);
  };
  softmax.elementwise_flops = kSoftmaxFlops * scores;
  if (block.elementwise.rotary && !a.cross) {
    const Integer width_rotated = a.latent ? a.latent->rope_dim : a.head_dim;
    const Integer rotated = run.tokens * width_rotated * (heads + (a.latent ? 1 : kv_heads));
    softmax.elementwise_flops += kRotaryFlops * rotated;
    move(softmax, rotated, rotary_traffic(w.execution, bits));
  }
  // The heads' results are copied together for the output projection.
  if (w.execution == Execution::eager) move(softmax, run.tokens * heads * value, {bits, bits, bits, bits});
  if (w.kernel == Kernel::eager) {
    // Scores are written and probabilities read by the products; backwards the products read the probabilities (for
    // dV) and the scores' gradient twice (for dQ and dK) and write the probabilities' gradient.
    move(o, scores, {bits, bits, 3 * bits, bits});
    move(softmax, scores, softmax_traffic(w.execution, bits));
  }
  writer.write(o, layers);
  if (a.sparse) write_index(plan, run, *a.sparse, a.causal, layers, writer);
  writer.write(softmax, layers);
}

void write_recurrence(const Plan& plan, const Run& run, const model::Recurrence& r, const LayerCounts& layers,
                      RowWriter& writer) {
  using Kind = model::Recurrence::Kind;
  const Integer state = r.kind == Kind::short_convolution ? 0 : Integer{r.heads} * r.head_dim * r.state_dim;
  // Contractions with the state: update and read-out, and the recall of the delta rule.
  const Integer products = r.kind == Kind::gated_delta ? 3 : 2;
  // Decay of every state element; Mamba 1 discretises A and B for each of them, RWKV adds a bonus.
  const Integer pointwise = r.kind == Kind::mamba1 ? 4 : r.kind == Kind::rwkv ? 2 : 1;
  const Integer tap_flops = 2 * Integer{r.conv_channels} * r.conv_kernel;
  const Integer over = plan.tensor_parallel;
  writer.watch(static_cast<double>(run.tokens) * static_cast<double>(state) * static_cast<double>(layers.forward));

  Operation o{.op = OpClass::recurrence,
              .component = Component::attention,
              .precision = plan.other_precision,
              .label = "recurrence"};
  o.hardware_flops = ceil_div(2 * products * run.tokens * state, over);
  o.model_flops = ceil_div(2 * products * run.tokens * state, over * run.token_repeats);
  o.hardware_backward = 2 * o.hardware_flops;
  o.elementwise_flops = ceil_div(run.tokens * (pointwise * state + tap_flops), over);
  const Integer sequences = ceil_div(run.sequences, plan.workload->parallel.data);
  o.m = static_cast<std::int64_t>(ceil_div(run.tokens, run.passes * sequences));
  o.k = r.state_dim;
  o.n = r.head_dim;
  o.executions = sequences * run.passes * ceil_div(r.heads, over);
  const auto bytes = [&](Integer elements) { return to_bytes(elements, plan.activation_bits); };
  const Integer inner =
      std::max<Integer>(Integer{r.heads} * r.head_dim, r.kind == Kind::short_convolution ? r.conv_channels : 0);
  o.activations_read = bytes(ceil_div(run.tokens * (r.conv_channels + inner), over));
  o.activations_written = bytes(ceil_div(run.tokens * inner, over));
  o.backward_read = o.activations_read + o.activations_written;
  o.backward_written = o.activations_read;
  if (keeps_cache(plan, run)) {
    const Integer kept = to_bytes(ceil_div(state_elements(r), over), plan.kv_bits);
    const Integer times = sequences * run.passes;
    o.cache_written = kept * times;
    if (run.kind == Run::Kind::steps) o.cache_read = kept * times;
  }
  writer.write(o, layers);
}

}  // namespace flopwatt::work
