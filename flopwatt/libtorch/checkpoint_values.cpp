#include "flopwatt/libtorch/checkpoint_values.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include "flopwatt/io/file.hpp"
#include "flopwatt/model/checkpoint_listing.hpp"
#include "flopwatt/model/checkpoint_names.hpp"
#include "flopwatt/model/verify.hpp"

namespace flopwatt::libtorch {
namespace {

struct Checkpoint {
  std::string folder;
  std::optional<model::CheckpointIndex> index;
  std::vector<std::string> files;  ///< without folder
};

Result<model::SafetensorsHeader> read_header(const std::string& path) {
  constexpr std::size_t kLengthBytes = 8;
  FLOPWATT_TRY(const io::FilePrefix start, io::read_file_prefix(path, kLengthBytes));
  FLOPWATT_TRY(const std::uint64_t length, model::safetensors_header_bytes(start.bytes, start.file_size, path));
  FLOPWATT_TRY(const io::FilePrefix head, io::read_file_prefix(path, static_cast<std::size_t>(length)));
  return model::parse_safetensors_header(head.bytes, head.file_size, path);
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

Result<Checkpoint> open_index(const std::string& path) {
  FLOPWATT_TRY(const std::string text,
               io::read_file(path, {.max_bytes = static_cast<std::size_t>(model::kMaxHeaderJsonBytes)}));
  FLOPWATT_TRY(model::CheckpointIndex index, model::parse_checkpoint_index(text, path));
  std::vector<std::string> files = index.files();
  return Checkpoint{folder_of(path), std::move(index), std::move(files)};
}

Result<Checkpoint> open_checkpoint(const std::string& path) {
  if (path.ends_with(".json")) return open_index(path);
  if (!io::is_folder(path)) {
    const auto slash = path.rfind('/');
    return Checkpoint{folder_of(path), std::nullopt, {slash == std::string::npos ? path : path.substr(slash + 1)}};
  }
  const std::string index = path + "/model.safetensors.index.json";
  if (io::exists(index)) return open_index(index);
  if (io::exists(path + "/model.safetensors")) return Checkpoint{path, std::nullopt, {"model.safetensors"}};
  return fail(Errc::bad_data, "holds neither model.safetensors nor its index", path, "name a safetensors file");
}

bool harmless(model::DifferenceKind kind) {
  using Kind = model::DifferenceKind;
  return kind == Kind::prefix || kind == Kind::tied_copy || kind == Kind::excluded || kind == Kind::buffer ||
         kind == Kind::stored_type || kind == Kind::total;
}

bool readable(model::StoredType type) {
  return type == model::StoredType::F32 || type == model::StoredType::F16 || type == model::StoredType::BF16;
}

}  // namespace

Result<std::vector<StoredValues>> find_values(const model::Architecture& architecture, const std::string& path) {
  FLOPWATT_TRY(const Checkpoint checkpoint, open_checkpoint(path));
  std::vector<model::ShardHeader> shards;
  for (const std::string& file : checkpoint.files) {
    FLOPWATT_TRY(model::SafetensorsHeader header, read_header(checkpoint.folder + '/' + file));
    shards.push_back({file, std::move(header)});
  }
  const model::CheckpointListing listing = checkpoint.index ? model::list_checkpoint(path, *checkpoint.index, shards)
                                                            : model::list_checkpoint(path, shards.front().header);
  FLOPWATT_TRY(const model::Verification verification, model::verify(architecture, listing));
  for (const model::Difference& difference : verification.differences) {
    if (difference.contradicts || !harmless(difference.kind)) {
      return fail(Errc::bad_data, "is no checkpoint of this model: " + difference.tensor + ": " + difference.cause,
                  path, "check it with `flopwatt count MODEL --verify`");
    }
  }

  FLOPWATT_TRY(const std::vector<model::NamedTensor> census, model::checkpoint_tensors(architecture));
  std::vector<std::string_view> listed;
  for (const model::ShardHeader& shard : shards) {
    for (const model::StoredTensor& tensor : shard.header.tensors) listed.emplace_back(tensor.name);
  }
  const model::NameFinder finder{census, listed};
  std::vector<StoredValues> found;
  for (const model::ShardHeader& shard : shards) {
    std::uint64_t offset = shard.header.header_bytes;
    for (const model::StoredTensor& tensor : shard.header.tensors) {
      const auto index = finder.find(tensor.name);
      if (index && !census[*index].tensor->tied) {
        const std::string file = checkpoint.folder + '/' + shard.file;
        if (!readable(tensor.type)) {
          return fail(Errc::bad_data, tensor.name + " is stored as " + std::string{model::name(tensor.type)}, file,
                      "only F32, F16 and BF16 are read");
        }
        found.push_back({census[*index].name, file, offset, tensor.bytes, tensor.type});
      }
      offset += tensor.bytes;
    }
  }
  return found;
}

Result<void> read_values(const StoredValues& values, std::span<std::byte> into) {
  std::ifstream file{values.file, std::ios::binary};
  file.seekg(static_cast<std::streamoff>(values.offset));
  file.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size()));  // NOLINT: bytes
  if (into.size() != values.bytes || !file) {
    return fail(Errc::bad_data, "the values of " + values.name + " cannot be read", values.file);
  }
  return {};
}

}  // namespace flopwatt::libtorch
