#pragma once

#include <cstddef>
#include <string_view>

#include "flopwatt/base/result.hpp"
#include "flopwatt/io/json.hpp"

namespace flopwatt::io {

struct TomlOptions {
  std::size_t max_bytes = std::size_t{4} << 20U;  ///< a longer text is refused unread
};

/// Reads a TOML 1.0 document (a plan) with toml++ into the JSON tree that says the same, so that plans, configurations
/// and calibrations are all read through JsonObject; keys come out sorted.
///
/// Errc::bad_data at "WHERE:LINE:COLUMN" for: empty text, malformed TOML, a key that is set twice, inf and nan, dates
/// and times (no plan has any: give text), more than 16 parts in one dotted key or 16 arrays and inline tables inside
/// each other.  Encodings as in text_encoding.hpp.
[[nodiscard]] Result<Json> parse_toml(std::string_view text, std::string_view where, const TomlOptions& options = {});

}  // namespace flopwatt::io
