#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "flopwatt/base/result.hpp"

namespace flopwatt::workload {

/// How a child ended: by itself, or by a signal.
struct Exit {
  int code = 0;    ///< meaningful where `signal` is 0
  int signal = 0;  ///< 0: none

  [[nodiscard]] bool good() const noexcept { return signal == 0 && code == 0; }
  /// "exit code 3", "killed by signal 9 (Killed)".
  [[nodiscard]] std::string message() const;

  friend bool operator==(const Exit&, const Exit&) = default;
};

/// A child process with pipes: lines to its standard input, lines from its standard output, the end of its standard
/// error kept.  It leads a process group of its own, so that a Ctrl-C at the terminal reaches the parent only; whatever
/// it started and left in the group is killed when it ends.  The destructor kills and reaps: no child outlives its
/// Process, and none that heeds the end of its input outlives a parent that was killed itself.
///
/// One thread at a time.  No call blocks longer than the time-out that it is given.
class Process {
 public:
  using Milliseconds = std::chrono::milliseconds;

  /// Starts `command[0]` (a path, or a name looked up in PATH) with the rest as arguments and the environment of the
  /// parent.  Errors: Errc::unavailable, `where` the program, when it is not there or cannot be executed.
  [[nodiscard]] static Result<Process> start(const std::vector<std::string>& command);

  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t id() const noexcept;

  /// Writes `line` and a line's end.  Errc::unavailable when the child has closed its input or does not take it within
  /// the time-out.  Never a SIGPIPE.
  [[nodiscard]] Result<void> write_line(std::string_view line, Milliseconds timeout = Milliseconds{10'000});
  /// The child reads the end of its input.
  void close_input() noexcept;

  struct Line {
    std::string text;  ///< without its end
  };
  struct Quiet {};   ///< no whole line within the time-out
  struct Closed {};  ///< the child has closed its output; it has ended or soon will
  using Read = std::variant<Line, Quiet, Closed>;
  /// The next line.  A last line without an end is a line.  Errc::bad_data for a line longer than 1 MiB; its rest is
  /// skipped by the next call.
  [[nodiscard]] Result<Read> read_line(Milliseconds timeout);

  /// Waits for the end of the child; empty after the time-out.  Output that nobody has read is kept for read_line up to
  /// 1 MiB and dropped beyond, so that a talkative child can end.
  [[nodiscard]] std::optional<Exit> wait(Milliseconds timeout);
  /// Kills the process group and reaps the child.
  Exit kill() noexcept;

  /// What the child wrote to its standard error: the last 16 KiB, whatever was there at the last read_line or wait.
  [[nodiscard]] const std::string& error_output() const noexcept;

 private:
  struct State;
  explicit Process(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace flopwatt::workload
