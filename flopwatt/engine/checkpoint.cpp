#include "flopwatt/engine/checkpoint.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "flopwatt/io/file.hpp"

namespace flopwatt::engine {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::string_view kIndex = "model.safetensors.index.json";
constexpr std::string_view kPickledIndex = "pytorch_model.bin.index.json";

Result<model::SafetensorsHeader> read_header(const std::string& path) {
  FLOPWATT_TRY(const io::FilePrefix start, io::read_file_prefix(path, kLengthBytes));
  FLOPWATT_TRY(const std::uint64_t length, model::safetensors_header_bytes(start.bytes, start.file_size, path));
  FLOPWATT_TRY(const io::FilePrefix head, io::read_file_prefix(path, static_cast<std::size_t>(length)));
  return model::parse_safetensors_header(head.bytes, head.file_size, path);
}

Result<model::CheckpointIndex> read_index(const std::string& path) {
  FLOPWATT_TRY(const std::string text,
               io::read_file(path, {.max_bytes = static_cast<std::size_t>(model::kMaxHeaderJsonBytes)}));
  return model::parse_checkpoint_index(text, path);
}

Result<model::CheckpointListing> read_shards(const std::string& folder, const std::string& index_path) {
  FLOPWATT_TRY(const model::CheckpointIndex index, read_index(index_path));
  std::vector<model::ShardHeader> shards;
  for (const std::string& file : index.files()) {
    const std::string path = folder + '/' + file;
    if (!io::exists(path)) continue;
    FLOPWATT_TRY(model::SafetensorsHeader header, read_header(path));
    shards.push_back({file, std::move(header)});
  }
  return model::list_checkpoint(folder, index, std::move(shards));
}

Result<model::CheckpointListing> read_folder(const std::string& folder) {
  const auto inside = [&](std::string_view name) { return fmt::format("{}/{}", folder, name); };
  if (io::exists(inside(kIndex))) return read_shards(folder, inside(kIndex));
  std::vector<std::string> files, indexes;
  FLOPWATT_TRY(const std::vector<io::FolderEntry> entries, io::list_folder(folder));
  for (const io::FolderEntry& entry : entries) {
    if (entry.is_folder) continue;
    if (entry.name.ends_with(".safetensors")) files.push_back(entry.name);
    if (entry.name.ends_with(".safetensors.index.json")) indexes.push_back(entry.name);
  }
  if (indexes.size() == 1) return read_shards(folder, inside(indexes.front()));
  if (io::exists(inside("model.safetensors"))) files = {"model.safetensors"};
  if (files.size() == 1) {
    FLOPWATT_TRY(model::SafetensorsHeader header, read_header(inside(files.front())));
    return model::list_checkpoint(inside(files.front()), std::move(header));
  }
  if (files.size() > 1) {
    return fail(Errc::bad_data, fmt::format("holds {} safetensors files and no {}", files.size(), kIndex), folder,
                "name one of the files, or add the index");
  }
  if (io::exists(inside(kPickledIndex))) {
    FLOPWATT_TRY(const model::CheckpointIndex index, read_index(inside(kPickledIndex)));
    return model::list_checkpoint(inside(kPickledIndex), index, {});
  }
  return fail(Errc::bad_data, "holds neither a safetensors file nor an index", folder,
              "name a safetensors file, its folder, or an index");
}

}  // namespace

Result<model::CheckpointListing> read_checkpoint(const std::string& path) {
  if (io::is_folder(path)) return read_folder(path);
  if (path.ends_with(".json")) {
    FLOPWATT_TRY(const model::CheckpointIndex index, read_index(path));
    return model::list_checkpoint(path, index, {});
  }
  FLOPWATT_TRY(model::SafetensorsHeader header, read_header(path));
  return model::list_checkpoint(path, std::move(header));
}

}  // namespace flopwatt::engine
