#pragma once

#include <array>
#include <string>
#include <string_view>

#include "flopwatt/base/error.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/io/json_reader.hpp"

namespace flopwatt::workload {

/// The names of an enumeration whose values are 0, 1, 2, …
template <std::size_t N>
using Words = std::array<std::string_view, N>;

/// Reads one of `words` under `key`.
template <class Enum, std::size_t N>
[[nodiscard]] Result<Enum> require_word(const io::JsonObject& object, std::string_view key, const Words<N>& words) {
  FLOPWATT_TRY(const std::string text, object.require_string(key));
  for (std::size_t i = 0; i < N; ++i) {
    if (words[i] == text) return static_cast<Enum>(i);
  }
  std::string choices;
  for (const std::string_view word : words) choices.append(choices.empty() ? "" : ", ").append(word);
  return fail(object.error(key, "unknown word \"" + base::excerpt(text) + '"', "it is one of: " + choices));
}

}  // namespace flopwatt::workload
