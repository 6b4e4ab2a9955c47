#include "flopwatt/model/checkpoint_listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace flopwatt::model {
namespace {

constexpr std::size_t kExamples = 8;

void disagree(CheckpointListing& listing, std::string sentence) {
  ++listing.disagreements;
  if (listing.disagreement_examples.size() < kExamples) listing.disagreement_examples.push_back(std::move(sentence));
}

void add_sizes(CheckpointListing& listing, const SafetensorsHeader& header) {
  ++listing.files_read;
  listing.header_bytes += header.header_bytes;
  listing.payload_bytes += header.payload_bytes;
}

}  // namespace

CheckpointListing list_checkpoint(std::string source, SafetensorsHeader header) {
  CheckpointListing listing{.source = std::move(source)};
  add_sizes(listing, header);
  listing.tensors.reserve(header.tensors.size());
  for (StoredTensor& tensor : header.tensors) {
    std::string name = tensor.name;
    listing.tensors.push_back({std::move(name), std::move(tensor)});
  }
  return listing;
}

CheckpointListing list_checkpoint(std::string source, const CheckpointIndex& index, std::vector<ShardHeader> shards) {
  CheckpointListing listing{.source = std::move(source),
                            .index_total_bytes = index.total_size,
                            .index_total_parameters = index.total_parameters};
  std::unordered_map<std::string_view, std::string_view> promised;  // tensor → file
  for (const CheckpointIndex::Entry& entry : index.entries) promised.emplace(entry.tensor, entry.file);

  std::unordered_map<std::string, std::string_view> held;  // tensor → file
  for (ShardHeader& shard : shards) {
    add_sizes(listing, shard.header);
    for (StoredTensor& tensor : shard.header.tensors) {
      const auto [first, fresh] = held.emplace(tensor.name, shard.file);
      if (!fresh) {
        disagree(listing, fmt::format("{} and {} both hold '{}'", first->second, shard.file, tensor.name));
      }
      const auto entry = promised.find(tensor.name);
      if (entry == promised.end()) {
        disagree(listing, fmt::format("{} holds '{}', which the index does not list", shard.file, tensor.name));
      } else if (fresh && entry->second != shard.file) {
        disagree(listing,
                 fmt::format("{} holds '{}', which the index promises in {}", shard.file, tensor.name, entry->second));
      }
      std::string name = tensor.name;
      listing.tensors.push_back({std::move(name), std::move(tensor)});
    }
  }
  const auto was_read = [&](std::string_view file) {
    return std::any_of(shards.begin(), shards.end(), [&](const ShardHeader& shard) { return shard.file == file; });
  };
  for (std::string& file : index.files()) {
    if (!was_read(file)) listing.missing_files.push_back(std::move(file));
  }
  for (const CheckpointIndex::Entry& entry : index.entries) {
    if (held.contains(entry.tensor)) continue;
    if (!std::binary_search(listing.missing_files.begin(), listing.missing_files.end(), entry.file)) {
      disagree(listing, fmt::format("the index promises '{}' in {}, which lacks it", entry.tensor, entry.file));
      continue;  // nobody holds it: it is not in the checkpoint
    }
    listing.tensors.push_back({entry.tensor, std::nullopt});
  }
  return listing;
}

}  // namespace flopwatt::model
