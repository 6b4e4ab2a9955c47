#include <fmt/format.h>

#include <array>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/model/verify.hpp"

namespace flopwatt::model {
namespace {

using units::Count;

constexpr std::array<std::string_view, 15> kKindNames{"prefix",  "tied_copy",  "excluded",    "buffer",       "adapter",
                                                      "packed",  "scale",      "stored_type", "missing_file", "index",
                                                      "missing", "unexpected", "shape",       "total",        "layout"};
constexpr std::array<std::string_view, 3> kVerdictNames{"equal", "explained", "contradicts"};

}  // namespace

std::string_view name(DifferenceKind kind) noexcept { return kKindNames[static_cast<std::size_t>(kind)]; }
std::string_view name(Verdict verdict) noexcept { return kVerdictNames[static_cast<std::size_t>(verdict)]; }

Count Verification::unexplained_bytes() const {
  if (!payload_bytes) return Count{0};
  Count rest = Count{*payload_bytes} - census_bytes;
  for (const Difference& difference : differences) rest -= difference.bytes;
  return rest;
}

std::string conclusion(const Verification& v) {
  if (v.verdict == Verdict::contradicts) {
    const Difference& first = v.differences.front();
    return fmt::format("the checkpoint contradicts the census: {}{}{}", base::excerpt(first.tensor, 120),
                       first.tensor.empty() ? "" : ": ", first.cause);
  }
  if (!v.payload_bytes) {
    const bool equal = v.verdict == Verdict::equal;
    const std::string total = v.index_total_bytes ? fmt::format(", and its total of {} bytes {}",
                                                                units::to_grouped_string(*v.index_total_bytes),
                                                                equal ? "agrees to the byte" : "is explained")
                                                  : ", which gives no total";
    return fmt::format("all {} names of the index are {}{}; shapes and types stand in the shards only",
                       v.tensors_listed, equal ? "those of the census" : "explained", total);
  }
  const Count payload{*v.payload_bytes};
  const std::string header = fmt::format("behind {} header bytes", units::to_grouped_string(*v.header_bytes));
  if (payload == v.census_bytes) {
    return fmt::format("payload and census agree to the byte: {} bytes in {}, {}", units::to_grouped_string(payload),
                       base::counted(v.tensors_listed, "tensor"), header);
  }
  const bool more = payload > v.census_bytes;
  return fmt::format(
      "parameters agree; the payload of {} bytes, {}, has {} bytes {} than the census, every one "
      "explained",
      units::to_grouped_string(payload), header,
      units::to_grouped_string(more ? payload - v.census_bytes : v.census_bytes - payload), more ? "more" : "fewer");
}

}  // namespace flopwatt::model
