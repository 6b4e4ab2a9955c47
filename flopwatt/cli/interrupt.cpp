#include "flopwatt/cli/interrupt.hpp"

#include <signal.h>

#include <array>

namespace flopwatt::cli {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
volatile sig_atomic_t came = 0;  // the one thing that a handler may write

}  // namespace

Interrupt::Interrupt() {
  came = 0;
  struct sigaction action{};
  action.sa_handler = [](int number) { came = number; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second one is not ours
  sigemptyset(&action.sa_mask);
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

int Interrupt::signal() noexcept { return static_cast<int>(came); }

}  // namespace flopwatt::cli
