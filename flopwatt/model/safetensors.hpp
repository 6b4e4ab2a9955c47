#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"

/// What a checkpoint file says of its tensors before the first byte of them: the header of a safetensors file, and the
/// index of a sharded checkpoint.  Format: README.md of github.com/huggingface/safetensors, section "Format"; types and
/// limits as in its safetensors/src/tensor.rs (version 0.7).

namespace flopwatt::model {

/// A number format of the file format, in the spelling of its headers.
enum class StoredType : std::uint8_t {
  BOOL,
  F4,
  F6_E2M3,
  F6_E3M2,
  U8,
  I8,
  F8_E5M2,
  F8_E4M3,
  F8_E8M0,
  I16,
  U16,
  F16,
  BF16,
  I32,
  U32,
  F32,
  C64,
  F64,
  I64,
  U64,
};
/// "BF16", as headers spell it.
[[nodiscard]] std::string_view name(StoredType type) noexcept;
/// Bits of one element; a BOOL takes a byte.
[[nodiscard]] int bits(StoredType type) noexcept;
[[nodiscard]] bool is_integer(StoredType type) noexcept;

/// What a header says of one tensor.
struct StoredTensor {
  std::string name;
  StoredType type = StoredType::BF16;
  std::vector<std::int64_t> dims;  ///< outermost first; empty for a scalar
  std::uint64_t bytes = 0;         ///< equals dims · bits(type) / 8
};

struct SafetensorsHeader {
  std::uint64_t header_bytes = 0;     ///< the length field (8 bytes) and the JSON with its padding
  std::uint64_t payload_bytes = 0;    ///< all tensors
  std::vector<StoredTensor> tensors;  ///< in the order of their data
};

/// The reference implementation refuses a longer JSON text.
inline constexpr std::uint64_t kMaxHeaderJsonBytes = 100'000'000;

/// Bytes that the header of a file takes, its length field included, told by the first 8 bytes: what must be read for
/// parse_safetensors_header.  Errc::bad_data at `where` for a file shorter than that, or a length that is zero, beyond
/// the limit or past the end of the file.
[[nodiscard]] Result<std::uint64_t> safetensors_header_bytes(std::string_view first_bytes, std::uint64_t file_size,
                                                             std::string_view where);

/// Reads a header from the first bytes of a file of `file_size` bytes; `first_bytes` holds the whole header, and may
/// hold more.  Errc::bad_data at `where` (and line:column for text that is no JSON) for: what safetensors_header_bytes
/// refuses, a text that does not begin with '{', JSON that is broken, nested deeply or names a tensor twice, an unknown
/// type, a dimension that is negative or no integer, a tensor of more bytes than 64 bits count, or whose bytes are not
/// whole, offsets that run backwards, overlap, leave a hole or do not fit shape and type, and a payload that is
/// shorter or longer than the file.
[[nodiscard]] Result<SafetensorsHeader> parse_safetensors_header(std::string_view first_bytes, std::uint64_t file_size,
                                                                 std::string_view where);

/// The index of a sharded checkpoint (model.safetensors.index.json, pytorch_model.bin.index.json).
struct CheckpointIndex {
  struct Entry {
    std::string tensor, file;
  };
  std::vector<Entry> entries;  ///< sorted by tensor
  /// Bytes of all tensors as the writer counted them.  Some writers count a bool as an eighth of a byte and so write a
  /// number with a point; a fraction is rounded up.
  std::optional<std::uint64_t> total_size;
  std::optional<std::uint64_t> total_parameters;

  /// Each shard once, sorted.
  [[nodiscard]] std::vector<std::string> files() const;
};

/// Errc::bad_data at `where` for text that is no JSON object, has no weight_map of strings, an empty one, a shard name
/// that is a path (an index never leaves its folder), or a total that is negative or no number.
[[nodiscard]] Result<CheckpointIndex> parse_checkpoint_index(std::string_view json, std::string_view where);

}  // namespace flopwatt::model
