#pragma once

namespace flopwatt::cli {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP is a wish that `signal()` tells; the second one ends the program
/// as it would have without this.  One at a time.
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
