#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/io/json.hpp"

namespace flopwatt::io {

/// A JSON object seen with the file and the key path that lead to it, so that every complaint says where:
/// `config.json: text_config.hidden_size: expected an integer of at least 1, found "abc"`.
///
/// A key whose value is null counts as absent.  `require_…` makes an absent key an error, `optional_…` an empty
/// optional; a value of another type or out of range is Errc::bad_data in both.  An integer may be written 4096 or
/// 4096.0 (exact up to 2^53) but never true; a number may be written as an integer.  Ranges include both ends.
///
/// A view: it lives no longer than the document.
class JsonObject {
 public:
  static constexpr std::int64_t kMinInt = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kMaxInt = std::numeric_limits<std::int64_t>::max();
  static constexpr double kMinNumber = std::numeric_limits<double>::lowest();
  static constexpr double kMaxNumber = std::numeric_limits<double>::max();

  /// The document itself, which must be an object.  `file` is its display name.
  [[nodiscard]] static Result<JsonObject> root(const Json& document, std::string_view file);

  [[nodiscard]] bool has(std::string_view key) const;  ///< present and not null
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] bool empty() const;

  [[nodiscard]] Result<std::int64_t> require_int(std::string_view key, std::int64_t min = kMinInt,
                                                 std::int64_t max = kMaxInt) const;
  [[nodiscard]] Result<std::optional<std::int64_t>> optional_int(std::string_view key, std::int64_t min = kMinInt,
                                                                 std::int64_t max = kMaxInt) const;
  [[nodiscard]] Result<double> require_number(std::string_view key, double min = kMinNumber,
                                              double max = kMaxNumber) const;
  [[nodiscard]] Result<std::optional<double>> optional_number(std::string_view key, double min = kMinNumber,
                                                              double max = kMaxNumber) const;
  [[nodiscard]] Result<bool> require_bool(std::string_view key) const;
  [[nodiscard]] Result<std::optional<bool>> optional_bool(std::string_view key) const;
  [[nodiscard]] Result<std::string> require_string(std::string_view key) const;
  [[nodiscard]] Result<std::optional<std::string>> optional_string(std::string_view key) const;
  [[nodiscard]] Result<JsonObject> require_object(std::string_view key) const;
  [[nodiscard]] Result<std::optional<JsonObject>> optional_object(std::string_view key) const;

  /// Arrays; a null inside one is an error.  `optional_…` with an absent key is an empty optional, not an empty list.
  [[nodiscard]] Result<std::vector<std::int64_t>> require_ints(std::string_view key, std::int64_t min = kMinInt,
                                                               std::int64_t max = kMaxInt) const;
  [[nodiscard]] Result<std::optional<std::vector<std::int64_t>>> optional_ints(std::string_view key,
                                                                               std::int64_t min = kMinInt,
                                                                               std::int64_t max = kMaxInt) const;
  [[nodiscard]] Result<std::vector<double>> require_numbers(std::string_view key, double min = kMinNumber,
                                                            double max = kMaxNumber) const;
  [[nodiscard]] Result<std::optional<std::vector<double>>> optional_numbers(std::string_view key,
                                                                            double min = kMinNumber,
                                                                            double max = kMaxNumber) const;
  [[nodiscard]] Result<std::vector<std::string>> require_strings(std::string_view key) const;
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> optional_strings(std::string_view key) const;
  [[nodiscard]] Result<std::vector<JsonObject>> require_objects(std::string_view key) const;
  [[nodiscard]] Result<std::optional<std::vector<JsonObject>>> optional_objects(std::string_view key) const;

  /// For files of our own: a key that is none of `known` is an error, so that a typing mistake is not ignored.
  [[nodiscard]] Result<void> refuse_other_keys(std::initializer_list<std::string_view> known) const;

  /// The error that `what` is wrong with `key` (with this object when `key` is empty): "FILE: PATH.KEY: WHAT; REMEDY".
  [[nodiscard]] Error error(std::string_view key, std::string_view what, std::string remedy = {}) const;

  /// The value of `key`, or nullptr when it is absent or null: for what the typed look-ups do not cover.
  [[nodiscard]] const Json* find(std::string_view key) const;
  [[nodiscard]] const Json& json() const { return *object_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::string& path() const { return path_; }  ///< "" for the root, "text_config.rope_scaling"

 private:
  JsonObject(const Json& object, std::string file, std::string path)
      : object_{&object}, file_{std::move(file)}, path_{std::move(path)} {}
  [[nodiscard]] std::string path_of(std::string_view key) const;
  template <class T, class Convert>
  [[nodiscard]] Result<T> require(std::string_view key, const Convert& convert) const;
  template <class T, class Convert>
  [[nodiscard]] Result<std::optional<T>> optional(std::string_view key, const Convert& convert) const;

  const Json* object_;
  std::string file_;
  std::string path_;
};

}  // namespace flopwatt::io
