// A configuration as a sweep's store holds it: an error at its place, or one that is written as the same line again.

#include <string_view>

#include "flopwatt/base/check.hpp"
#include "flopwatt/sweep/configuration.hpp"

using namespace flopwatt;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (const auto configuration = sweep::read_configuration(text, "store")) {
    const auto again = sweep::read_configuration(configuration->canonical(), "again");
    FLOPWATT_CHECK(again && *again == *configuration && again->id() == configuration->id());
    FLOPWATT_CHECK(!configuration->text().empty());
  } else {
    FLOPWATT_CHECK(configuration.error().code == Errc::bad_data);
  }
  if (const auto shard = sweep::parse_shard(text)) {
    FLOPWATT_CHECK(shard->index >= 1 && shard->index <= shard->count);
  } else {
    FLOPWATT_CHECK(shard.error().code == Errc::usage);
  }
  return 0;
}
