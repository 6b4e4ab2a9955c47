#include "flopwatt/io/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

extern "C" char** environ;  // NOLINT: POSIX names it so

namespace flopwatt::io {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kKeptBytes = std::size_t{64} << 10U;

/// Reads until the other end closes or the time is up; false for the latter.
bool drain(int descriptor, Clock::time_point deadline, std::string& output) {
  std::array<char, 4096> buffer{};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left, INT_MAX)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    output.append(buffer.data(), static_cast<std::size_t>(got));
    if (output.size() > 2 * kKeptBytes) output.erase(0, output.size() - kKeptBytes);
  }
}

/// The last line that says something.
std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return base::excerpt(text.substr(text.find_last_of('\n') + 1));
}

/// Waits for the end of a child, without end once it was killed.
int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Result<std::string> run_program(const std::vector<std::string>& words, std::chrono::milliseconds patience) {
  if (words.empty()) return fail(Errc::unavailable, "no program named");
  const std::string& name = words.front();
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(Errc::unavailable, fmt::format("cannot be started: {}", std::strerror(errno)), name);
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));  // NOLINT: as POSIX asks
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, name.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    return fail(Errc::unavailable,
                error == ENOENT ? "not found" : fmt::format("cannot be started: {}", std::strerror(error)), name);
  }
  std::string output;
  const bool ended = drain(ends[0], Clock::now() + patience, output);
  if (!ended) ::kill(child, SIGKILL);
  ::close(ends[0]);
  const int status = wait_for(child);
  if (output.size() > kKeptBytes) output.erase(0, output.size() - kKeptBytes);
  if (!ended) return fail(Errc::unavailable, fmt::format("took longer than {} ms", patience.count()), name);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  const std::string how = WIFEXITED(status) ? fmt::format("ended with status {}", WEXITSTATUS(status))
                                            : fmt::format("was ended by signal {}", WTERMSIG(status));
  return fail(Errc::unavailable, how + (output.empty() ? "" : ": " + last_line(output)), name);
}

std::string program_folder() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0 || static_cast<std::size_t>(length) == path.size()) return {};
  const std::string file{path.data(), static_cast<std::size_t>(length)};
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? std::string{} : file.substr(0, slash == 0 ? 1 : slash);
}

}  // namespace flopwatt::io
