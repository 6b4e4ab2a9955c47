#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/telemetry/logs/stamp.hpp"

namespace flopwatt::telemetry {

/// One JSON value of a log that a loop has written: `while sleep 1; do date +%s; rocm-smi --json; done`.
struct JsonDocument {
  std::string_view text;
  std::size_t line = 1;        ///< on which it begins
  std::optional<Stamp> stamp;  ///< the last time that stood alone on a line before it
};

struct JsonDocuments {
  std::vector<JsonDocument> documents;
  std::vector<std::size_t> other_lines;  ///< outside of documents and no times
  bool torn_tail = false;                ///< the last document is not complete and is left out
};

/// Objects and arrays, one after another.  Errc::bad_data at WHERE:LINE where the only document is not complete, or
/// there is none.
[[nodiscard]] Result<JsonDocuments> split_json(std::string_view text, std::string_view where);

}  // namespace flopwatt::telemetry
