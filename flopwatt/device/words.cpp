#include "flopwatt/device/words.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace flopwatt::device {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_number(std::string_view word) noexcept {
  return !word.empty() && std::all_of(word.begin(), word.end(), is_digit);
}
// "1g" and "5gb" of a MIG profile.
bool is_amount(std::string_view word, std::string_view unit) noexcept {
  return word.size() > unit.size() && word.ends_with(unit) && is_number(word.substr(0, word.size() - unit.size()));
}
bool parts_words(char c) noexcept { return std::string_view{" \t\r\n-_/.,:()[]\"@"}.find(c) != std::string_view::npos; }

std::vector<std::string> in_order(std::string_view name) {
  std::vector<std::string> found;
  std::string word;
  const auto finish = [&] {
    if (word.empty()) return;
    if (word == "gb" && !found.empty() && is_number(found.back())) {
      found.back() += word;
    } else {
      found.push_back(word);
    }
    word.clear();
  };
  for (const char c : name) {
    if (parts_words(c)) {
      finish();
    } else {
      word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  finish();
  return found;
}

}  // namespace

std::vector<std::string> words(std::string_view name) {
  std::vector<std::string> found = in_order(name);
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> without_vendor(std::vector<std::string> words, std::string_view vendor) {
  std::erase_if(words, [vendor](std::string_view word) {
    return (vendor == "NVIDIA" && word == "nvidia") || (vendor == "AMD" && word == "amd") ||
           (vendor == "Google" && (word == "google" || word == "cloud")) ||
           (vendor == "Intel" && (word == "intel" || word == "habana"));
  });
  return words;
}

bool contains(const std::vector<std::string>& whole, const std::vector<std::string>& part) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

bool names_partition(std::string_view name) {
  const std::vector<std::string> found = in_order(name);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == "mig") return true;
    if (i + 1 < found.size() && is_amount(found[i], "g") && is_amount(found[i + 1], "gb")) return true;
  }
  return false;
}

// Optimal string alignment (Levenshtein with swaps of neighbours), three rows of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

}  // namespace flopwatt::device
