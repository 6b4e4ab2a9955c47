#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/model/architecture.hpp"
#include "flopwatt/model/safetensors.hpp"

namespace flopwatt::libtorch {

/// Where the values of one parameter lie.
struct StoredValues {
  std::string name;  ///< of the census, whatever prefix the file leaves out
  std::string file;
  std::uint64_t offset = 0;  ///< of the first byte in the file
  std::uint64_t bytes = 0;
  model::StoredType type = model::StoredType::F32;  ///< F32, F16 or BF16
};

/// Finds the parameters of a model in a checkpoint: a safetensors file, an index, or a folder that holds one of them.
/// Errc::bad_data for a checkpoint that is not this model's (a tensor that is missing, unexpected or of another shape:
/// the first one is named), that is incomplete, packed or quantised, or stored in another type.  What is computed and
/// not trained (mask buffers, rotary tables) and second copies of tied tensors are passed over.
[[nodiscard]] Result<std::vector<StoredValues>> find_values(const model::Architecture& architecture,
                                                            const std::string& path);

/// Reads them into `into`, which has as many bytes.  Errc::bad_data for a file that ends early or cannot be read.
[[nodiscard]] Result<void> read_values(const StoredValues& values, std::span<std::byte> into);

}  // namespace flopwatt::libtorch
