#include "flopwatt/model/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "flopwatt/io/json.hpp"
#include "flopwatt/io/json_reader.hpp"

namespace flopwatt::model {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
/// A header needs three levels: the object, a tensor, its lists.
constexpr int kMaxDepth = 8;
constexpr std::string_view kWrongFile = "this is not a safetensors file, or it is damaged: get it again";

struct TypeFacts {
  std::string_view name;
  int bits;
  bool integer;
};
/// In the order of StoredType; bits as in Dtype::bitsize of the reference implementation.
constexpr std::array<TypeFacts, 20> kTypes{
    {{"BOOL", 8, true},  {"F4", 4, false},      {"F6_E2M3", 6, false}, {"F6_E3M2", 6, false}, {"U8", 8, true},
     {"I8", 8, true},    {"F8_E5M2", 8, false}, {"F8_E4M3", 8, false}, {"F8_E8M0", 8, false}, {"I16", 16, true},
     {"U16", 16, true},  {"F16", 16, false},    {"BF16", 16, false},   {"I32", 32, true},     {"U32", 32, true},
     {"F32", 32, false}, {"C64", 64, false},    {"F64", 64, false},    {"I64", 64, true},     {"U64", 64, true}}};
static_assert(kTypes.size() == static_cast<std::size_t>(StoredType::U64) + 1);

std::optional<StoredType> parse_stored_type(std::string_view text) {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].name == text) return static_cast<StoredType>(i);
  }
  return std::nullopt;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return value;
}

struct PlacedTensor {
  StoredTensor tensor;
  std::uint64_t begin = 0, end = 0;
};

/// Bytes of a tensor by shape and type; an error says what is wrong with them.
Result<std::uint64_t> bytes_of(const StoredTensor& tensor, const io::JsonObject& entry) {
  std::uint64_t count = static_cast<std::uint64_t>(bits(tensor.type));
  // An empty tensor takes no bytes, however long its other sides are.
  const bool empty = std::find(tensor.dims.begin(), tensor.dims.end(), 0) != tensor.dims.end();
  if (empty) return std::uint64_t{0};
  for (const std::int64_t dim : tensor.dims) {
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(dim), &count)) {
      return fail(entry.error("shape", "has more bytes than 64 bits can count", std::string{kWrongFile}));
    }
  }
  if (count % 8 != 0) return fail(entry.error("shape", "does not fill whole bytes", std::string{kWrongFile}));
  return count / 8;
}

Result<PlacedTensor> read_tensor(const std::string& name, const io::Json& value, std::string_view where) {
  // A view of its own: to look a name up among a hundred thousand would cost a walk through them.
  FLOPWATT_TRY(const io::JsonObject entry,
               io::JsonObject::root(value, fmt::format("{}: {}", where, base::excerpt(name, 120))));
  PlacedTensor placed{.tensor = {.name = name}};
  StoredTensor& tensor = placed.tensor;
  FLOPWATT_TRY(const std::string type, entry.require_string("dtype"));
  const std::optional<StoredType> known = parse_stored_type(type);
  if (!known) {
    return fail(entry.error("dtype", fmt::format("'{}' is not a type of this file format", base::excerpt(type))));
  }
  tensor.type = *known;
  FLOPWATT_TRY(tensor.dims, entry.require_ints("shape", 0));
  FLOPWATT_TRY(const std::vector<std::int64_t> offsets, entry.require_ints("data_offsets", 0));
  if (offsets.size() != 2) return fail(entry.error("data_offsets", "is not a pair [begin, end]"));
  if (offsets[0] > offsets[1]) {
    return fail(entry.error("data_offsets", fmt::format("runs backwards, from {} to {}", offsets[0], offsets[1]),
                            std::string{kWrongFile}));
  }
  placed.begin = static_cast<std::uint64_t>(offsets[0]);
  placed.end = static_cast<std::uint64_t>(offsets[1]);
  FLOPWATT_TRY(tensor.bytes, bytes_of(tensor, entry));
  if (tensor.bytes != placed.end - placed.begin) {
    return fail(entry.error("data_offsets",
                            fmt::format("spans {} bytes, but shape [{}] of {} takes {}", placed.end - placed.begin,
                                        fmt::join(tensor.dims, ", "), type, tensor.bytes),
                            std::string{kWrongFile}));
  }
  return placed;
}

