#include "flopwatt/base/error.hpp"

namespace flopwatt::base {
namespace {

void append_printable(std::string& out, std::string_view text) {
  for (const char c : text) out += (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) ? '?' : c;
}

}  // namespace

std::string Error::message() const {
  std::string out;
  if (!where.empty()) {
    append_printable(out, where);
    out += ": ";
  }
  append_printable(out, what);
  if (!remedy.empty()) {
    out += "; ";
    append_printable(out, remedy);
  }
  return out;
}

std::string excerpt(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string{text};
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string{text.substr(0, end)} + "…";
}

}  // namespace flopwatt::base
