#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/units/count.hpp"

namespace flopwatt::libtorch {

enum class Pass : std::uint8_t {
  forward,
  backward,
  recompute,  ///< a forward that runs inside a backward: activation checkpointing
};
[[nodiscard]] std::string_view name(Pass pass) noexcept;

/// What operators of one name did in one pass.
struct OperatorRow {
  std::string name;  ///< "aten::addmm"
  Pass pass = Pass::forward;
  std::int64_t calls = 0;
  units::Count flops;
};

struct OperatorCounts {
  units::Count forward, backward, recompute;
  std::vector<OperatorRow> operators;  ///< by name, then pass
  /// Operators that ran, may hold products, and have no formula here: their FLOPs are missing.  Sorted.
  std::vector<std::string> not_counted;
  bool fused_attention = false;  ///< one of the fused attention kernels ran

  [[nodiscard]] units::Count total() const noexcept { return forward + backward + recompute; }
};

/// Counts the FLOPs of every product that LibTorch really runs while it lives, on all threads, whoever wrote the loop:
/// 2·m·n·k a matrix product, attention by the query-key pairs that the kernel visits (S(S+1)/2 when it is told that
/// the mask is causal, all of them otherwise; a fused backward runs five products), a convolution's taps.  Elementwise
/// work is not counted.  It listens to the dispatcher's observer (RecordFunction), so it sees operators and not
/// kernels: what bypasses the dispatcher (a replayed CUDA graph, a kernel of another library) is invisible, and is not
/// listed either.
///
///   auto counter = OperatorCounter::start();
///   loss = model(x); loss.backward(); optimizer.step();
///   const auto counts = counter->stop();
///
/// A forward inside a backward pass counts as recompute when gradients are being recorded, which checkpointing does and
/// an ordinary backward does not; a backward with create_graph = true does too and is then taken for one.
///
/// Start and stop while no other thread runs operators: LibTorch's registry of observers is not built for more.
/// Several counters may live at once; each sees everything.
class OperatorCounter {
 public:
  /// Errc::unavailable when the observer does not count one product right: this library was compiled for another
  /// LibTorch than the one that is loaded, or without NDEBUG, which changes the layout of what it reads.
  [[nodiscard]] static Result<OperatorCounter> start();

  OperatorCounter(OperatorCounter&&) noexcept;
  OperatorCounter& operator=(OperatorCounter&&) noexcept;
  OperatorCounter(const OperatorCounter&) = delete;
  OperatorCounter& operator=(const OperatorCounter&) = delete;
  ~OperatorCounter();

  /// What was counted so far.  Errc::internal when the observer met what it could not read: LibTorch swallows what an
  /// observer throws, so it is kept and told here.
  [[nodiscard]] Result<OperatorCounts> counts() const;
  /// The same, and ends the counting.
  [[nodiscard]] Result<OperatorCounts> stop();

  struct State;

 private:
  explicit OperatorCounter(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace flopwatt::libtorch