/// Free text that a writer may leave in the header.
Result<void> check_metadata(const io::JsonObject& header) {
  FLOPWATT_TRY(const std::optional<io::JsonObject> metadata, header.optional_object("__metadata__"));
  if (!metadata) return {};
  for (const std::string& key : metadata->keys()) FLOPWATT_TRY_VOID(metadata->require_string(key));
  return {};
}

/// Tensors lie behind one another without a hole, and fill the file.
Result<void> check_layout(const std::vector<PlacedTensor>& tensors, std::uint64_t payload, std::string_view where) {
  std::uint64_t end = 0;
  const std::string* previous = nullptr;
  for (const PlacedTensor& placed : tensors) {
    const std::string& name = placed.tensor.name;
    if (placed.begin < end) {
      return fail(Errc::bad_data,
                  fmt::format("tensor '{}' begins at byte {} of the data, inside '{}'", base::excerpt(name),
                              placed.begin, base::excerpt(*previous)),
                  std::string{where}, std::string{kWrongFile});
    }
    if (placed.begin > end) {
      return fail(
          Errc::bad_data,
          fmt::format("nothing fills the {} data bytes before tensor '{}'", placed.begin - end, base::excerpt(name)),
          std::string{where}, std::string{kWrongFile});
    }
    end = placed.end;
    previous = &name;
  }
  if (end > payload) {
    return fail(Errc::bad_data, fmt::format("the tensors take {} bytes, but {} follow the header", end, payload),
                std::string{where}, "the file is cut short: get it again");
  }
  if (end < payload) {
    return fail(Errc::bad_data, fmt::format("{} bytes follow the last tensor", payload - end), std::string{where},
                std::string{kWrongFile});
  }
  return {};
}

Result<std::optional<std::uint64_t>> total(const io::JsonObject& metadata, std::string_view key) {
  // The largest whole number of bytes below 2^63 that a double can name.
  constexpr double kMost = 9'223'372'036'854'774'784.0;
  if (const io::Json* value = metadata.find(key); value && value->is_number_integer()) {
    FLOPWATT_TRY(const std::int64_t whole, metadata.require_int(key, 0));
    return static_cast<std::uint64_t>(whole);
  }
  FLOPWATT_TRY(const std::optional<double> number, metadata.optional_number(key, 0, kMost));
  if (!number) return std::optional<std::uint64_t>{};
  return static_cast<std::uint64_t>(std::ceil(*number));
}

}  // namespace

std::string_view name(StoredType type) noexcept { return kTypes[static_cast<std::size_t>(type)].name; }
int bits(StoredType type) noexcept { return kTypes[static_cast<std::size_t>(type)].bits; }
bool is_integer(StoredType type) noexcept { return kTypes[static_cast<std::size_t>(type)].integer; }

Result<std::uint64_t> safetensors_header_bytes(std::string_view first_bytes, std::uint64_t file_size,
                                               std::string_view where) {
  if (file_size < kLengthBytes || first_bytes.size() < kLengthBytes) {
    return fail(Errc::bad_data, fmt::format("{} bytes are too few for a safetensors file", file_size),
                std::string{where}, "the file is cut short: get it again");
  }
  if (first_bytes.starts_with("version ")) {
    return fail(Errc::bad_data, "is the pointer that Git LFS leaves in place of a file", std::string{where},
                "fetch the file itself: git lfs pull");
  }
  const std::uint64_t length = little_endian(first_bytes);
  if (length > kMaxHeaderJsonBytes) {
    return fail(Errc::bad_data,
                fmt::format("says that its header takes {} bytes; {} are the limit", length, kMaxHeaderJsonBytes),
                std::string{where}, std::string{kWrongFile});
  }
  if (length > file_size - kLengthBytes) {
    return fail(Errc::bad_data,
                fmt::format("says that its header takes {} bytes, but the file ends after {}", length, file_size),
                std::string{where}, "the file is cut short, or is not a safetensors file: get it again");
  }
  if (length < 2) {
    return fail(Errc::bad_data, "says that its header is empty", std::string{where}, std::string{kWrongFile});
  }
  return kLengthBytes + length;
}

