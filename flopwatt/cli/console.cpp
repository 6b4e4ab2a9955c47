#include "flopwatt/cli/console.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "flopwatt/io/file.hpp"

namespace flopwatt::cli {
namespace {

/// Retries short writes.  Not stdio: what it buffers would be lost in silence when the program ends.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

Result<void> Console::print(std::string_view text) {
  if (const int error = write_all(STDOUT_FILENO, text); error != 0) {
    return fail(Errc::bad_data, std::string{"cannot write: "} + std::strerror(error), "standard output");
  }
  return {};
}

Result<void> Console::deliver(std::string_view text, const std::string& file) {
  return file.empty() ? print(text) : io::write_file_atomic(file, text);
}

void Console::say(std::string_view text) { write_all(STDERR_FILENO, text); }

void Console::complain(const Error& error) {
  write_all(STDERR_FILENO, "flopwatt: " + error.message() + "\n");  // nowhere left to report a failure of this
}

void prepare_process() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGABRT, [](int) { ::_exit(static_cast<int>(Errc::internal)); });
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    // Read-only, so that writing to a descriptor that was closed still fails.
    if (::fcntl(descriptor, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDONLY));
  }
}

}  // namespace flopwatt::cli
