#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "flopwatt/base/result.hpp"

namespace flopwatt::io {

/// A JSON document; objects keep the order of their keys.  Sources that look into one include <nlohmann/json.hpp>
/// (costly: never in a header) or, better, read it through JsonObject (json_reader.hpp).
using Json = nlohmann::ordered_json;

struct JsonOptions {
  std::size_t max_bytes = std::size_t{64} << 20U;  ///< a longer text is refused unread
  int max_depth = 128;                             ///< objects and arrays inside each other
  /// Python's json module writes NaN, Infinity and -Infinity, which are not JSON; files of the model hubs hold them.
  /// true: read each as the number that it names, so that it is not taken for a missing value.  false: an error.
  bool nonfinite_numbers = false;
};

/// Reads one JSON value; never throws, never guesses.  `where` is the display name of the text, usually the file.
///
/// UTF-8 with or without byte order mark, UTF-16 with one (text_encoding.hpp).  Errc::bad_data at "WHERE:LINE:COLUMN"
/// for: empty text, malformed or truncated JSON, anything after the value, a key that appears twice in one object,
/// nesting beyond the limit, an integer beyond 64 bits, a number that no double can hold (1e999, 1e-999).
[[nodiscard]] Result<Json> parse_json(std::string_view text, std::string_view where, const JsonOptions& options = {});

}  // namespace flopwatt::io
