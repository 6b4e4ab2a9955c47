#pragma once

namespace flopwatt::cli {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP is a wish that `signal()` tells; a second one ends the program
/// as it would have without this, unless it comes within half a second: `timeout` and batch systems signal a process
/// and then its whole group, which is one wish.  One at a time.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  /// The signal that came; 0: none.
  [[nodiscard]] static int signal() noexcept;
};

}  // namespace flopwatt::cli
