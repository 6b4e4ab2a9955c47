#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flopwatt/model/safetensors.hpp"

/// Everything that is known of a checkpoint without its tensors.

namespace flopwatt::model {

struct ListedTensor {
  std::string name;
  std::optional<StoredTensor> stored;  ///< absent where only an index names the tensor
};

/// The header of one file of the checkpoint, by the file's name without its folder.
struct ShardHeader {
  std::string file;
  SafetensorsHeader header;
};

struct CheckpointListing {
  std::string source;  ///< what the caller named: a file or a folder
  std::vector<ListedTensor> tensors;
  std::uint64_t files_read = 0;                         ///< whose headers are in `tensors`
  std::uint64_t header_bytes = 0;                       ///< of all files read
  std::uint64_t payload_bytes = 0;                      ///< of all files read
  std::optional<std::uint64_t> index_total_bytes;       ///< metadata.total_size
  std::optional<std::uint64_t> index_total_parameters;  ///< metadata.total_parameters
  std::vector<std::string> missing_files;               ///< shards that the index names and nobody has read
  /// Tensors on which index and headers disagree: promised to a shard that lacks it, or held by one and not listed,
  /// or held twice.  One sentence each; at most a few are kept, `disagreements` counts all.
  std::vector<std::string> disagreement_examples;
  std::uint64_t disagreements = 0;
};

/// One file on its own.
[[nodiscard]] CheckpointListing list_checkpoint(std::string source, SafetensorsHeader header);
/// An index and those of its shards that were read; none means that the names are all there is.
[[nodiscard]] CheckpointListing list_checkpoint(std::string source, const CheckpointIndex& index,
                                                std::vector<ShardHeader> shards);

}  // namespace flopwatt::model
