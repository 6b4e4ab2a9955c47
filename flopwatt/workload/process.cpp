#include "flopwatt/workload/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "flopwatt/base/check.hpp"

extern char** environ;  // NOLINT: POSIX

namespace flopwatt::workload {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = Process::Milliseconds;

constexpr std::size_t kMaxLine = std::size_t{1} << 20U;
constexpr std::size_t kMaxErrorOutput = std::size_t{16} << 10U;
constexpr Milliseconds kPollInterval{2};

/// Owns a file descriptor.
class Handle {
 public:
  Handle() = default;
  explicit Handle(int descriptor) noexcept : descriptor_{descriptor} {}
  Handle(Handle&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { close(); }

  void close() noexcept {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] bool open() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

struct Ends {
  Handle ours, theirs;
};

/// Two connected ends, closed in whatever else this process starts.  A socket pair where a pipe would do, because a
/// socket can be written without risking SIGPIPE.
std::optional<Ends> connect_ends() {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) return std::nullopt;
  return Ends{Handle{pair[0]}, Handle{pair[1]}};
}

/// A pipe: the child's end is its /dev/stdout, which programs open, and a socket cannot be opened.
std::optional<Ends> connect_output() {
  std::array<int, 2> pair{};
  if (::pipe2(pair.data(), O_CLOEXEC) != 0) return std::nullopt;
  return Ends{Handle{pair[0]}, Handle{pair[1]}};
}

class SpawnSettings {
 public:
  SpawnSettings() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  void redirect(const Handle& from, int to) { ::posix_spawn_file_actions_adddup2(&actions_, from.get(), to); }
  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

Milliseconds left_until(Clock::time_point deadline) {
  return std::max(std::chrono::ceil<Milliseconds>(deadline - Clock::now()), Milliseconds{0});
}

int poll_timeout(Milliseconds timeout) {
  return static_cast<int>(std::clamp<Milliseconds::rep>(timeout.count(), 0, 1'000'000'000));
}

}  // namespace

std::string Exit::message() const {
  if (signal == 0) return "exit code " + std::to_string(code);
  const char* description = ::strsignal(signal);
  return "killed by signal " + std::to_string(signal) + " (" + (description != nullptr ? description : "?") + ')';
}

struct Process::State {
  std::string program;
  pid_t child = -1;
  std::optional<Exit> exit;
  Handle input, output, errors;
  std::string unread;       ///< of the output
  std::size_t scanned = 0;  ///< bytes of `unread` that hold no line's end
  bool skipping = false;    ///< in the rest of a line that was too long
  std::string error_output;

  /// Takes what is there from `from`; closes it at its end.
  template <class Take>
  static void drain(Handle& from, const Take& take) {
    std::array<char, 65536> buffer{};
    const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
    if (got > 0) take(std::string_view{buffer.data(), static_cast<std::size_t>(got)});
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) from.close();
  }

  void keep_errors(std::string_view text) {
    error_output.append(text);
    if (error_output.size() > kMaxErrorOutput) error_output.erase(0, error_output.size() - kMaxErrorOutput);
  }

  /// Reads whatever comes first within the time-out.  `output_too`: false when the output's buffer is full.
  void pump(Milliseconds timeout, bool output_too = true) {
    std::array<pollfd, 2> ready{};
    nfds_t count = 0;
    if (output.open() && output_too) ready[count++] = {output.get(), POLLIN, 0};
    if (errors.open()) ready[count++] = {errors.get(), POLLIN, 0};
    if (::poll(ready.data(), count, poll_timeout(timeout)) <= 0) return;
    for (nfds_t i = 0; i < count; ++i) {
      if (ready[i].revents == 0) continue;
      if (ready[i].fd == output.get()) {
        drain(output, [this](std::string_view text) { unread.append(text); });
      } else {
        drain(errors, [this](std::string_view text) { keep_errors(text); });
      }
    }
  }

  /// The next whole line of what has been read.
  std::optional<Result<Read>> take_line() {
    const std::size_t end = unread.find('\n', scanned);
    const bool whole = end != std::string::npos;
    const bool last = !whole && !output.open() && !unread.empty();
    const std::size_t length = whole ? end : unread.size();
    if (skipping) {
      unread.erase(0, whole ? end + 1 : length);
      scanned = 0;
      skipping = !whole;
      return whole ? take_line() : std::nullopt;
    }
    if (length > kMaxLine) {
      skipping = true;
      return fail(Errc::bad_data, "the child wrote a line longer than 1 MiB", program);
    }
    if (!whole && !last) {
      scanned = length;
      return std::nullopt;
    }
    Line line{unread.substr(0, length)};
    unread.erase(0, whole ? end + 1 : length);
    scanned = 0;
    return Result<Read>{Read{std::move(line)}};
  }

  /// Takes the child's end if it has come (`options` WNOHANG) or when it comes (0).  What the child left behind in its
  /// group is killed with it: an unreaped leader keeps the group's number from being reused meanwhile.
  bool reap(int options) noexcept {
    if (exit || child < 0) return exit.has_value();
    siginfo_t info{};
    int result = 0;
    do {
      result = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT | options);
    } while (result < 0 && errno == EINTR);
    if (result == 0 && info.si_pid == 0) return false;
    if (result == 0) {
      ::kill(-child, SIGKILL);
      const bool by_itself = info.si_code == CLD_EXITED;
      exit = by_itself ? Exit{.code = info.si_status} : Exit{.signal = info.si_status};
      while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
      }
    } else {
      exit = Exit{.code = -1};  // reaped elsewhere (SIGCHLD ignored): that it has ended is all that is known
    }
    return true;
  }
};

Process::Process(std::unique_ptr<State> state) noexcept : state_{std::move(state)} {}
Process::Process(Process&&) noexcept = default;
Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    if (state_) kill();
    state_ = std::move(other.state_);
  }
  return *this;
}
Process::~Process() {
  if (state_) kill();
}

