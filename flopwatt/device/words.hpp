#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flopwatt::device {

/// The words of a device name, lower case and sorted: blanks and - _ / . , : ( ) [ ] " @ part them, "80 GB" is one
/// word. Names are compared word by word and never by substring, so that an "L40S" is no "L4" and an "RTX A4000" no
/// "A40".
[[nodiscard]] std::vector<std::string> words(std::string_view name);

/// Without the words that only say who made it, so that "NVIDIA L4" and "L4" are one name, but "AMD L4" is none.
[[nodiscard]] std::vector<std::string> without_vendor(std::vector<std::string> words, std::string_view vendor);

/// Whether every word of `part` is a word of `whole` (both sorted).
[[nodiscard]] bool contains(const std::vector<std::string>& whole, const std::vector<std::string>& part);

/// Whether a driver reports this name for a slice of a GPU ("… MIG 1g.5gb"), whose figures are not the card's.
[[nodiscard]] bool names_partition(std::string_view name);

/// Number of letters to insert, delete, replace or swap with their neighbour to turn one word into the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace flopwatt::device
