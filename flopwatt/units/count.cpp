#include "flopwatt/units/count.hpp"

#include <algorithm>

namespace flopwatt::units {

std::string to_string(Count count) {
  const bool negative = count < Count{0};
  auto rest = static_cast<unsigned __int128>(negative ? -count.value() : count.value());
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string to_grouped_string(Count count) {
  std::string text = to_string(count);
  const std::ptrdiff_t first = text.front() == '-' ? 1 : 0;
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > first; at -= 3) text.insert(text.begin() + at, ',');
  return text;
}

}  // namespace flopwatt::units
