#include "flopwatt/work/formula.hpp"

#include <array>

#include "flopwatt/work/ledger.hpp"
#include "flopwatt/work/plan.hpp"

namespace flopwatt::work {
namespace {

using model::Component;
using model::Use;
using units::Count;

bool has_experts(const model::Architecture& architecture) noexcept {
  for (const model::Stack& stack : architecture.stacks) {
    for (const model::Block& block : stack.blocks) {
      if (block.routing) return true;
    }
  }
  return false;
}

// Calls f(block, layers) for every distinct layer of the text stack.
template <class F>
void for_each_block(const model::Architecture& architecture, F f) {
  const model::Stack& text = architecture.text();
  for (std::size_t i = 0; i < text.blocks.size(); ++i) f(text.blocks[i], Count{text.block_counts[i]});
}

bool has_head(const model::Architecture& architecture) noexcept {
  for (const model::Tensor& tensor : architecture.text().outside) {
    if (tensor.component == Component::lm_head && tensor.use == Use::product) return true;
  }
  return false;
}

// Tokens of the batch, and the sum of the squares of its sequences.
struct Extent {
  Count tokens, squares;
};
Extent extent(const Workload& w) {
  return {sum_over_sequences(w, 0, [](std::int64_t s) -> Integer { return s; }),
          sum_over_sequences(w, 0, [](std::int64_t s) -> Integer { return Integer{s} * s; })};
}

Causes six_n(const model::Architecture& architecture, Extent e) {
  const model::Census census = model::census(architecture);
  const bool experts = has_experts(architecture);
  const Count active_experts = census[Component::experts] - (experts ? census.total - census.active : Count{0});
  const auto six = [&](Count parameters) { return Count{6} * parameters * e.tokens; };
  return {.embedding = six(census[Component::embedding]),
          .head = six(census[Component::lm_head]),
          .gqa = six(census[Component::attention]),
          .attention = 0,
          .mlp = six(census[Component::mlp]),
          .experts = six(active_experts + census[Component::router]),
          .norms = six(census[Component::norm]),
          .other = six(census[Component::vision] + census[Component::other])};
}

// Width of all scores and values: 12·H·Q is 6 times it.
Count score_width(const model::Architecture& architecture) {
  Count width;
  for_each_block(architecture, [&](const model::Block& block, Count layers) {
    for (const model::Attention& a : block.attentions) {
      if (!a.cross) width += Count{a.query_heads} * (Count{a.head_dim} + a.value_head_dim) * layers;
    }
  });
  return width;
}

Causes megatron(const model::Architecture& architecture, Extent e) {
  Causes result;
  const Count hidden = architecture.text().hidden;
  const Count six_tokens = Count{6} * e.tokens;
  for_each_block(architecture, [&](const model::Block& block, Count layers) {
    for (const model::Attention& a : block.attentions) {
      Count projections;
      if (a.latent) {
        const model::LatentAttention& l = *a.latent;
        const Count query_width = Count{a.query_heads} * (Count{l.nope_dim} + l.rope_dim);
        projections = l.query_rank ? Count{*l.query_rank} * (hidden + query_width + 1) : hidden * query_width;
        projections += Count{l.kv_rank} * (hidden + Count{a.query_heads} * (Count{l.nope_dim} + l.value_dim) + 1) +
                       hidden * l.rope_dim + Count{a.query_heads} * l.value_dim * hidden;
      } else {
        const Count query_width = Count{a.query_heads} * a.head_dim;
        const Count kv_width = Count{a.kv_heads} * (Count{a.head_dim} + a.value_head_dim);
        projections = hidden * (query_width + kv_width) + Count{a.query_heads} * a.value_head_dim * hidden;
      }
      result.gqa += six_tokens * projections * layers;
    }
    for (const model::Tensor& tensor : block.tensors) {
      if (tensor.use != Use::product || tensor.n == 1) continue;
      const Count flops = six_tokens * tensor.k * tensor.n * layers;
      if (tensor.component == Component::mlp) result.mlp += flops;
      if (tensor.rows == model::Rows::routed && block.routing) result.experts += flops * block.routing->top_k;
    }
  });
  result.attention = Count{3} * score_width(architecture) * e.squares;
  if (has_head(architecture)) result.head = six_tokens * hidden * architecture.vocabulary;
  return result;
}

Causes megatron_2021(const model::Architecture& architecture, Extent e) {
  Causes result;
  const Count hidden = architecture.text().hidden;
  const Count layers = std::ssize(architecture.text().layers);
  const Count per_square = e.tokens * layers * hidden * hidden;
  result.gqa = Count{6 * 4} * per_square;
  result.mlp = Count{6 * 8} * per_square;
  result.attention = Count{12} * layers * hidden * e.squares;
  result.head = Count{6} * e.tokens * hidden * architecture.vocabulary;
  return result;
}

// The ledger's model FLOPs under the same headings.
Causes exact_causes(const Ledger& ledger) {
  Causes result;
  for (const Row& row : ledger.rows()) {
    const auto heading = [&]() -> Count& {
      switch (row.op) {
        case OpClass::lm_head:
          return result.head;
        case OpClass::attention:
          return result.attention;
        case OpClass::experts:
          return result.experts;
        default:
          break;
      }
      switch (row.component) {
        case Component::attention:
          return row.op == OpClass::recurrence ? result.other : result.gqa;
        case Component::mlp:
          return result.mlp;
        case Component::experts:
        case Component::router:
          return result.experts;
        case Component::norm:
          return result.norms;
        default:
          return result.other;
      }
    };
    heading() += row.model_flops;
  }
  return result;
}

Causes difference(const Causes& a, const Causes& b) {
  return {a.embedding - b.embedding, a.head - b.head,   a.gqa - b.gqa,    a.attention - b.attention, a.mlp - b.mlp,
          a.experts - b.experts,     a.norms - b.norms, a.other - b.other};
}

}  // namespace

std::string_view name(Formula formula) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"palm", "6n", "megatron", "megatron-2021"};
  return kNames[static_cast<std::size_t>(formula)];
}

Count Causes::sum() const noexcept { return embedding + head + gqa + attention + mlp + experts + norms + other; }

Result<Comparison> compare(const model::Architecture& architecture, const Workload& workload, Formula formula) {
  if (workload.phase != Phase::train) {
    return fail(Errc::usage, "the published formulas count training steps", "--formula", "use --phase train");
  }
  Workload whole = workload;
  whole.parallel = {};
  FLOPWATT_TRY(const Ledger ledger, count(architecture, whole));
  const Extent e = extent(whole);
  Causes estimate;
  switch (formula) {
    case Formula::sixn:
      estimate = six_n(architecture, e);
      break;
    case Formula::palm:
      estimate = six_n(architecture, e);
      estimate.attention = Count{6} * score_width(architecture) * e.squares;
      break;
    case Formula::megatron:
      estimate = megatron(architecture, e);
      break;
    case Formula::megatron_2021:
      estimate = megatron_2021(architecture, e);
      break;
  }
  const Causes exact = exact_causes(ledger);
  return Comparison{formula, estimate.sum(), exact.sum(), e.tokens, difference(estimate, exact)};
}

Count sixn_flops_per_token(const model::Architecture& architecture) {
  const model::Census census = model::census(architecture);
  return Count{6} * (has_experts(architecture) ? census.active : census.total);
}

Count palm_flops_per_token(const model::Architecture& architecture, std::int64_t sequence) {
  return sixn_flops_per_token(architecture) + Count{6} * score_width(architecture) * sequence;
}

}  // namespace flopwatt::work
