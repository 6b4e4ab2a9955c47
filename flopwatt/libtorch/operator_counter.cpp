#include "flopwatt/libtorch/operator_counter.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "flopwatt/libtorch/operator_flops.hpp"

#ifndef NDEBUG
#error "at::RecordFunction has another layout without NDEBUG than the LibTorch that is linked"
#endif

namespace flopwatt::libtorch {

using units::Count;

struct OperatorCounter::State {
  struct Sum {
    std::int64_t calls = 0;
    Count flops;
  };

  std::mutex mutex;  ///< over all that follows
  std::map<std::pair<std::string, Pass>, Sum, std::less<>> sums;
  std::set<std::string, std::less<>> not_counted;
  bool fused_attention = false;
  std::string fault;  ///< what went wrong inside an observer; empty: nothing
};

namespace {

using State = OperatorCounter::State;

/// An operator that runs, between the observer's start and end.
struct Frame final : at::ObserverContext {
  Frame* parent = nullptr;
  Frame** stack = nullptr;        ///< the top of its thread
  bool leaf = false;              ///< it or one around it has been counted: what it calls is part of that
  bool in_backward = false;       ///< inside a node of the autograd graph
  bool counted_inside = false;    ///< products inside it have been counted
  const char* suspect = nullptr;  ///< its name, where it may hold products without a formula
};

thread_local Frame* top_frame = nullptr;

/// The counters that live.  One observer serves them all: an observer is a plain function and knows no counter.
struct Registry {
  std::mutex mutex;
  std::vector<std::shared_ptr<State>> active;
  at::CallbackHandle handle{};

  template <class Use>
  void for_each(const Use& use) {
    const std::lock_guard<std::mutex> lock{mutex};
    for (const auto& state : active) {
      const std::lock_guard<std::mutex> state_lock{state->mutex};
      use(*state);
    }
  }
};

Registry& registry() {
  static auto& the_registry = *new Registry;  // outlives whatever operator a static destructor may still run
  return the_registry;
}

Formula cached_formula(const at::RecordFunction& call) {
  thread_local std::unordered_map<const char*, std::pair<std::string, Formula>> cache;
  const char* const name = call.name();
  // A name is usually the same pointer; where it is not any more (an operator was unloaded), its text tells.
  const auto found = cache.find(name);
  if (found != cache.end() && found->second.first == name) return found->second.second;
  // The autograd engine marks its own work as functions too ("autograd::engine::evaluate_function: AddBackward0").
  const Formula formula = call.operator_name() ? formula_of(name) : Formula::none;
  cache.insert_or_assign(name, std::pair{std::string{name}, formula});
  return formula;
}

bool is_attention(Formula formula) { return formula == Formula::attention || formula == Formula::attention_backward; }

void count(Frame& frame, Formula formula, const at::RecordFunction& call) {
  const auto flops = operator_flops(formula, call);
  if (!flops) {
    frame.suspect = call.name();
    return;
  }
  frame.leaf = true;
  frame.counted_inside = true;
  const Pass pass = !frame.in_backward ? Pass::forward : c10::GradMode::is_enabled() ? Pass::recompute : Pass::backward;
  const char* const name = call.name();
  registry().for_each([&](State& state) {
    State::Sum& sum = state.sums[{name, pass}];
    ++sum.calls;
    sum.flops += *flops;
    state.fused_attention = state.fused_attention || is_attention(formula);
  });
}

void keep_fault(const char* where, std::string_view what) noexcept {
  try {
    const std::string_view first_line = what.substr(0, what.find('\n'));  // a stack trace follows
    registry().for_each([&](State& state) {
      if (state.fault.empty()) state.fault = std::string{where} + ": " + std::string{first_line};
    });
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory left for the text; the operator itself will say so
  }
}

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& call) {
  auto frame = std::make_unique<Frame>();
  frame->parent = top_frame;
  frame->stack = &top_frame;
  if (frame->parent != nullptr) {
    frame->leaf = frame->parent->leaf;
    frame->in_backward = frame->parent->in_backward;
  }
  top_frame = frame.get();
  if (call.scope() == at::RecordScope::BACKWARD_FUNCTION) {
    frame->in_backward = true;
    return frame;
  }
  if (frame->leaf) return frame;
  try {
    const Formula formula = cached_formula(call);
    if (formula == Formula::unknown) {
      frame->suspect = call.name();
    } else if (formula != Formula::none) {
      count(*frame, formula, call);
    }
  } catch (const std::exception& error) {
    keep_fault(call.name(), error.what());
  } catch (...) {
    keep_fault(call.name(), "an unknown exception");
  }
  return frame;
}

void on_end(const at::RecordFunction&, at::ObserverContext* context) {
  auto* const frame = static_cast<Frame*>(context);
  if (frame == nullptr) return;
  // An asynchronous operator may end on another thread, and out of order.
  if (frame->stack == &top_frame) {
    Frame** link = &top_frame;
    while (*link != nullptr && *link != frame) link = &(*link)->parent;
    if (*link == frame) *link = frame->parent;
  }
  if (frame->counted_inside) {
    if (frame->parent != nullptr) frame->parent->counted_inside = true;
    return;
  }
  if (frame->suspect == nullptr || frame->leaf) return;
  try {
    registry().for_each([&](State& state) { state.not_counted.emplace(frame->suspect); });
  } catch (const std::exception& error) {
    keep_fault(frame->suspect, error.what());
  }
}

void add(const std::shared_ptr<State>& state) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock{all.mutex};
  if (all.active.empty()) {
    all.handle = at::addGlobalCallback(at::RecordFunctionCallback(on_start, on_end)
                                           .needsInputs(true)
                                           .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
  }
  all.active.push_back(state);
}

void remove(const std::shared_ptr<State>& state) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock{all.mutex};
  const auto found = std::find(all.active.begin(), all.active.end(), state);
  if (found == all.active.end()) return;
  all.active.erase(found);
  if (all.active.empty()) at::removeCallback(all.handle);
}

