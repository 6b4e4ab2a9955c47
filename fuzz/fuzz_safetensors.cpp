#include <cstddef>
#include <cstdint>
#include <string_view>

#include "flopwatt/base/check.hpp"
#include "flopwatt/model/catalogue.hpp"
#include "flopwatt/model/verify.hpp"

/// Any bytes are a safetensors header or an index that is read or refused with a message; what is read holds together,
/// and every byte of it is accounted for against any model.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flopwatt;
  static const model::Catalogue catalogue = model::Catalogue::builtin();
  static const model::Architecture gpt2 = catalogue.find("gpt2").value();
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};

  const Result<std::uint64_t> length = model::safetensors_header_bytes(bytes, size, "a.safetensors");
  // The payload is whatever the last offsets claim: tried as it is, and as large as a file can be.
  for (const std::uint64_t file_size : {std::uint64_t{size}, std::uint64_t{size} + 4096, ~std::uint64_t{0}}) {
    Result<model::SafetensorsHeader> header = model::parse_safetensors_header(bytes, file_size, "a.safetensors");
    if (!header) {
      FLOPWATT_CHECK(!header.error().message().empty());
      continue;
    }
    FLOPWATT_CHECK(length && header->header_bytes == *length);
    std::uint64_t sum = 0;
    for (const model::StoredTensor& tensor : header->tensors) sum += tensor.bytes;
    FLOPWATT_CHECK(sum == header->payload_bytes && sum + header->header_bytes == file_size);
    const auto verified = model::verify(gpt2, model::list_checkpoint("a.safetensors", std::move(*header)));
    FLOPWATT_CHECK(verified && verified->unexplained_bytes() == units::Count{0});
    FLOPWATT_CHECK(!model::conclusion(*verified).empty());
  }
  if (const auto index = model::parse_checkpoint_index(bytes, "index.json")) {
    FLOPWATT_CHECK(!index->entries.empty());
    const auto verified = model::verify(gpt2, model::list_checkpoint("index.json", *index, {}));
    FLOPWATT_CHECK(verified && !model::conclusion(*verified).empty());
  }
  return 0;
}
