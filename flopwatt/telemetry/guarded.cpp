#include "flopwatt/telemetry/guarded.hpp"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

namespace flopwatt::telemetry {

std::thread quiet_thread(std::function<void()> function) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread{std::move(function)};
  } catch (const std::system_error&) {  // out of threads: the readings are absent, the program goes on
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

OpenedSource open_guarded(const std::string& source, units::Duration patience, std::function<OpenedSource()> open) {
  struct Door {
    std::mutex mutex;
    std::condition_variable done;
    std::optional<OpenedSource> result;
  };
  const auto door = std::make_shared<Door>();
  std::thread thread = quiet_thread([door, open = std::move(open)] {
    OpenedSource opened = open();
    const std::lock_guard lock{door->mutex};
    door->result = std::move(opened);
    door->done.notify_all();
  });
  if (!thread.joinable()) {
    return tl::unexpected{SourceAbsence{source, Absence::unknown_error, "the system gives no more threads", {}}};
  }
  std::unique_lock lock{door->mutex};
  const auto wait = std::chrono::duration<double>{patience.in(units::second)};
  if (door->done.wait_for(lock, wait, [&] { return door->result.has_value(); })) {
    OpenedSource result = std::move(*door->result);
    lock.unlock();
    thread.join();
    return result;
  }
  lock.unlock();
  thread.detach();
  return tl::unexpected{SourceAbsence{source, Absence::timed_out, "its library hangs while it is opened", {}}};
}

}  // namespace flopwatt::telemetry
