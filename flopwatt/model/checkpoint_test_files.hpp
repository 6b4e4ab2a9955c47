#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/model/checkpoint_names.hpp"
#include "flopwatt/model/safetensors.hpp"

/// For tests: the header of a safetensors file, made by hand.

namespace flopwatt::model {

/// The 8 bytes of the length and the JSON behind them.
inline std::string with_length(std::string_view json, std::uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>((length >> (8 * i)) & 0xFFU));
  return bytes.append(json);
}
inline std::string with_length(std::string_view json) { return with_length(json, json.size()); }

/// A file in the making; tensors lie behind one another.
class HeaderWriter {
 public:
  HeaderWriter& add(std::string_view name, std::string_view type, const std::vector<std::int64_t>& dims,
                    std::uint64_t bytes) {
    json_ += json_.size() > 1 ? ",\"" : "\"";
    json_.append(name).append("\":{\"dtype\":\"").append(type).append("\",\"shape\":[");
    for (std::size_t i = 0; i < dims.size(); ++i) json_.append(i > 0 ? "," : "").append(std::to_string(dims[i]));
    json_ += "],\"data_offsets\":[" + std::to_string(end_) + "," + std::to_string(end_ + bytes) + "]}";
    end_ += bytes;
    return *this;
  }
  HeaderWriter& add(const NamedTensor& named, std::string_view type, int bytes_each) {
    const Tensor& tensor = *named.tensor;
    return add(named.name, type, {tensor.dims.begin(), tensor.dims.begin() + tensor.rank},
               static_cast<std::uint64_t>((elements(tensor) * bytes_each).value()));
  }
  /// Free text, as PyTorch's writer leaves it; only as the first entry.
  HeaderWriter& metadata() {
    json_ += "\"__metadata__\":{\"format\":\"pt\"}";
    return *this;
  }
  /// The first bytes of the file, padded with blanks to `json_bytes` (0: not padded).
  [[nodiscard]] std::string bytes(std::size_t json_bytes = 0) const {
    std::string json = json_ + "}";
    json.resize(std::max(json.size(), json_bytes), ' ');
    return with_length(json);
  }
  [[nodiscard]] std::uint64_t payload() const { return end_; }
  [[nodiscard]] SafetensorsHeader header() const {
    const std::string first = bytes();
    return parse_safetensors_header(first, first.size() + end_, "made.safetensors").value();
  }

 private:
  std::string json_ = "{";
  std::uint64_t end_ = 0;
};

}  // namespace flopwatt::model
