// Every shipped calibration, and one with every optional part absent, against data/schema/calibration.schema.json.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "flopwatt/io/json.hpp"
#include "flopwatt/power/calibration.hpp"
#include "flopwatt/power/embedded.hpp"

namespace flopwatt::power {
namespace {

using io::Json;

bool is_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "integer") return value.is_number_integer();
  return type == "number" && value.is_number();
}

/// The part of JSON Schema that the schema uses; says where `value` departs from it, or nothing.
class Validator {
 public:
  explicit Validator(const Json& root) : root_{root} {}

  std::string check(const Json& value, const Json& schema, const std::string& path) const {
    if (schema.contains("$ref")) {
      const std::string name = schema["$ref"].get<std::string>().substr(std::string{"#/$defs/"}.size());
      return check(value, root_["$defs"][name], path);
    }
    if (schema.contains("anyOf")) {
      for (const Json& one : schema["anyOf"]) {
        if (check(value, one, path).empty()) return {};
      }
      return path + ": none of the alternatives";
    }
    if (schema.contains("const") && value != schema["const"]) return path + ": not the constant";
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end()) {
      return path + ": not in the list: " + value.dump();
    }
    if (schema.contains("type")) {
      const Json& type = schema["type"];
      const bool fits = type.is_string()
                            ? is_type(value, type)
                            : std::any_of(type.begin(), type.end(), [&](const Json& t) { return is_type(value, t); });
      if (!fits) return path + ": of another type";
    }
    if (value.is_number()) {
      if (schema.contains("minimum") && value.get<double>() < schema["minimum"].get<double>())
        return path + ": too small";
      if (schema.contains("exclusiveMinimum") && value.get<double>() <= schema["exclusiveMinimum"].get<double>()) {
        return path + ": too small";
      }
    }
    if (value.is_array()) return check_array(value, schema, path);
    if (value.is_object()) return check_object(value, schema, path);
    return {};
  }

 private:
  std::string check_array(const Json& value, const Json& schema, const std::string& path) const {
    if (schema.contains("minItems") && value.size() < schema["minItems"].get<std::size_t>())
      return path + ": too short";
    if (schema.contains("maxItems") && value.size() > schema["maxItems"].get<std::size_t>()) return path + ": too long";
    if (!schema.contains("items")) return {};
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (auto wrong = check(value[i], schema["items"], path + "[" + std::to_string(i) + "]"); !wrong.empty())
        return wrong;
    }
    return {};
  }

  std::string check_object(const Json& value, const Json& schema, const std::string& path) const {
    if (schema.contains("required")) {
      for (const Json& key : schema["required"]) {
        if (!value.contains(key.get<std::string>())) return path + ": lacks " + key.get<std::string>();
      }
    }
    for (const auto& [key, member] : value.items()) {
      const bool named = schema.contains("properties") && schema["properties"].contains(key);
      if (!named && schema.contains("additionalProperties") && schema["additionalProperties"] == false) {
        return path + ": unknown key " + key;
      }
      const Json& rule = named ? schema["properties"][key] : schema.value("additionalProperties", Json::object());
      if (rule.is_boolean()) continue;
      if (auto wrong = check(member, rule, path + "." + key); !wrong.empty()) return wrong;
    }
    return {};
  }

  const Json& root_;
};

Json read_schema() {
  std::ifstream in{std::string{FLOPWATT_SOURCE_DIR} + "/data/schema/calibration.schema.json"};
  std::stringstream text;
  text << in.rdbuf();
  auto schema = io::parse_json(text.str(), "calibration.schema.json");
  EXPECT_TRUE(schema.has_value());
  return *schema;
}

TEST(CalibrationSchema, ShippedFilesConform) {
  const Json schema = read_schema();
  std::size_t files = 0;
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == "prior.json") continue;
    ++files;
    const auto document = io::parse_json(file.content, file.name);
    ASSERT_TRUE(document.has_value());
    EXPECT_EQ(Validator{schema}.check(*document, schema, std::string{file.name}), "");
  }
  EXPECT_GE(files, 4U);
}

TEST(CalibrationSchema, AnEmptyCalibrationConformsAndAWrongOneDoesNot) {
  const Json schema = read_schema();
  Json document = *io::parse_json(write_calibration({}), "empty");
  EXPECT_EQ(Validator{schema}.check(document, schema, "empty"), "");
  document["idle_watts"] = -1;
  EXPECT_NE(Validator{schema}.check(document, schema, "empty"), "");
  document["idle_watts"] = 1;
  document["surprise"] = 1;
  EXPECT_NE(Validator{schema}.check(document, schema, "empty"), "");
}

}  // namespace
}  // namespace flopwatt::power
