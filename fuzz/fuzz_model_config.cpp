#include <cstddef>
#include <cstdint>
#include <string_view>

#include "flopwatt/base/check.hpp"
#include "flopwatt/model/catalogue.hpp"
#include "flopwatt/model/read_config.hpp"

/// Any text is a config.json that is read or refused with a message; what is read holds together.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flopwatt;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const Result<model::Architecture> read = model::read_config(text, "config.json");
  if (!read) {
    FLOPWATT_CHECK(!read.error().message().empty());
  } else {
    FLOPWATT_CHECK(!model::census(*read).total.overflowed());
    FLOPWATT_CHECK(model::census(*read).active <= model::census(*read).total);
    for (const model::Stack& stack : read->stacks) {
      FLOPWATT_CHECK(stack.blocks.size() == stack.block_counts.size());
      std::int64_t layers = 0;
      for (const std::int64_t count : stack.block_counts) layers += count;
      FLOPWATT_CHECK(layers == static_cast<std::int64_t>(stack.layers.size()));
      for (const std::uint16_t block : stack.layers) FLOPWATT_CHECK(block < stack.blocks.size());
    }
  }
  model::Catalogue catalogue;
  static_cast<void>(catalogue.add(text, "models.json"));
  return 0;
}
