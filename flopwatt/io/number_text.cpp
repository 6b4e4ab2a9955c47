#include "flopwatt/io/number_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "flopwatt/base/check.hpp"

namespace flopwatt::io {

void append_number(std::string& out, double number) {
  FLOPWATT_CHECK(std::isfinite(number));
  std::array<char, 32> digits{};
  char* const begin = digits.data();
  char* const limit = begin + digits.size();
  const auto [end, status] = std::abs(number) >= 1e15
                                 ? std::to_chars(begin, limit, number, std::chars_format::scientific)
                                 : std::to_chars(begin, limit, number);
  FLOPWATT_CHECK(status == std::errc{});
  out.append(begin, end);
}

void append_integer(std::string& out, __int128 number) {
  if (number < 0) out += '-';
  const auto magnitude = static_cast<unsigned __int128>(number);
  append_integer(out, number < 0 ? -magnitude : magnitude);  // unsigned negation is right for -2^127 too
}

void append_integer(std::string& out, unsigned __int128 number) {
  std::array<char, 40> digits{};  // 2^128 has 39 digits
  std::size_t at = digits.size();
  do {
    digits[--at] = static_cast<char>('0' + static_cast<int>(number % 10));
    number /= 10;
  } while (number != 0);
  out.append(digits.data() + at, digits.size() - at);
}

}  // namespace flopwatt::io
