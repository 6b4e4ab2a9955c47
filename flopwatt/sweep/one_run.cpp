#include "flopwatt/sweep/one_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>
#include <variant>

#include "flopwatt/workload/process.hpp"

namespace flopwatt::sweep {
namespace {

using std::chrono::milliseconds;
using workload::Process;

/// How often the wish to stop is looked at while the child is silent.
constexpr milliseconds kSlice{50};
/// A child that is told to stop finishes its step first; one that does not within this time is killed.
constexpr milliseconds kGrace{10'000};
/// The same when somebody waits for the end of the program.
constexpr milliseconds kShortGrace{1'500};

/// The end of what the child wrote to its standard error, on one line.
std::string last_words(const Process& process) {
  std::string text = process.error_output();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  constexpr std::size_t kShown = 400;
  if (text.size() > kShown) text.erase(0, text.size() - kShown);
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text.empty() ? "" : "; it said: " + text;
}

void stop_child(Process& process, milliseconds grace) {
  static_cast<void>(process.write_line("stop", milliseconds{100}));  // it may have ended, which is as well
  process.close_input();
  if (!process.wait(grace)) process.kill();
}

/// The child closed its output without having said that it is done.
Ending ended_silently(Process& process) {
  auto exit = process.wait(kShortGrace);
  if (!exit) exit = process.kill();
  std::string detail = "the workload ended without a word, " + exit->message();
  if (exit->signal == SIGKILL) detail += "; the kernel does that to a process that takes all memory";
  return {RunState::failed, std::string{reason::kCrashed}, detail + last_words(process)};
}

Ending foreign(Error error) {
  return {RunState::failed, std::string{reason::kProtocol}, error.message(), std::move(error)};
}

}  // namespace

double monotonic_seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double unix_seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool pause(units::Duration time, const std::function<bool()>& stop) {
  const double end = monotonic_seconds() + time.in(units::second);
  for (double left = time.in(units::second); left > 0; left = end - monotonic_seconds()) {
    if (stop()) return true;
    std::this_thread::sleep_for(std::min(std::chrono::duration<double>(left), std::chrono::duration<double>(kSlice)));
  }
  return stop();
}

Result<Ending> converse(const std::vector<std::string>& program, const workload::Job& job, units::Duration limit,
                        const std::function<bool()>& stop,
                        const std::function<Result<std::optional<Ending>>(const workload::Event&)>& take) {
  FLOPWATT_TRY(Process process, Process::start(program));
  const double deadline = monotonic_seconds() + limit.in(units::second);
  // A child that ends before it has read its job says why, if at all, on its way out.
  static_cast<void>(process.write_line(workload::write(job)));
  bool understood = false;
  while (true) {
    if (stop()) {
      stop_child(process, kShortGrace);
      return Ending{RunState::interrupted, std::string{reason::kSignal}, ""};
    }
    if (monotonic_seconds() >= deadline) {
      process.kill();
      return Ending{RunState::failed, std::string{reason::kTimedOut},
                    fmt::format("not done within {:g} s{}", limit.in(units::second), last_words(process))};
    }
    const Result<Process::Read> read = process.read_line(kSlice);
    if (!read) {
      process.kill();
      return Ending{RunState::failed, std::string{reason::kProtocol}, read.error().message()};
    }
    if (std::holds_alternative<Process::Quiet>(*read)) continue;
    if (std::holds_alternative<Process::Closed>(*read)) return ended_silently(process);
    const std::string& line = std::get<Process::Line>(*read).text;
    const Result<workload::Event> event = workload::read_event(line);
    if (!event) {
      process.kill();
      if (!understood) return foreign(workload::not_understood(program.front(), line, event.error()));
      return Ending{RunState::failed, std::string{reason::kProtocol},
                    fmt::format("{}: '{}'", event.error().message(), base::excerpt(line, 120))};
    }
    understood = true;
    if (const auto* failed = std::get_if<workload::Failed>(&*event)) {
      if (!process.wait(kShortGrace)) process.kill();
      if (failed->reason == workload::Failed::Reason::protocol) {
        return foreign(workload::not_understood(program.front(), *failed));
      }
      return Ending{RunState::failed, std::string{workload::name(failed->reason)}, failed->detail};
    }
    FLOPWATT_TRY(std::optional<Ending> ending, take(*event));
    if (ending) {
      stop_child(process, kGrace);
      return *std::move(ending);
    }
    if (std::holds_alternative<workload::Done>(*event)) {
      process.kill();
      return Ending{RunState::failed, std::string{reason::kProtocol}, "the workload was done before it was told to be"};
    }
  }
}

}  // namespace flopwatt::sweep
