#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace flopwatt::model {

/// What a quantiser stores in place of a weight, or beside it.
enum class QuantizedPart : std::uint8_t {
  packed,  ///< the weight itself, several elements in each stored integer
  scale,   ///< scales, zero points, code tables, orders: no parameters
};

struct QuantizedName {
  QuantizedPart part;
  std::string_view suffix;   ///< ".qweight", ".weight_scale_inv"; static storage
  std::string weight;        ///< the census' name of the weight that it belongs to
  std::string_view meaning;  ///< "packed weights of GPTQ or AWQ"; static storage
};

/// Tells by its ending what a checkpoint name belongs to: "q_proj.qweight" is the packed "q_proj.weight".  `exists`
/// says whether the census has a tensor of that name.  Nothing if no reading of the name leads to one.
[[nodiscard]] std::optional<QuantizedName> quantized_name(std::string_view name,
                                                          const std::function<bool(std::string_view)>& exists);

}  // namespace flopwatt::model
