#pragma once

#include <string>
#include <string_view>

namespace flopwatt::io {

/// SHA-256 (FIPS 180-4) of `bytes`, 64 lower-case hexadecimal digits: says which data a result was made from.
///
/// Our own, in some seventy lines: the libraries of the distribution that have it are cryptographic suites or glibc
/// companions, none of which builds for the browser, and nothing here is secret.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace flopwatt::io
