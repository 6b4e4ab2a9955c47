#include "flopwatt/io/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace flopwatt::io {
namespace {

std::string shown(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (const auto* number = value.get_ptr<const Json::number_float_t*>(); number != nullptr && !std::isfinite(*number)) {
    return std::isnan(*number) ? "NaN" : *number > 0 ? "Infinity" : "-Infinity";  // dump() would say null
  }
  return base::excerpt(value.dump(-1, ' ', false, Json::error_handler_t::replace), 40);
}

template <class T>
std::string range_text(std::string_view kind, T min, T max, T lowest, T highest) {
  if (min == lowest && max == highest) return std::string{kind};
  if (max == highest) return fmt::format("{} of at least {}", kind, min);
  if (min == lowest) return fmt::format("{} of at most {}", kind, max);
  return fmt::format("{} from {} to {}", kind, min, max);
}

std::optional<std::int64_t> exact_int(const Json& value) {
  if (const auto* integer = value.get_ptr<const Json::number_unsigned_t*>()) {
    if (*integer > static_cast<std::uint64_t>(JsonObject::kMaxInt)) return std::nullopt;
    return static_cast<std::int64_t>(*integer);
  }
  if (const auto* integer = value.get_ptr<const Json::number_integer_t*>()) return *integer;
  if (const auto* number = value.get_ptr<const Json::number_float_t*>()) {
    constexpr double kExact = 9007199254740992.0;  // 2^53: beyond it a double no longer tells its neighbours apart
    if (std::abs(*number) <= kExact && std::trunc(*number) == *number) return static_cast<std::int64_t>(*number);
  }
  return std::nullopt;
}

std::optional<double> as_double(const Json& value) {
  if (const auto* integer = value.get_ptr<const Json::number_unsigned_t*>()) return static_cast<double>(*integer);
  if (const auto* integer = value.get_ptr<const Json::number_integer_t*>()) return static_cast<double>(*integer);
  if (const auto* number = value.get_ptr<const Json::number_float_t*>()) return *number;
  return std::nullopt;
}

Error wrong(const std::string& file, std::string_view path, std::string_view expected, const Json& found) {
  return Error{Errc::bad_data, fmt::format("{}: expected {}, found {}", path, expected, shown(found)), file,
               "correct the value"};
}

// Converters: a value with its path → Result<T>.
auto int_within(const std::string& file, std::int64_t min, std::int64_t max) {
  return [&file, min, max](const Json& value, const std::string& path) -> Result<std::int64_t> {
    const auto integer = exact_int(value);
    if (!integer || *integer < min || *integer > max) {
      return fail(
          wrong(file, path, range_text("an integer", min, max, JsonObject::kMinInt, JsonObject::kMaxInt), value));
    }
    return *integer;
  };
}
auto number_within(const std::string& file, double min, double max) {
  return [&file, min, max](const Json& value, const std::string& path) -> Result<double> {
    const auto number = as_double(value);
    if (!number || !(*number >= min && *number <= max)) {
      return fail(
          wrong(file, path, range_text("a number", min, max, JsonObject::kMinNumber, JsonObject::kMaxNumber), value));
    }
    return *number;
  };
}
auto any_bool(const std::string& file) {
  return [&file](const Json& value, const std::string& path) -> Result<bool> {
    if (const auto* flag = value.get_ptr<const Json::boolean_t*>()) return *flag;
    return fail(wrong(file, path, "true or false", value));
  };
}
auto any_string(const std::string& file) {
  return [&file](const Json& value, const std::string& path) -> Result<std::string> {
    if (const auto* text = value.get_ptr<const Json::string_t*>()) return *text;
    return fail(wrong(file, path, "a string", value));
  };
}
// An array, every element converted by `convert`.
template <class T, class Convert>
auto list_of(const std::string& file, Convert convert) {
  return [&file, convert](const Json& value, const std::string& path) -> Result<std::vector<T>> {
    const auto* array = value.get_ptr<const Json::array_t*>();
    if (array == nullptr) return fail(wrong(file, path, "an array", value));
    std::vector<T> out;
    out.reserve(array->size());
    for (const Json& element : *array) {
      FLOPWATT_TRY(T converted, convert(element, fmt::format("{}[{}]", path, out.size())));
      out.push_back(std::move(converted));
    }
    return out;
  };
}

}  // namespace

template <class T, class Convert>
Result<std::optional<T>> JsonObject::optional(std::string_view key, const Convert& convert) const {
  const Json* value = find(key);
  if (value == nullptr) return std::optional<T>{};
  FLOPWATT_TRY(T converted, convert(*value, path_of(key)));
  return std::optional<T>{std::move(converted)};
}

template <class T, class Convert>
Result<T> JsonObject::require(std::string_view key, const Convert& convert) const {
  const Json* value = find(key);
  if (value == nullptr) {
    return fail(Errc::bad_data, path_of(key) + " is missing", file_, "add it, or give the file that is meant");
  }
  return convert(*value, path_of(key));
}

Result<JsonObject> JsonObject::root(const Json& document, std::string_view file) {
  if (!document.is_object()) {
    return fail(Errc::bad_data, "expected a JSON object, found " + shown(document), std::string{file},
                "give the file that is meant");
  }
  return JsonObject{document, std::string{file}, {}};
}

bool JsonObject::has(std::string_view key) const { return find(key) != nullptr; }

