#pragma once

#include <string>

#include "flopwatt/base/result.hpp"
#include "flopwatt/model/checkpoint_listing.hpp"

namespace flopwatt::engine {

/// What a checkpoint on disk says of its tensors.  Only headers are read, never a tensor.
///
/// `path`: a safetensors file; an index (a name that ends in ".json") alone, of which the names are compared; or a
/// folder, which holds model.safetensors.index.json and its shards, or one *.safetensors file, or
/// pytorch_model.bin.index.json (pickled shards are not opened: the names alone).  An index in a folder without any of
/// its shards counts as an index alone; of an incomplete set the missing files are listed.
///
/// Errc::bad_data for a path that is missing or holds no checkpoint, several files without an index, and what
/// model::parse_safetensors_header and model::parse_checkpoint_index refuse.
[[nodiscard]] Result<model::CheckpointListing> read_checkpoint(const std::string& path);

}  // namespace flopwatt::engine
