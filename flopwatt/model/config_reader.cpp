#include "flopwatt/model/config_reader.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace flopwatt::model {
namespace {

std::string shown(const io::Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {  // which dump() would call null
    const auto number = value.get<double>();
    return std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
  }
  // `replace`: text that is not UTF-8 must not throw.
  return base::excerpt(value.dump(-1, ' ', false, io::Json::error_handler_t::replace));
}

/// The value as a whole number, if it is one that 64 bits hold; JSON does not tell 32 from 32.0.
std::optional<std::int64_t> whole_number(const io::Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) {
    const auto number = value.get<double>();
    if (std::fabs(number) < 9e15 && std::trunc(number) == number) return static_cast<std::int64_t>(number);
  }
  return std::nullopt;
}

}  // namespace

const io::Json* ConfigReader::entry(std::string_view key) const {
  if (!object_ || !object_->is_object()) return nullptr;
  const auto found = object_->find(key);
  return found == object_->end() ? nullptr : &*found;
}

ConfigReader::Field ConfigReader::find(const Keys& keys) const {
  Field found{.key = *keys.begin()};
  for (const std::string_view key : keys) {
    const io::Json* value = entry(key);
    if (!value || value->is_null()) continue;
    if (!found.value) {
      found = {key, value};
    } else if (*found.value != *value) {
      fail(key, fmt::format("is {}, but {} is {}", shown(*value), found.key, shown(*found.value)),
           "remove the one that is wrong");
    }
  }
  return found;
}

std::int64_t ConfigReader::whole(const Field& field, std::int64_t least, std::int64_t most) const {
  const std::optional<std::int64_t> number = whole_number(*field.value);
  if (number && *number >= least && *number <= most) return *number;
  fail(field.key, fmt::format("is {}, not a whole number from {} to {}", shown(*field.value), least, most));
  return 1;
}

std::int64_t ConfigReader::required(const Keys& keys, std::int64_t least, std::int64_t most) const {
  const Field field = find(keys);
  if (field.value) return whole(field, least, most);
  fail(field.key, "is missing");
  return 1;
}

std::int64_t ConfigReader::defaulted(const Keys& keys, std::int64_t class_default, std::int64_t most) const {
  const Field field = find(keys);
  if (field.value) return whole(field, 1, most);
  if (!nested()) {
    fail(field.key, "is missing");
    return 1;
  }
  note(fmt::format("{}{} is missing: the default of its class, {}", path_, field.key, class_default));
  return class_default;
}

std::int64_t ConfigReader::size(const Keys& keys) const { return required(keys, 1, kMaxSize); }

std::int64_t ConfigReader::size(const Keys& keys, std::int64_t fallback) const {
  return optional_size(keys).value_or(fallback);
}

std::optional<std::int64_t> ConfigReader::optional_size(const Keys& keys) const {
  const Field field = find(keys);
  if (!field.value) return std::nullopt;
  return whole(field, 1, kMaxSize);
}

std::int64_t ConfigReader::shape(const Keys& keys, std::int64_t class_default) const {
  return defaulted(keys, class_default, kMaxSize);
}

std::int64_t ConfigReader::layers(const Keys& keys, std::optional<std::int64_t> class_default) const {
  return class_default ? defaulted(keys, *class_default, kMaxLayers) : required(keys, 1, kMaxLayers);
}

std::int64_t ConfigReader::experts(const Keys& keys, std::optional<std::int64_t> class_default) const {
  return class_default ? defaulted(keys, *class_default, kMaxExperts) : required(keys, 1, kMaxExperts);
}

std::int64_t ConfigReader::count(const Keys& keys, std::int64_t fallback) const {
  const Field field = find(keys);
  return field.value ? whole(field, 0, kMaxSize) : fallback;
}

bool ConfigReader::flag(const Keys& keys, bool fallback) const {
  const Field field = find(keys);
  if (!field.value) return fallback;
  if (field.value->is_boolean()) return field.value->get<bool>();
  if (const auto number = whole_number(*field.value); number && (*number == 0 || *number == 1)) return *number == 1;
  fail(field.key, fmt::format("is {}, neither true nor false", shown(*field.value)));
  return fallback;
}

