#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/model/architecture.hpp"
#include "flopwatt/model/checkpoint_listing.hpp"
#include "flopwatt/units/count.hpp"

/// Holds the census of a model against what a checkpoint says of itself, tensor by tensor and byte by byte.

namespace flopwatt::model {

enum class DifferenceKind : std::uint8_t {
  prefix,        ///< the file spells the names with another prefix
  tied_copy,     ///< a tied tensor stored a second time
  excluded,      ///< what the census leaves out and names: buffers, a multi-token prediction module
  buffer,        ///< a table that is computed and not trained, by its usual name
  adapter,       ///< low-rank adapters stored beside the model
  packed,        ///< several elements of a weight in each stored integer
  scale,         ///< scales and tables of quantised weights
  stored_type,   ///< stored in another number format than the config says
  missing_file,  ///< a shard that the index names and that is not there
  index,         ///< index and headers disagree with one another
  missing,       ///< the census has it, the checkpoint has not
  unexpected,    ///< the checkpoint has it, the census has not
  shape,         ///< both have it, in different shapes
  total,         ///< the index's total is another one than the census'
  layout,        ///< the same experts stored in other tensors: all in one or one each, gate and up together or apart
};
/// The JSON word: "tied_copy".
[[nodiscard]] std::string_view name(DifferenceKind kind) noexcept;

/// Tensors that differ alike.
struct Difference {
  DifferenceKind kind = DifferenceKind::unexpected;
  std::string tensor;         ///< the first one's name; a file's name for missing_file; empty for a total
  std::uint64_t tensors = 0;  ///< how many differ alike
  units::Count elements;      ///< stored elements that the census does not count; negative for missing ones
  units::Count bytes;         ///< stored bytes beyond the census'; negative for fewer.  0 where only names are known
  std::string cause;          ///< one clause
  bool contradicts = false;   ///< the census and the checkpoint cannot both be right
};

enum class Verdict : std::uint8_t {
  equal,       ///< payload and census agree to the byte, and every tensor is where it should be
  explained,   ///< they differ, and every difference has a cause that does not touch the parameters
  contradicts  ///< a tensor is missing, unexpected or has another shape
};
[[nodiscard]] std::string_view name(Verdict verdict) noexcept;  ///< "equal", "explained", "contradicts"

struct Verification {
  std::string source;  ///< of the listing
  Verdict verdict = Verdict::equal;
  std::uint64_t tensors_census = 0;  ///< tied ones left out
  std::uint64_t tensors_listed = 0;
  std::uint64_t tensors_equal = 0;     ///< found under their names (by a prefix rule too) and in their shapes
  std::uint64_t tensors_by_name = 0;   ///< of those, the ones of which only the name could be compared
  units::Count parameters;             ///< of the census
  units::Count stored_elements;        ///< of all headers read
  StoredType type = StoredType::BF16;  ///< what the census' bytes are counted in: the config's dtype
  bool type_assumed = false;           ///< the config has no dtype: taken from the file, or bfloat16
  units::Count census_bytes;           ///< parameters in that type
  /// Sizes of the files; absent if only an index was read.
  std::optional<std::uint64_t> payload_bytes, header_bytes;
  std::optional<std::uint64_t> index_total_bytes;  ///< metadata.total_size, if the index has one
  std::vector<Difference> differences;             ///< contradictions first

  /// payload − census − all differences: 0 whenever all headers were read, because every byte has its cause.
  [[nodiscard]] units::Count unexplained_bytes() const;
};

/// Errc::bad_data if the architecture has too many tensors to compare (checkpoint_names.hpp).
[[nodiscard]] Result<Verification> verify(const Architecture& architecture, const CheckpointListing& listing);

/// One sentence for people: "payload and census agree to the byte: 3,087,428,608 bytes in 338 tensors, behind a header
/// of 38,536 bytes".
[[nodiscard]] std::string conclusion(const Verification& verification);

}  // namespace flopwatt::model