Result<SafetensorsHeader> parse_safetensors_header(std::string_view first_bytes, std::uint64_t file_size,
                                                   std::string_view where) {
  FLOPWATT_TRY(const std::uint64_t header_bytes, safetensors_header_bytes(first_bytes, file_size, where));
  if (first_bytes.size() < header_bytes) {
    return fail(Errc::bad_data,
                fmt::format("the header takes {} bytes, of which {} could be read", header_bytes, first_bytes.size()),
                std::string{where}, "the file is cut short: get it again");
  }
  const std::string_view text = first_bytes.substr(kLengthBytes, header_bytes - kLengthBytes);
  if (text.front() != '{') {
    return fail(Errc::bad_data, "has a header that is no JSON object", std::string{where}, std::string{kWrongFile});
  }
  FLOPWATT_TRY(const io::Json document,
               io::parse_json(text, where, {.max_bytes = kMaxHeaderJsonBytes, .max_depth = kMaxDepth}));
  FLOPWATT_TRY(const io::JsonObject object, io::JsonObject::root(document, where));
  FLOPWATT_TRY_VOID(check_metadata(object));

  SafetensorsHeader header{.header_bytes = header_bytes, .payload_bytes = file_size - header_bytes};
  std::vector<PlacedTensor> placed;
  for (const auto& [name, value] : *document.get_ptr<const io::Json::object_t*>()) {
    if (name == "__metadata__") continue;
    FLOPWATT_TRY(PlacedTensor tensor, read_tensor(name, value, where));
    placed.push_back(std::move(tensor));
  }
  std::sort(placed.begin(), placed.end(), [](const PlacedTensor& a, const PlacedTensor& b) {
    return std::pair{a.begin, a.end} < std::pair{b.begin, b.end};
  });
  FLOPWATT_TRY_VOID(check_layout(placed, header.payload_bytes, where));
  header.tensors.reserve(placed.size());
  for (PlacedTensor& tensor : placed) header.tensors.push_back(std::move(tensor.tensor));
  return header;
}

std::vector<std::string> CheckpointIndex::files() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    if (names.empty() || names.back() != entry.file) names.push_back(entry.file);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<CheckpointIndex> parse_checkpoint_index(std::string_view json, std::string_view where) {
  FLOPWATT_TRY(const io::Json document,
               io::parse_json(json, where, {.max_bytes = kMaxHeaderJsonBytes, .max_depth = kMaxDepth}));
  FLOPWATT_TRY(const io::JsonObject object, io::JsonObject::root(document, where));
  FLOPWATT_TRY(const io::JsonObject map, object.require_object("weight_map"));
  if (map.empty()) return fail(object.error("weight_map", "names no tensor"));
  CheckpointIndex index;
  for (const auto& [tensor, file] : *map.json().get_ptr<const io::Json::object_t*>()) {
    const std::string* shard = file.get_ptr<const std::string*>();
    if (!shard || shard->empty()) return fail(map.error(tensor, "is not the name of a file"));
    if (shard->find_first_of(std::string_view{"/\\\0", 3}) != std::string::npos || *shard == "." || *shard == "..") {
      return fail(map.error(tensor, fmt::format("'{}' leaves the folder of the index", base::excerpt(*shard)),
                            "a shard lies beside its index"));
    }
    index.entries.push_back({tensor, *shard});
  }
  std::sort(index.entries.begin(), index.entries.end(),
            [](const CheckpointIndex::Entry& a, const CheckpointIndex::Entry& b) { return a.tensor < b.tensor; });
  FLOPWATT_TRY(const std::optional<io::JsonObject> metadata, object.optional_object("metadata"));
  if (!metadata) return index;
  FLOPWATT_TRY(index.total_size, total(*metadata, "total_size"));
  FLOPWATT_TRY(index.total_parameters, total(*metadata, "total_parameters"));
  return index;
}

}  // namespace flopwatt::model
