#include "flopwatt/work/ledger.hpp"

namespace flopwatt::work {
namespace {

constexpr std::array<std::string_view, kByteKindCount> kByteKinds{"weights",     "gradients", "optimizer",
                                                                  "activations", "logits",    "kv_cache"};
constexpr std::array<std::string_view, kOpClassCount> kOps{"linear",  "experts",     "attention", "recurrence",
                                                           "lm_head", "elementwise", "optimizer"};
constexpr std::array<std::string_view, 4> kPasses{"forward", "backward", "recompute", "update"};

struct Fold {
  units::Count forward, backward, hardware, attention, head, elementwise;
  std::array<units::Count, kByteKindCount> bytes;

  void add(const Row& row) noexcept {
    hardware += row.hardware_flops;
    elementwise += row.elementwise_flops;
    if (row.pass == Pass::forward) {
      forward += row.model_flops;
      if (row.op == OpClass::attention) attention += row.model_flops;
      if (row.op == OpClass::lm_head) head += row.model_flops;
    } else {
      backward += row.model_flops;
    }
    for (std::size_t kind = 0; kind < kByteKindCount; ++kind) {
      bytes[kind] += row.bytes_read[kind] + row.bytes_written[kind];
    }
  }
  [[nodiscard]] Totals totals() const noexcept {
    Totals result;
    result.forward = forward;
    result.backward = backward;
    result.step = forward + backward;
    result.hardware_step = hardware;
    result.attention_forward = attention;
    result.lm_head_forward = head;
    result.body_forward = forward - attention - head;
    result.elementwise = elementwise;
    result.bytes.by_kind = bytes;
    for (const units::Count kind : bytes) result.bytes.total += kind;
    return result;
  }
};

}  // namespace

std::string_view name(ByteKind kind) noexcept { return kByteKinds[static_cast<std::size_t>(kind)]; }
std::string_view name(OpClass op) noexcept { return kOps[static_cast<std::size_t>(op)]; }
std::string_view name(Pass pass) noexcept { return kPasses[static_cast<std::size_t>(pass)]; }

Ledger::Ledger(std::vector<Row> rows, units::Count tokens) : rows_{std::move(rows)} {
  Fold fold;
  for (const Row& row : rows_) fold.add(row);
  totals_ = fold.totals();
  totals_.tokens = tokens;
}

}  // namespace flopwatt::work
