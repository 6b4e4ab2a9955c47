#include "flopwatt/work/activations.hpp"

#include <algorithm>

#include "flopwatt/work/tensor_part.hpp"

namespace flopwatt::work {
namespace {

using model::Component;
using model::Rows;
using model::Tensor;
using model::Use;

// Pairs of query and key that eager attention holds at once, over the batch of this device.
Integer score_elements(const Plan& plan, const Run& run, const model::Attention& a) {
  const Integer heads = ceil_div(a.query_heads, plan.tensor_parallel);
  Integer pairs = 0;
  if (a.cross) {
    pairs = run.tokens * plan.replicas * plan.encoder_length;
  } else if (run.length > 0) {
    pairs = Integer{run.length} * run.length * run.sequences;
  } else {
    pairs = sum_over_sequences(*plan.workload, 0, [&](std::int64_t length) -> Integer {
      const Integer keys = Integer{length} + run.last;
      return run.kind == Run::Kind::steps ? keys : keys * keys;
    });
  }
  return ceil_div(pairs * heads, plan.replicas);
}

bool is_down(const Tensor& tensor) noexcept { return tensor.label.ends_with("down"); }
bool is_out(const Tensor& tensor) noexcept { return tensor.label.ends_with("out") || tensor.label.ends_with(".o"); }

}  // namespace

KeptActivations kept_activations(const Plan& plan, const Run& run, const model::Block& block) {
  const Integer hidden = run.stack->hidden;
  const Integer over = plan.tensor_parallel;
  // Elements a token that tensor parallelism leaves whole (unless the sequence is split too), and that it splits.
  Integer whole = 0;
  Integer split = 0;
  Integer routed = 0;  // a routed row, split
  Integer whole_bits = 0;
  std::int64_t wide_norms = 0;
  const bool gated = block.elementwise.gated;
  bool mlp = false;
  bool experts = false;
  for (const Tensor& tensor : block.tensors) {
    if (part_of(tensor) == Component::norm && !tensor.name.ends_with("bias")) {
      Integer width = tensor.dims[0];
      if (width == hidden) ++wide_norms;
      const bool per_head = !block.attentions.empty() && width == block.attentions.front().head_dim && width != hidden;
      if (per_head) {
        const bool key = tensor.name.find("k_") != std::string::npos;
        split += width * (key ? block.attentions.front().kv_heads : block.attentions.front().query_heads);
      } else {
        whole += width;
      }
    }
    if (tensor.use != Use::product) continue;
    if (tensor.rows == Rows::routed) {
      experts = true;
      routed += is_down(tensor) ? tensor.k : tensor.n;
    } else if (part_of(tensor) == Component::mlp && tensor.n > 1) {
      mlp = true;
      split += is_down(tensor) ? tensor.k : tensor.n;
    } else if (part_of(tensor) == Component::attention) {
      if (is_out(tensor)) {
        split += tensor.k;
      } else if (tensor.k != hidden) {
        whole += tensor.k;
      } else if (block.attentions.empty()) {
        split += tensor.n;  // a recurrence's inputs, before and after the convolution
      }
    } else if (tensor.component == Component::router) {
      whole_bits += 32 * Integer{tensor.n};  // router scores in fp32
    }
  }
  for (const model::Attention& a : block.attentions) {
    const Integer kv_heads = a.latent ? a.query_heads : a.kv_heads;
    const Integer key_values = kv_heads * (Integer{a.head_dim} + a.value_head_dim);
    split += Integer{a.query_heads} * a.head_dim + (a.cross ? 0 : key_values);
  }
  if (block.recurrence) split += block.recurrence->conv_channels;
  const std::int64_t sublayers = (block.attentions.empty() && !block.recurrence ? 0 : 1) + (mlp || experts ? 1 : 0);
  whole += hidden * std::min(sublayers, std::max<std::int64_t>(1, wide_norms));

  const bool dropout = mlp && !gated && !experts;
  const int bits = plan.activation_bits;
  if (dropout) whole_bits += 8 * hidden * sublayers;
  const Integer whole_over = plan.workload->parallel.sequence ? over : 1;
  Integer total_bits =
      ceil_div(run.tokens * (whole * bits + whole_bits), whole_over) + ceil_div(run.tokens * split * bits, over);
  if (block.routing) {
    const Integer rows = run.tokens * block.routing->top_k;
    total_bits += rows * (2 * hidden * bits) / whole_over + ceil_div(rows * routed * bits, over);
  }
  KeptActivations kept;
  kept.linear = to_bytes(total_bits, 1);
  kept.input = to_bytes(ceil_div(run.tokens * hidden, whole_over), bits);
  if (plan.workload->kernel == Kernel::eager) {
    for (const model::Attention& a : block.attentions) {
      // Softmax output; with dropout its mask and its result too (equation 2: 5·a·s² = 2 + 1 + 2 bytes).
      kept.scores += to_bytes(score_elements(plan, run, a), (dropout ? 2 * bits + 8 : bits));
    }
  }
  return kept;
}

Integer widest_moment(const Plan& plan, const Run& run, const model::Block& block) {
  const Integer over = plan.tensor_parallel;
  const Integer rows_at_once = ceil_div(run.tokens, run.kind == Run::Kind::regrow ? 1 : run.passes);
  Integer widest = 0;
  for (const Tensor& tensor : block.tensors) {
    if (tensor.use != Use::product) continue;
    const Integer times = tensor.rows == Rows::routed && block.routing ? block.routing->top_k : 1;
    widest = std::max(widest, times * (Integer{tensor.k} + ceil_div(tensor.n, over)));
  }
  Integer elements = rows_at_once * (2 * Integer{run.stack->hidden} + widest);
  if (plan.workload->kernel == Kernel::eager) {
    for (const model::Attention& a : block.attentions) elements += 2 * score_elements(plan, run, a);
  }
  return to_bytes(elements, plan.activation_bits);
}

}  // namespace flopwatt::work
