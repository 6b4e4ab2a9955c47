#include "flopwatt/telemetry/logs/text_line.hpp"

#include <algorithm>

namespace flopwatt::telemetry {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\0'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool same(char a, char b) { return lower(a) == lower(b); }

}  // namespace

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool same_letters(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

bool contains_letters(std::string_view text, std::string_view part) noexcept {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  std::size_t number = 1;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of("\r\n");
    const bool ended = end != std::string_view::npos;
    const std::string_view line = ended ? text.substr(0, end) : text;
    if (!trimmed(line).empty()) lines.push_back({line, number, ended});
    if (!ended) break;
    const bool both = text[end] == '\r' && end + 1 < text.size() && text[end + 1] == '\n';
    text.remove_prefix(end + (both ? 2 : 1));
    ++number;
  }
  return lines;
}

void split_fields(std::string_view line, char delimiter, std::vector<std::string_view>& fields) {
  fields.clear();
  bool open = true;
  while (open) {
    line = line.substr(std::min(line.size(), line.find_first_not_of(" \t")));
    std::string_view field;
    if (!line.empty() && line.front() == '"') {
      const std::size_t close = std::min(line.find('"', 1), line.size());
      field = line.substr(1, close - 1);
      const std::size_t next = line.find(delimiter, close);
      open = next != std::string_view::npos;
      line = open ? line.substr(next + 1) : std::string_view{};
    } else {
      const std::size_t next = line.find(delimiter);
      open = next != std::string_view::npos;
      field = line.substr(0, next);
      line = open ? line.substr(next + 1) : std::string_view{};
    }
    fields.push_back(trimmed(field));
  }
}

void split_words(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

}  // namespace flopwatt::telemetry