double ConfigReader::number(const Keys& keys, double fallback) const {
  const Field field = find(keys);
  if (!field.value) return fallback;
  if (field.value->is_number() && std::isfinite(field.value->get<double>())) return field.value->get<double>();
  fail(field.key, fmt::format("is {}, not a finite number", shown(*field.value)));
  return fallback;
}

std::string ConfigReader::text(const Keys& keys, std::string_view fallback) const {
  const Field field = find(keys);
  if (!field.value) return std::string{fallback};
  if (field.value->is_string()) return field.value->get<std::string>();
  fail(field.key, fmt::format("is {}, not a text", shown(*field.value)));
  return std::string{fallback};
}

std::vector<std::int64_t> ConfigReader::counts(std::string_view key) const {
  std::vector<std::int64_t> numbers;
  const Field field = find(key);
  if (!field.value) return numbers;
  if (!field.value->is_array()) {
    fail(key, fmt::format("is {}, not a list of whole numbers", shown(*field.value)));
    return numbers;
  }
  for (const io::Json& item : *field.value) numbers.push_back(whole({key, &item}, 0, kMaxSize));
  return numbers;
}

std::vector<std::string> ConfigReader::texts(std::string_view key) const {
  std::vector<std::string> items;
  const Field field = find(key);
  if (!field.value) return items;
  if (!field.value->is_array()) {
    fail(key, fmt::format("is {}, not a list of texts", shown(*field.value)));
    return items;
  }
  for (const io::Json& item : *field.value) {
    if (item.is_string()) {
      items.push_back(item.get<std::string>());
    } else {
      fail(key, fmt::format("holds {}, not a text", shown(item)));
    }
  }
  return items;
}

std::vector<ConfigReader> ConfigReader::objects(std::string_view key) const {
  std::vector<ConfigReader> readers;
  const Field field = find(key);
  if (!field.value || !field.value->is_array()) {
    fail(key, field.value ? "is not a list of objects" : "is missing");
    return readers;
  }
  for (const io::Json& item : *field.value) {
    if (!item.is_object()) fail(key, fmt::format("holds {}, not an object", shown(item)));
    readers.emplace_back(item, fmt::format("{}{}.{}.", path_, key, readers.size()), *state_);
  }
  return readers;
}

ConfigReader ConfigReader::object(std::string_view key) const {
  if (auto reader = optional_object(key)) return *reader;
  fail(key, "is missing");
  return {fmt::format("{}{}.", path_, key), *state_};
}

std::optional<ConfigReader> ConfigReader::optional_object(std::string_view key) const {
  const Field field = find(key);
  if (!field.value) return std::nullopt;
  if (!field.value->is_object()) fail(key, fmt::format("is {}, not an object", shown(*field.value)));
  return ConfigReader{*field.value, fmt::format("{}{}.", path_, key), *state_};
}

std::vector<std::string> ConfigReader::keys() const {
  std::vector<std::string> names;
  if (object_ && object_->is_object()) {
    for (const auto& item : object_->items()) names.push_back(item.key());
  }
  return names;
}

bool ConfigReader::has(std::string_view key) const { return entry(key) && !entry(key)->is_null(); }
bool ConfigReader::is_null(std::string_view key) const { return entry(key) && entry(key)->is_null(); }
bool ConfigReader::is_object(std::string_view key) const { return entry(key) && entry(key)->is_object(); }
std::size_t ConfigReader::list_size(std::string_view key) const { return is_list(key) ? entry(key)->size() : 0; }
bool ConfigReader::is_list(std::string_view key) const { return entry(key) && entry(key)->is_array(); }
bool ConfigReader::is_text(std::string_view key) const { return entry(key) && entry(key)->is_string(); }

void ConfigReader::fail(std::string_view key, std::string_view what, std::string_view remedy) const {
  if (state_->error) return;
  state_->error = Error{.code = Errc::bad_data,
                        .what = fmt::format("{}{} {}", path_, key, what),
                        .where = state_->where,
                        .remedy = std::string{remedy}};
}

void ConfigReader::require(bool condition, std::string_view key, std::string_view what) const {
  if (!condition) fail(key, what);
}

void ConfigReader::note(std::string text) const { state_->notes.push_back(std::move(text)); }

}  // namespace flopwatt::model
