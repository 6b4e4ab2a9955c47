#include "flopwatt/telemetry/logs/json_documents.hpp"

#include <algorithm>
#include <string>

#include "flopwatt/telemetry/logs/text_line.hpp"

namespace flopwatt::telemetry {
namespace {

/// Where the value that begins at the front ends; empty where it does not.
std::optional<std::size_t> end_of_value(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (--depth == 0) return i + 1;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<JsonDocuments> split_json(std::string_view text, std::string_view where) {
  JsonDocuments result;
  std::size_t line = 1;
  std::optional<Stamp> stamp;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n,", at), text.size());
    line += static_cast<std::size_t>(std::count(text.data() + at, text.data() + begin, '\n'));
    at = begin;
    if (at == text.size()) break;
    if (text[at] != '{' && text[at] != '[') {
      const std::size_t end = std::min(text.find_first_of("\n{", at), text.size());
      const std::string_view words = trimmed(text.substr(at, end - at));
      if (const std::optional<Stamp> read = parse_stamp(words)) {
        stamp = read;
      } else {
        result.other_lines.push_back(line);
      }
      at = end;
      continue;
    }
    const std::optional<std::size_t> length = end_of_value(text.substr(at));
    if (!length) {
      if (result.documents.empty()) {
        return fail(Errc::bad_data, "the JSON ends before it is complete",
                    std::string{where} + ":" + std::to_string(line), "was the log cut off?");
      }
      result.torn_tail = true;
      break;
    }
    result.documents.push_back({text.substr(at, *length), line, stamp});
    stamp.reset();
    line += static_cast<std::size_t>(std::count(text.data() + at, text.data() + at + *length, '\n'));
    at += *length;
  }
  if (result.documents.empty()) return fail(Errc::bad_data, "holds no JSON object", std::string{where});
  return result;
}

}  // namespace flopwatt::telemetry
