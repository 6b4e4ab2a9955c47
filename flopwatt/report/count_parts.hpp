#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/answers/count.hpp"

/// A count cut into rows: by component, layer, operator or tensor.

namespace flopwatt::report {

/// Version of the counting rules; printed with every count.
inline constexpr int kCountingConvention = 1;

inline constexpr std::array<model::Component, model::kComponentCount> kComponents{
    model::Component::embedding, model::Component::lm_head, model::Component::attention,
    model::Component::mlp,       model::Component::experts, model::Component::router,
    model::Component::norm,      model::Component::vision,  model::Component::other};

enum class CountPart : std::uint8_t { component, layer, operators, tensor };
/// "component", "layer", "operator", "tensor".
[[nodiscard]] std::string_view name(CountPart part) noexcept;

/// One row; what a cut does not tell is absent.
struct CountRow {
  std::string name;
  std::string detail;  ///< shape of a tensor, kind of a layer, pass of an operator
  std::optional<units::Count> parameters, flops, bytes;
};

/// Rows in the order of the model.  Parameters sum to the census' total, FLOPs to the step's model FLOPs, bytes to the
/// step's, wherever a cut has them.
[[nodiscard]] std::vector<CountRow> parts(const answers::Count& answer, CountPart part);

}  // namespace flopwatt::report
