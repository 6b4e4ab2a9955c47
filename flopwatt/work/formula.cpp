#include "flopwatt/work/ledger.hpp"
#include "flopwatt/work/plan.hpp"

namespace flopwatt::work {
namespace {

bool has_experts(const model::Architecture& architecture) noexcept {
  for (const model::Stack& stack : architecture.stacks) {
    for (const model::Block& block : stack.blocks) {
      if (block.routing) return true;
    }
  }
  return false;
}

}  // namespace

units::Count sixn_flops_per_token(const model::Architecture& architecture) {
  const model::Census census = model::census(architecture);
  return units::Count{6} * (has_experts(architecture) ? census.active : census.total);
}

units::Count palm_flops_per_token(const model::Architecture& architecture, std::int64_t sequence) {
  // 12·H·Q·T a layer; where queries and values differ in width (MLA), 6·H·(Q + V)·T.
  units::Count attention;
  const model::Stack& text = architecture.text();
  for (std::size_t i = 0; i < text.blocks.size(); ++i) {
    for (const model::Attention& a : text.blocks[i].attentions) {
      if (a.cross) continue;
      attention += units::Count{6} * a.query_heads * (units::Count{a.head_dim} + a.value_head_dim) * sequence *
                   text.block_counts[i];
    }
  }
  return sixn_flops_per_token(architecture) + attention;
}

}  // namespace flopwatt::work
