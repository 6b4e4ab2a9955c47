#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace flopwatt::cli {

/// ASCII letters in lower case, whatever the locale.
[[nodiscard]] std::string lower(std::string_view text);

/// The candidate that a mistyped word most likely meant: the nearest within a third of its length in edits
/// (insert, delete, replace, swap neighbours), without case.
[[nodiscard]] std::optional<std::string> suggest(std::string_view word, std::span<const std::string> candidates);

}  // namespace flopwatt::cli
