// Any bytes: a value or an error, and a value survives being written and read again.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "flopwatt/base/check.hpp"
#include "flopwatt/io/json.hpp"
#include "flopwatt/io/json_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flopwatt;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  for (const bool lenient : {false, true}) {
    const Result<io::Json> json = io::parse_json(text, "fuzz.json", {.nonfinite_numbers = lenient});
    if (!json) {
      FLOPWATT_CHECK(json.error().code == Errc::bad_data && json.error().message().starts_with("fuzz.json:"));
      continue;
    }
    const std::string written = json->dump();  // NaN and infinities as null
    const Result<io::Json> again = io::parse_json(written, "again.json");
    FLOPWATT_CHECK(again && again->dump() == written);
    const Result<io::JsonObject> object = io::JsonObject::root(*json, "fuzz.json");
    if (!object) continue;
    for (const std::string& key : object->keys()) {
      static_cast<void>(object->require_int(key, 1));
      static_cast<void>(object->optional_number(key));
      static_cast<void>(object->optional_objects(key));
      static_cast<void>(object->optional_ints(key));
      static_cast<void>(object->optional_strings(key));
    }
  }
  return 0;
}
