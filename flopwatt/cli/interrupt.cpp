#include "flopwatt/cli/interrupt.hpp"

#include <signal.h>
#include <time.h>

#include <array>
#include <atomic>

namespace flopwatt::cli {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
constexpr long long kOneWishMs = 500;

// What the handler writes.
std::atomic<int> came = 0;
std::atomic<long long> came_at_ms = 0;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<long long>::is_always_lock_free);

long long monotonic_ms() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1'000'000;
}

/// Calls nothing that a handler must not call (signal-safety(7)).
void on_signal(int number) noexcept {
  const long long now_ms = monotonic_ms();
  if (came == 0) {
    came_at_ms = now_ms;
    came = number;
  } else if (now_ms - came_at_ms >= kOneWishMs) {
    ::signal(number, SIG_DFL);
    ::raise(number);  // delivered when this returns
  }
}

}  // namespace

Interrupt::Interrupt() {
  came = 0;
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int number : kSignals) sigaddset(&action.sa_mask, number);  // one at a time
  for (const int number : kSignals) {
    struct sigaction before{};
    // What the caller ignores (nohup) stays ignored.
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
      ::sigaction(number, &action, nullptr);
    }
  }
}

Interrupt::~Interrupt() {
  for (const int number : kSignals) {
    struct sigaction before{};
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) ::signal(number, SIG_DFL);
  }
}

int Interrupt::signal() noexcept { return came; }

}  // namespace flopwatt::cli
