#include "flopwatt/io/json_writer.hpp"

#include <utility>

#include "flopwatt/base/check.hpp"
#include "flopwatt/io/number_text.hpp"
#include "flopwatt/io/text_encoding.hpp"

namespace flopwatt::io {

JsonWriter& JsonWriter::key(std::string_view name) {
  FLOPWATT_CHECK(!open_.empty() && open_.back().bracket == '{' && !after_key_);
  separate();
  append_string(name);
  out_ += style_ == Style::pretty ? ": " : ":";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::null() { return literal("null"); }

JsonWriter& JsonWriter::value(std::string_view text) {
  before_value();
  append_string(text);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  before_value();
  append_number(out_, number);
  return *this;
}

JsonWriter& JsonWriter::value(__int128 number) {
  before_value();
  append_integer(out_, number);
  return *this;
}

JsonWriter& JsonWriter::value(unsigned __int128 number) {
  before_value();
  append_integer(out_, number);
  return *this;
}

std::string JsonWriter::take() && {
  FLOPWATT_CHECK(open_.empty() && !out_.empty());
  if (style_ == Style::pretty) out_ += '\n';
  return std::move(out_);
}

JsonWriter& JsonWriter::begin(char bracket, bool one_line) {
  const bool inside_line = !open_.empty() && open_.back().one_line;
  before_value();
  out_ += bracket;
  open_.push_back(Frame{bracket, one_line || inside_line});
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  FLOPWATT_CHECK(!open_.empty() && open_.back().bracket == bracket && !after_key_);
  const Frame frame = open_.back();
  open_.pop_back();
  if (style_ == Style::pretty && !frame.empty && !frame.one_line) {
    out_ += '\n';
    out_.append(2 * open_.size(), ' ');
  }
  out_ += bracket == '{' ? '}' : ']';
  return *this;
}

JsonWriter& JsonWriter::literal(std::string_view text) {
  before_value();
  out_ += text;
  return *this;
}

void JsonWriter::before_value() {
  if (std::exchange(after_key_, false)) return;
  if (open_.empty()) {
    FLOPWATT_CHECK(out_.empty());  // one value a document
    return;
  }
  FLOPWATT_CHECK(open_.back().bracket == '[');  // a member needs its key
  separate();
}

void JsonWriter::separate() {
  Frame& frame = open_.back();
  if (!std::exchange(frame.empty, false)) out_ += frame.one_line && style_ == Style::pretty ? ", " : ",";
  if (style_ == Style::pretty && !frame.one_line) {
    out_ += '\n';
    out_.append(2 * open_.size(), ' ');
  }
}

void JsonWriter::append_string(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out_ += '"';
  while (!text.empty()) {
    const std::size_t valid = find_invalid_utf8(text);
    for (const char c : text.substr(0, valid)) {
      const auto byte = static_cast<unsigned char>(c);
      switch (c) {
        case '"':
          out_ += "\\\"";
          break;
        case '\\':
          out_ += "\\\\";
          break;
        case '\n':
          out_ += "\\n";
          break;
        case '\r':
          out_ += "\\r";
          break;
        case '\t':
          out_ += "\\t";
          break;
        default:
          if (byte < 0x20 || byte == 0x7f) {
            out_ += "\\u00";
            out_ += kHex[byte >> 4U];
            out_ += kHex[byte & 0xFU];
          } else {
            out_ += c;
          }
      }
    }
    text.remove_prefix(valid);
    if (!text.empty()) {
      append_utf8(out_, 0xFFFD);
      text.remove_prefix(1);
    }
  }
  out_ += '"';
}

}  // namespace flopwatt::io
