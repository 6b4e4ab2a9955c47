#pragma once

namespace flopwatt::base {

/// Says on stderr which of our own assumptions broke, and aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* condition) noexcept;

}  // namespace flopwatt::base

/// Stops at a bug of ours, in every build.  Never for user input: that is an Error.
#define FLOPWATT_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::flopwatt::base::check_failed(__FILE__, __LINE__, #condition))