Result<Process> Process::start(const std::vector<std::string>& command) {
  FLOPWATT_CHECK(!command.empty());
  auto input = connect_ends();
  auto output = connect_output();
  auto errors = connect_output();
  if (!input || !output || !errors) {
    return fail(Errc::unavailable, std::string{"no pipe to a child process: "} + std::strerror(errno), command[0]);
  }
  SpawnSettings settings;
  settings.redirect(input->theirs, STDIN_FILENO);
  settings.redirect(output->theirs, STDOUT_FILENO);
  settings.redirect(errors->theirs, STDERR_FILENO);
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  auto state = std::make_unique<State>();
  const int status =
      ::posix_spawnp(&state->child, arguments[0], settings.actions(), settings.attributes(), arguments.data(), environ);
  if (status != 0) {
    return fail(Errc::unavailable, std::string{"cannot be started: "} + std::strerror(status), command[0]);
  }
  state->program = command[0];
  state->input = std::move(input->ours);
  state->output = std::move(output->ours);
  state->errors = std::move(errors->ours);
  return Process{std::move(state)};
}

pid_t Process::id() const noexcept { return state_->child; }
const std::string& Process::error_output() const noexcept { return state_->error_output; }
void Process::close_input() noexcept { state_->input.close(); }

Result<void> Process::write_line(std::string_view line, Milliseconds timeout) {
  State& state = *state_;
  const auto deadline = Clock::now() + timeout;
  std::string text{line};
  text += '\n';
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t sent = state.input.open()
                             ? ::send(state.input.get(), left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT)
                             : (errno = EPIPE, -1);
    if (sent >= 0) {
      left.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      return fail(Errc::unavailable, "the child takes no more input: it has ended or is about to", state.program);
    }
    if (left_until(deadline) == Milliseconds{0}) {
      return fail(Errc::unavailable, "the child does not read its input", state.program);
    }
    pollfd ready{state.input.get(), POLLOUT, 0};
    (void)::poll(&ready, 1, poll_timeout(left_until(deadline)));
  }
  return {};
}

Result<Process::Read> Process::read_line(Milliseconds timeout) {
  State& state = *state_;
  const auto deadline = Clock::now() + timeout;
  while (true) {
    if (auto line = state.take_line()) return *std::move(line);
    if (!state.output.open()) {
      if (state.errors.open()) state.pump(Milliseconds{0});
      return Closed{};
    }
    const Milliseconds left = left_until(deadline);
    state.pump(left);
    if (left == Milliseconds{0}) {
      if (auto line = state.take_line()) return *std::move(line);
      return state.output.open() ? Read{Quiet{}} : Read{Closed{}};
    }
  }
}

std::optional<Exit> Process::wait(Milliseconds timeout) {
  State& state = *state_;
  const auto deadline = Clock::now() + timeout;
  while (true) {
    const bool ended = state.reap(WNOHANG);
    if (state.unread.size() > kMaxLine) state.unread.erase(kMaxLine);
    if (ended) {
      // What is left in the pipes; a grandchild may hold them open, so only what is there now.
      for (int i = 0; i < 64 && (state.output.open() || state.errors.open()); ++i) state.pump(Milliseconds{0});
      return state.exit;
    }
    const Milliseconds left = left_until(deadline);
    if (left == Milliseconds{0}) return std::nullopt;
    if (state.output.open() || state.errors.open()) {
      state.pump(std::min(left, kPollInterval));
    } else {
      std::this_thread::sleep_for(std::min(left, kPollInterval));
    }
  }
}

Exit Process::kill() noexcept {
  State& state = *state_;
  if (!state.exit && state.child > 0) ::kill(-state.child, SIGKILL);
  state.reap(0);
  state.input.close();
  return state.exit.value_or(Exit{});
}

}  // namespace flopwatt::workload
