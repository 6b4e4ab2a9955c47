// Any bytes: a tree or an error.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "flopwatt/base/check.hpp"
#include "flopwatt/io/toml.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flopwatt;
  const Result<io::Json> tree = io::parse_toml({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  FLOPWATT_CHECK(tree ? tree->is_object()
                      : tree.error().code == Errc::bad_data && tree.error().message().starts_with("fuzz.toml:"));
  return 0;
}
