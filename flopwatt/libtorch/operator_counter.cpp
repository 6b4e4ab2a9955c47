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

  std::mutex mutex;                                             ///< over all that follows
  std::map<std::string, std::array<Sum, 3>, std::less<>> sums;  ///< by name, then Pass
  std::set<std::string, std::less<>> not_counted;
  bool fused_attention = false;
  std::string fault;  ///< what went wrong inside an observer; empty: nothing
};

namespace {

using State = OperatorCounter::State;

/// An operator that runs, between the observer's start and end.
struct Frame final : at::ObserverContext {
  Frame() noexcept;
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() override { (void)leave(); }

  /// Takes itself off the stack of its thread and returns the frame around it; nullptr where there is none, or where
  /// this is another thread, on which an asynchronous operator may end.
  Frame* leave() noexcept;

  Frame* parent;
  Frame** stack;                  ///< the top of its thread
  bool in_backward;               ///< inside a node of the autograd graph
  bool leaf = false;              ///< it has been counted: what it calls is part of that
  bool counted_inside = false;    ///< products inside it have been counted
  const char* suspect = nullptr;  ///< its name, where it may hold products without a formula
};

thread_local Frame* top_frame = nullptr;

Frame::Frame() noexcept
    : parent{top_frame}, stack{&top_frame}, in_backward{top_frame != nullptr && top_frame->in_backward} {
  top_frame = this;
}

Frame* Frame::leave() noexcept {
  if (stack != &top_frame) return nullptr;
  Frame** link = &top_frame;
  while (*link != nullptr && *link != this) link = &(*link)->parent;
  if (*link != this) return nullptr;  // it has left already
  return *link = parent;
}

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
  const char* const name = call.name();
  // The autograd engine marks its own work as functions too ("autograd::engine::evaluate_function: AddBackward0"),
  // under names whose text is made anew each time; an operator's has one "::".
  if (!is_operator_name(name)) return Formula::none;
  thread_local std::unordered_map<const char*, std::pair<std::string, Formula>> cache;
  // An operator's name is usually the same pointer; where it is not (the operator was unloaded), its text tells.
  const auto found = cache.find(name);
  if (found != cache.end() && found->second.first == name) return found->second.second;
  Formula formula = formula_of(name);
  // A range that the program marks itself (RECORD_FUNCTION) is none.
  if (formula == Formula::unknown && !call.operator_name()) formula = Formula::none;
  cache.insert_or_assign(name, std::pair{std::string{name}, formula});
  return formula;
}

bool is_attention(Formula formula) { return formula == Formula::attention || formula == Formula::attention_backward; }

void count(Frame& frame, Formula formula, Count flops, std::string_view name) {
  frame.leaf = true;
  frame.counted_inside = true;
  const Pass pass = !frame.in_backward ? Pass::forward : c10::GradMode::is_enabled() ? Pass::recompute : Pass::backward;
  registry().for_each([&](State& state) {
    auto found = state.sums.find(name);
    if (found == state.sums.end()) found = state.sums.try_emplace(std::string{name}).first;
    State::Sum& sum = found->second.at(static_cast<std::size_t>(pass));
    ++sum.calls;
    sum.flops += flops;
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

/// Most operators are elementwise, or part of one that has been counted: they need no frame.
std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& call) {
  if (call.scope() == at::RecordScope::BACKWARD_FUNCTION) {
    auto frame = std::make_unique<Frame>();
    frame->in_backward = true;
    return frame;
  }
  if (top_frame != nullptr && top_frame->leaf) return nullptr;
  try {
    const Formula formula = cached_formula(call);
    if (formula == Formula::none) return nullptr;
    const auto flops = operator_flops(formula, call);
    auto frame = std::make_unique<Frame>();
    if (flops) {
      count(*frame, formula, *flops, call.name());
    } else {
      frame->suspect = call.name();
    }
    return frame;
  } catch (const std::exception& error) {
    keep_fault(call.name(), error.what());
  } catch (...) {
    keep_fault(call.name(), "an unknown exception");
  }
  return nullptr;
}

void on_end(const at::RecordFunction&, at::ObserverContext* context) {
  auto* const frame = static_cast<Frame*>(context);
  if (frame == nullptr) return;
  Frame* const around = frame->leave();
  if (frame->counted_inside) {
    if (around != nullptr) around->counted_inside = true;
    return;
  }
  if (frame->suspect == nullptr) return;
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
  for (const auto& [name, sums] : state.sums) {
    for (const Pass pass : {Pass::forward, Pass::backward, Pass::recompute}) {
      const State::Sum& sum = sums.at(static_cast<std::size_t>(pass));
      if (sum.calls == 0) continue;
      counts.operators.push_back({.name = name, .pass = pass, .calls = sum.calls, .flops = sum.flops});
      Count& total = pass == Pass::forward    ? counts.forward
                     : pass == Pass::backward ? counts.backward
                                              : counts.recompute;
      total += sum.flops;
    }
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
