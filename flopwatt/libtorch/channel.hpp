#pragma once

#include <optional>
#include <string>

#include "flopwatt/workload/event.hpp"

namespace flopwatt::libtorch {

/// The child's end of the protocol (flopwatt/workload/job.hpp).  Takes standard output for its own: whatever a library
/// prints there goes to standard error instead, and cannot spoil a line.
class Channel {
 public:
  Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  /// Waits for a line; empty at the end of the input.
  [[nodiscard]] std::optional<std::string> read_line();
  /// The parent has said "stop", or is gone.
  [[nodiscard]] bool told_to_stop();
  void send(const workload::Event& event);

 private:
  [[nodiscard]] bool read_more();
  [[nodiscard]] std::optional<std::string> take_line();

  int output_;
  std::string unread_;
  bool ended_ = false, stopped_ = false;
};

}  // namespace flopwatt::libtorch
