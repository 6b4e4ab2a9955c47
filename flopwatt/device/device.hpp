#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/units/precision.hpp"
#include "flopwatt/units/quantity.hpp"

/// What an accelerator is: its peaks by precision, path and accumulate type, memory, power and links, every figure
/// with its source.  What is unknown is absent, never zero.

namespace flopwatt::device {

/// The hardware that a peak belongs to.
enum class Path : std::uint8_t {
  vector,         ///< the ordinary arithmetic units
  tensor_dense,   ///< tensor cores, matrix cores, matrix units; every operand element counts
  tensor_sparse,  ///< the same with 2:4 structured sparsity: a marketing figure unless the weights are pruned
};
/// The type in which products are summed.
enum class Accumulate : std::uint8_t { fp32, fp16, int32 };
/// How far a figure can be trusted.
enum class Confidence : std::uint8_t {
  several,   ///< "A": several agreeing sources, or arithmetic that closes
  single,    ///< "B": one source
  disputed,  ///< "C": sources conflict, or a secondary source only
};
enum class Origin : std::uint8_t {
  published,
  derived,   ///< units × clock × FLOPs per unit and clock
  measured,  ///< a ceiling that was measured
  given,     ///< by the caller
};
/// What one device of the catalogue is, and so what "per device" means.
enum class Scope : std::uint8_t {
  gpu,
  gpu_of_superchip,  ///< one GPU of a board that carries several GPUs and a CPU
  module,            ///< a package that may show as several devices (MI250X: two dies; MI300X in CPX: eight)
  die,               ///< one of the dies of a module
  chip,
  card,
};
enum class LinkKind : std::uint8_t { nvlink, nvlink_c2c, pcie, infinity_fabric, ici, ethernet };

/// "vector", "tensor_dense", "tensor_sparse".
[[nodiscard]] std::string_view name(Path path) noexcept;
/// "fp32", "fp16", "int32".
[[nodiscard]] std::string_view name(Accumulate accumulate) noexcept;
/// "A", "B", "C".
[[nodiscard]] std::string_view name(Confidence confidence) noexcept;
[[nodiscard]] std::string_view name(Origin origin) noexcept;
[[nodiscard]] std::string_view name(Scope scope) noexcept;
[[nodiscard]] std::string_view name(LinkKind kind) noexcept;
[[nodiscard]] std::optional<Path> parse_path(std::string_view text) noexcept;
[[nodiscard]] std::optional<Accumulate> parse_accumulate(std::string_view text) noexcept;
[[nodiscard]] std::optional<Confidence> parse_confidence(std::string_view text) noexcept;
[[nodiscard]] std::optional<Origin> parse_origin(std::string_view text) noexcept;
[[nodiscard]] std::optional<Scope> parse_scope(std::string_view text) noexcept;
[[nodiscard]] std::optional<LinkKind> parse_link_kind(std::string_view text) noexcept;

/// A document that states a figure; `url` is empty where there is none.
struct Source {
  std::string title;
  std::string url;
};
/// "TITLE, URL; TITLE, URL".
[[nodiscard]] std::string to_text(const std::vector<Source>& sources);

/// The ends between which published values of one figure lie.
template <class Quantity>
struct Published {
  Quantity low, high;
};

template <class Quantity>
struct Figure {
  Quantity value;
  std::optional<Published<Quantity>> range;  ///< absent where sources agree
  std::vector<Source> sources;               ///< at least one
  Confidence confidence = Confidence::disputed;
  std::string note;
};

struct Peak {
  units::Precision precision = units::Precision::float32;  ///< of the operands
  Path path = Path::vector;
  Accumulate accumulate = Accumulate::fp32;
  units::FlopRate rate;  ///< an integer operation counts as a FLOP
  std::optional<Published<units::FlopRate>> range;
  std::vector<Source> sources;
  Confidence confidence = Confidence::disputed;
  Origin origin = Origin::published;
  std::string note;
};

/// The arithmetic behind the 16-bit tensor peak: count × clock × flops_per_clock.
struct ComputeUnits {
  std::string name;  ///< "SM", "CU", "MME"
  std::int64_t count = 0;
  std::optional<units::Frequency> clock;  ///< the one behind the tensor peak, often below the maximum clock
  std::optional<double> flops_per_clock;  ///< of one unit: dense 16-bit tensor products, fp32 accumulation
  bool clock_inferred = false;            ///< computed back from the peak: then the product proves nothing
  std::vector<Source> sources;
};

struct Interconnect {
  LinkKind kind = LinkKind::pcie;
  units::Bandwidth per_direction;  ///< all links of the device together
  std::vector<Source> sources;
  Confidence confidence = Confidence::disputed;
  std::string note;
};

/// A number format that the device cannot multiply at speed, and why.
struct Unsupported {
  units::Precision precision = units::Precision::float32;
  std::string reason;
};

/// Which peak: a device has at most one of each kind.
struct PeakKind {
  units::Precision precision = units::Precision::float32;
  Path path = Path::vector;
  Accumulate accumulate = Accumulate::fp32;
  friend bool operator==(const PeakKind&, const PeakKind&) = default;
};
[[nodiscard]] inline PeakKind kind(const Peak& peak) noexcept { return {peak.precision, peak.path, peak.accumulate}; }

/// A figure that a merged device (family.hpp) lacks because its variants differ in it.
struct Difference {
  std::string figure;                 ///< "memory", "memory bandwidth", "board limit", "idle power", "interconnects",
                                      ///< "peak of bfloat16 (tensor_dense, fp32 accumulate)"
  std::optional<PeakKind> peak_kind;  ///< where the figure is a peak
  std::string values;                 ///< "1.555 TB/s (A100-SXM4-40GB), …"
};

struct Device {
  std::string name;                       ///< of the catalogue: "A100-SXM4-80GB"
  std::string family;                     ///< shared by its variants: "A100"; the name itself where there are none
  std::vector<std::string> aliases;       ///< other spellings, unique in the catalogue
  std::vector<std::string> driver_names;  ///< as the driver reports it: "NVIDIA A100-SXM4-80GB"
  std::string vendor;                     ///< "NVIDIA", "AMD", "Google", "Intel"
  std::string architecture;               ///< "ampere", "cdna3"
  std::string chip;                       ///< "GA100"; may be empty
  std::string compute_capability;         ///< "8.0", "gfx90a"; may be empty.  It does not decide any rate
  Scope scope = Scope::gpu;
  std::optional<ComputeUnits> compute_units;
  std::vector<Peak> peaks;
  std::optional<Figure<units::DataSize>> memory;  ///< installed; vendors print "80 GB" for 80 GiB
  std::optional<Figure<units::Bandwidth>> memory_bandwidth;
  std::optional<Figure<units::Power>> board_limit;  ///< default power limit of what `scope` says
  std::optional<Figure<units::Power>> idle;         ///< measured without work
  std::vector<Interconnect> interconnects;
  std::vector<Unsupported> unsupported;
  std::vector<std::string> notes;

  std::vector<std::string> variants;    ///< of a merged device: the names it stands for; else empty
  std::vector<Difference> differences;  ///< of a merged device: what is absent because they differ
};

}  // namespace flopwatt::device