bool JsonObject::empty() const { return object_->empty(); }

std::vector<std::string> JsonObject::keys() const {
  std::vector<std::string> out;
  for (const auto& [key, value] : *object_->get_ptr<const Json::object_t*>()) out.push_back(key);
  return out;
}

const Json* JsonObject::find(std::string_view key) const {
  for (const auto& [name, value] : *object_->get_ptr<const Json::object_t*>()) {
    if (name == key) return value.is_null() ? nullptr : &value;
  }
  return nullptr;
}

std::string JsonObject::path_of(std::string_view key) const {
  if (path_.empty()) return std::string{key};
  if (key.empty()) return path_;
  return fmt::format("{}.{}", path_, key);
}

Error JsonObject::error(std::string_view key, std::string_view what, std::string remedy) const {
  const std::string path = path_of(key);
  return Error{Errc::bad_data, path.empty() ? std::string{what} : fmt::format("{}: {}", path, what), file_,
               std::move(remedy)};
}

Result<void> JsonObject::refuse_other_keys(std::initializer_list<std::string_view> known) const {
  for (const auto& [key, value] : *object_->get_ptr<const Json::object_t*>()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return fail(error(base::excerpt(key, 40), "unknown key",
                        fmt::format("known here: {}", fmt::join(known.begin(), known.end(), ", "))));
    }
  }
  return {};
}

Result<std::int64_t> JsonObject::require_int(std::string_view key, std::int64_t min, std::int64_t max) const {
  return require<std::int64_t>(key, int_within(file_, min, max));
}
Result<std::optional<std::int64_t>> JsonObject::optional_int(std::string_view key, std::int64_t min,
                                                             std::int64_t max) const {
  return optional<std::int64_t>(key, int_within(file_, min, max));
}
Result<double> JsonObject::require_number(std::string_view key, double min, double max) const {
  return require<double>(key, number_within(file_, min, max));
}
Result<std::optional<double>> JsonObject::optional_number(std::string_view key, double min, double max) const {
  return optional<double>(key, number_within(file_, min, max));
}
Result<bool> JsonObject::require_bool(std::string_view key) const { return require<bool>(key, any_bool(file_)); }
Result<std::optional<bool>> JsonObject::optional_bool(std::string_view key) const {
  return optional<bool>(key, any_bool(file_));
}
Result<std::string> JsonObject::require_string(std::string_view key) const {
  return require<std::string>(key, any_string(file_));
}
Result<std::optional<std::string>> JsonObject::optional_string(std::string_view key) const {
  return optional<std::string>(key, any_string(file_));
}

Result<std::vector<std::int64_t>> JsonObject::require_ints(std::string_view key, std::int64_t min,
                                                           std::int64_t max) const {
  return require<std::vector<std::int64_t>>(key, list_of<std::int64_t>(file_, int_within(file_, min, max)));
}
Result<std::optional<std::vector<std::int64_t>>> JsonObject::optional_ints(std::string_view key, std::int64_t min,
                                                                           std::int64_t max) const {
  return optional<std::vector<std::int64_t>>(key, list_of<std::int64_t>(file_, int_within(file_, min, max)));
}
Result<std::vector<double>> JsonObject::require_numbers(std::string_view key, double min, double max) const {
  return require<std::vector<double>>(key, list_of<double>(file_, number_within(file_, min, max)));
}
Result<std::optional<std::vector<double>>> JsonObject::optional_numbers(std::string_view key, double min,
                                                                        double max) const {
  return optional<std::vector<double>>(key, list_of<double>(file_, number_within(file_, min, max)));
}
Result<std::vector<std::string>> JsonObject::require_strings(std::string_view key) const {
  return require<std::vector<std::string>>(key, list_of<std::string>(file_, any_string(file_)));
}
Result<std::optional<std::vector<std::string>>> JsonObject::optional_strings(std::string_view key) const {
  return optional<std::vector<std::string>>(key, list_of<std::string>(file_, any_string(file_)));
}

Result<JsonObject> JsonObject::require_object(std::string_view key) const {
  return require<JsonObject>(key, [this](const Json& value, const std::string& path) -> Result<JsonObject> {
    if (!value.is_object()) return fail(wrong(file_, path, "an object", value));
    return JsonObject{value, file_, path};
  });
}
Result<std::optional<JsonObject>> JsonObject::optional_object(std::string_view key) const {
  if (!has(key)) return std::optional<JsonObject>{};
  FLOPWATT_TRY(JsonObject object, require_object(key));
  return std::optional<JsonObject>{std::move(object)};
}
Result<std::vector<JsonObject>> JsonObject::require_objects(std::string_view key) const {
  const auto object = [this](const Json& value, const std::string& path) -> Result<JsonObject> {
    if (!value.is_object()) return fail(wrong(file_, path, "an object", value));
    return JsonObject{value, file_, path};
  };
  return require<std::vector<JsonObject>>(key, list_of<JsonObject>(file_, object));
}
Result<std::optional<std::vector<JsonObject>>> JsonObject::optional_objects(std::string_view key) const {
  if (!has(key)) return std::optional<std::vector<JsonObject>>{};
  FLOPWATT_TRY(std::vector<JsonObject> objects, require_objects(key));
  return std::optional<std::vector<JsonObject>>{std::move(objects)};
}

}  // namespace flopwatt::io
