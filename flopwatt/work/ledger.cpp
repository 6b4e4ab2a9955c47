#include "flopwatt/work/ledger.hpp"

namespace flopwatt::work {
namespace {

using Integer = units::Count::Integer;

constexpr std::array<std::string_view, kByteKindCount> kByteKinds{"weights",     "gradients", "optimizer",
                                                                  "activations", "logits",    "kv_cache"};
constexpr std::array<std::string_view, kOpClassCount> kOps{"linear",  "experts",     "attention", "recurrence",
                                                           "lm_head", "elementwise", "optimizer"};
constexpr std::array<std::string_view, 4> kPasses{"forward", "backward", "recompute", "update"};

// Adds without asking at each step whether the sum still fits: where every addend so far is below 2^100 and there are
// fewer than 2^20 of them it does; otherwise `exact` starts over with saturating counts.
class Sum {
 public:
  void add(units::Count value) noexcept {
    sum_ += static_cast<unsigned __int128>(value.value());
    seen_ |= static_cast<std::uint64_t>(static_cast<unsigned __int128>(value.value()) >> 64);
  }
  [[nodiscard]] bool safe() const noexcept { return seen_ < (std::uint64_t{1} << 36); }
  [[nodiscard]] units::Count value() const noexcept { return static_cast<Integer>(sum_); }

 private:
  unsigned __int128 sum_ = 0;
  std::uint64_t seen_ = 0;
};

template <class Accumulator>
struct Fold {
  Accumulator forward, backward, hardware, attention, head, elementwise;
  std::array<Accumulator, kByteKindCount> bytes;

  void add(const Row& row) noexcept {
    if (row.pass == Pass::forward) {
      forward.add(row.model_flops);
      if (row.op == OpClass::attention) attention.add(row.model_flops);
      if (row.op == OpClass::lm_head) head.add(row.model_flops);
    } else {
      backward.add(row.model_flops);
    }
    hardware.add(row.hardware_flops);
    elementwise.add(row.elementwise_flops);
    for (std::size_t kind = 0; kind < kByteKindCount; ++kind) {
      bytes[kind].add(row.bytes_read[kind]);
      bytes[kind].add(row.bytes_written[kind]);
    }
  }
  [[nodiscard]] Totals totals() const noexcept {
    Totals result;
    result.forward = forward.value();
    result.backward = backward.value();
    result.step = result.forward + result.backward;
    result.hardware_step = hardware.value();
    result.attention_forward = attention.value();
    result.lm_head_forward = head.value();
    result.body_forward = result.forward - result.attention_forward - result.lm_head_forward;
    result.elementwise = elementwise.value();
    for (std::size_t kind = 0; kind < kByteKindCount; ++kind) {
      result.bytes.by_kind[kind] = bytes[kind].value();
      result.bytes.total += bytes[kind].value();
    }
    return result;
  }
};

class SaturatingSum {
 public:
  void add(units::Count value) noexcept { sum_ += value; }
  [[nodiscard]] units::Count value() const noexcept { return sum_; }

 private:
  units::Count sum_;
};

bool safe(const Fold<Sum>& fold) noexcept {
  bool result = fold.forward.safe() && fold.backward.safe() && fold.hardware.safe() && fold.elementwise.safe();
  for (const Sum& kind : fold.bytes) result = result && kind.safe();
  return result;
}

}  // namespace

std::string_view name(ByteKind kind) noexcept { return kByteKinds[static_cast<std::size_t>(kind)]; }
std::string_view name(OpClass op) noexcept { return kOps[static_cast<std::size_t>(op)]; }
std::string_view name(Pass pass) noexcept { return kPasses[static_cast<std::size_t>(pass)]; }

Totals Ledger::totals() const noexcept {
  Totals result;
  Fold<Sum> fast;
  for (const Row& row : rows_) fast.add(row);
  if (safe(fast) && rows_.size() < (std::size_t{1} << 20)) {
    result = fast.totals();
  } else {
    Fold<SaturatingSum> exact;
    for (const Row& row : rows_) exact.add(row);
    result = exact.totals();
  }
  result.tokens = tokens_;
  return result;
}

}  // namespace flopwatt::work
