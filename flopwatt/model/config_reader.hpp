#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/error.hpp"
#include "flopwatt/io/json.hpp"

/// Typed, range-checked fields of a config.json.  A family reader asks for one field after another without looking at
/// errors: the first thing that is wrong is kept in the ReadState, later fields then read as harmless values, and
/// read_config() refuses the file in the end.

namespace flopwatt::model {

/// What one read has found out besides the architecture, shared by all readers of the file's nested objects.
struct ReadState {
  std::string where;               ///< the file, for errors
  std::optional<Error> error;      ///< the first one
  std::vector<std::string> notes;  ///< assumptions worth telling, one sentence each
};

/// The names that a field goes by, the preferred one first: `{"hidden_size", "n_embd"}`.
class Keys {
 public:
  template <std::convertible_to<std::string_view>... Names>
    requires(sizeof...(Names) >= 1 && sizeof...(Names) <= 4)
  constexpr Keys(const Names&... names) noexcept
      : names_{std::string_view{names}...}, size_{sizeof...(Names)} {}  // NOLINT

  [[nodiscard]] const std::string_view* begin() const noexcept { return names_.data(); }
  [[nodiscard]] const std::string_view* end() const noexcept { return names_.data() + size_; }

 private:
  std::array<std::string_view, 4> names_{};
  std::size_t size_ = 0;
};

/// One JSON object of the file.  `null` is the same as absent.  Two names of one field that disagree are an error.
/// A field without a fallback is required.
class ConfigReader {
 public:
  static constexpr std::int64_t kMaxSize = std::int64_t{1} << 28;  ///< keeps every product of two sizes in 64 bits
  static constexpr std::int64_t kMaxLayers = 10'000;
  static constexpr std::int64_t kMaxExperts = 100'000;

  /// `object` must outlive the reader.  `path` is the key path from the top, empty or ending in '.'.
  ConfigReader(const io::Json& object, std::string path, ReadState& state)
      : object_{&object}, path_{std::move(path)}, state_{&state} {}

  /// A width, a number of heads, a vocabulary: 1 … kMaxSize.
  [[nodiscard]] std::int64_t size(const Keys& keys) const;
  [[nodiscard]] std::int64_t size(const Keys& keys, std::int64_t fallback) const;
  [[nodiscard]] std::optional<std::int64_t> optional_size(const Keys& keys) const;
  /// A shape that files always spell out at the top, while a nested config leaves out what equals its class default:
  /// there the default is taken, with a note.
  [[nodiscard]] std::int64_t shape(const Keys& keys, std::int64_t class_default) const;
  /// The same for a number of layers: 1 … kMaxLayers.
  [[nodiscard]] std::int64_t layers(const Keys& keys, std::optional<std::int64_t> class_default = {}) const;
  /// The same for a number of experts: 1 … kMaxExperts.
  [[nodiscard]] std::int64_t experts(const Keys& keys, std::optional<std::int64_t> class_default = {}) const;
  /// A number that may be zero: 0 … kMaxSize.
  [[nodiscard]] std::int64_t count(const Keys& keys, std::int64_t fallback) const;
  [[nodiscard]] bool flag(const Keys& keys, bool fallback) const;
  [[nodiscard]] double number(const Keys& keys, double fallback) const;
  [[nodiscard]] std::string text(const Keys& keys, std::string_view fallback) const;

  [[nodiscard]] std::vector<std::int64_t> counts(std::string_view key) const;  ///< of 0 … kMaxSize; empty if absent
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;    ///< empty if absent
  [[nodiscard]] std::vector<ConfigReader> objects(std::string_view key) const;
  [[nodiscard]] ConfigReader object(std::string_view key) const;
  [[nodiscard]] std::optional<ConfigReader> optional_object(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> keys() const;

  [[nodiscard]] bool has(std::string_view key) const;               ///< present and not null
  [[nodiscard]] bool is_null(std::string_view key) const;           ///< present and null
  [[nodiscard]] bool is_object(std::string_view key) const;         ///< present and an object
  [[nodiscard]] bool is_list(std::string_view key) const;           ///< present and a list
  [[nodiscard]] std::size_t list_size(std::string_view key) const;  ///< 0 if it is no list
  [[nodiscard]] bool is_text(std::string_view key) const;           ///< present and a text
  [[nodiscard]] bool nested() const noexcept { return !path_.empty(); }

  /// Records an error about `key` unless there is one already: "WHERE: PATH.KEY WHAT; REMEDY".
  void fail(std::string_view key, std::string_view what, std::string_view remedy = {}) const;
  /// fail() unless `condition`.
  void require(bool condition, std::string_view key, std::string_view what) const;
  void note(std::string text) const;
  [[nodiscard]] bool failed() const noexcept { return state_->error.has_value(); }
  [[nodiscard]] ReadState& state() const noexcept { return *state_; }

 private:
  struct Field {
    std::string_view key;
    const io::Json* value = nullptr;
  };
  /// An object that is not there: every field is absent.
  ConfigReader(std::string path, ReadState& state) : path_{std::move(path)}, state_{&state} {}
  [[nodiscard]] const io::Json* entry(std::string_view key) const;
  [[nodiscard]] Field find(const Keys& keys) const;
  [[nodiscard]] std::int64_t whole(const Field& field, std::int64_t least, std::int64_t most) const;
  [[nodiscard]] std::int64_t required(const Keys& keys, std::int64_t least, std::int64_t most) const;
  [[nodiscard]] std::int64_t defaulted(const Keys& keys, std::int64_t class_default, std::int64_t most) const;

  const io::Json* object_ = nullptr;
  std::string path_;
  ReadState* state_;
};

}  // namespace flopwatt::model
