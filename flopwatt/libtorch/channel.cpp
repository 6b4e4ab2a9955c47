#include "flopwatt/libtorch/channel.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace flopwatt::libtorch {

Channel::Channel() : output_{::dup(STDOUT_FILENO)} { ::dup2(STDERR_FILENO, STDOUT_FILENO); }
Channel::~Channel() { ::close(output_); }

bool Channel::read_more() {
  std::array<char, 4096> buffer{};
  const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (got > 0) unread_.append(buffer.data(), static_cast<std::size_t>(got));
  if (got == 0 || (got < 0 && errno != EINTR)) ended_ = true;
  return !ended_;
}

std::optional<std::string> Channel::take_line() {
  const auto end = unread_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  return line;
}

std::optional<std::string> Channel::read_line() {
  while (true) {
    if (auto line = take_line()) return line;
    if (!read_more()) return std::nullopt;
  }
}

bool Channel::told_to_stop() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (!ended_ && !stopped_ && ::poll(&input, 1, 0) > 0) {
    (void)read_more();
    while (const auto line = take_line()) stopped_ = stopped_ || *line == "stop";
  }
  return ended_ || stopped_;
}

void Channel::send(const workload::Event& event) {
  const std::string text = workload::write(event) + '\n';
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t written = ::write(output_, left.data(), left.size());
    if (written < 0 && errno != EINTR) return;  // nobody listens any more; the end of the input says so too
    if (written > 0) left.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace flopwatt::libtorch