Result<OperatorCounts> read(State& state) {
  const std::lock_guard<std::mutex> lock{state.mutex};
  if (!state.fault.empty()) return fail(Errc::internal, "the operator counter failed at " + state.fault);
  OperatorCounts counts;
  for (const auto& [key, sum] : state.sums) {
    const auto& [name, pass] = key;
    counts.operators.push_back({.name = name, .pass = pass, .calls = sum.calls, .flops = sum.flops});
    Count& total = pass == Pass::forward ? counts.forward : pass == Pass::backward ? counts.backward : counts.recompute;
    total += sum.flops;
  }
  counts.not_counted.assign(state.not_counted.begin(), state.not_counted.end());
  counts.fused_attention = state.fused_attention;
  return counts;
}

/// Counts one product of known size; empty when that came out right.
std::string self_test() {
  constexpr std::int64_t kM = 2;
  constexpr std::int64_t kK = 3;
  constexpr std::int64_t kN = 5;
  const auto state = std::make_shared<State>();
  try {
    const at::Tensor left = at::ones({kM, kK});
    const at::Tensor right = at::ones({kK, kN});
    add(state);
    const at::Tensor result = at::mm(left, right);
    remove(state);
  } catch (const std::exception& error) {
    remove(state);
    return error.what();
  }
  const auto counts = read(*state);
  if (!counts) return counts.error().what;
  if (counts->total() == Count{2 * kM * kK * kN}) return {};
  return "a product of " + std::to_string(2 * kM * kK * kN) + " FLOPs was counted as " +
         units::to_string(counts->total());
}

}  // namespace

std::string_view name(Pass pass) noexcept {
  constexpr std::array<std::string_view, 3> kNames{"forward", "backward", "recompute"};
  const auto index = static_cast<std::size_t>(pass);
  return index < kNames.size() ? kNames[index] : "?";
}

OperatorCounter::OperatorCounter(std::shared_ptr<State> state) noexcept : state_{std::move(state)} {}
OperatorCounter::OperatorCounter(OperatorCounter&&) noexcept = default;
OperatorCounter& OperatorCounter::operator=(OperatorCounter&& other) noexcept {
  if (this != &other) {
    if (state_) remove(state_);
    state_ = std::move(other.state_);
  }
  return *this;
}
OperatorCounter::~OperatorCounter() {
  if (state_) remove(state_);
}

Result<OperatorCounter> OperatorCounter::start() {
  static const std::string broken = self_test();
  if (!broken.empty()) {
    return fail(Errc::unavailable, "LibTorch's observer is not what this was compiled for: " + broken, "LibTorch",
                "build flopwatt with the LibTorch that it is used with");
  }
  auto state = std::make_shared<State>();
  add(state);
  return OperatorCounter{std::move(state)};
}

Result<OperatorCounts> OperatorCounter::counts() const { return read(*state_); }

Result<OperatorCounts> OperatorCounter::stop() {
  remove(state_);
  return read(*state_);
}

}  // namespace flopwatt::libtorch
