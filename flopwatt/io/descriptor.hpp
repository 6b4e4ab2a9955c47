#pragma once

#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "flopwatt/base/result.hpp"

/// What the sources that touch the file system share.

namespace flopwatt::io {

/// Closes a file descriptor at the end of a scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_{fd} {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  /// Closes now and tells whether it worked: a network file system reports a full disk only here.
  [[nodiscard]] bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

/// What errno `code` means for a path: Errc::bad_data with what to do about it.
[[nodiscard]] tl::unexpected<Error> system_failure(std::string_view doing, const std::string& path, int code);

/// All of `content`, however many writes it takes.
[[nodiscard]] Result<void> write_all(int fd, std::string_view content, const std::string& path);

}  // namespace flopwatt::io
