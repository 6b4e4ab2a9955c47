#include "flopwatt/model/quantized_names.hpp"

#include <utility>

namespace flopwatt::model {
namespace {

struct Ending {
  std::string_view stored;  ///< how the name ends
  std::string_view weight;  ///< how the weight's name ends
  QuantizedPart part;
  std::string_view meaning;
};

constexpr std::string_view kFp8Scale = "scales of FP8 weights";
constexpr std::string_view kBitsandbytes = "block scales and code tables of bitsandbytes";
constexpr std::string_view kInputScale = "scales of quantised activations";
constexpr std::string_view kCacheScale = "scales of a quantised KV cache";

/// As the quantisers' own loaders spell them: AutoGPTQ and AutoAWQ (qweight, qzeros, scales, g_idx), compressed-tensors
/// (weight_packed, weight_shape, weight_scale, weight_zero_point), DeepSeek-V3's FP8 (weight_scale_inv), ModelOpt
/// (weight_scale_2, input_scale), bitsandbytes (absmax, quant_map, quant_state, SCB), gpt-oss' MXFP4 (_blocks,
/// _scales), mlx (scales and biases beside a weight).
constexpr Ending kEndings[] = {
    {".qweight", ".weight", QuantizedPart::packed, "packed weights of GPTQ or AWQ"},
    {".weight_packed", ".weight", QuantizedPart::packed, "packed weights of compressed-tensors"},
    {"_blocks", "", QuantizedPart::packed, "packed blocks of MXFP4"},
    {".qzeros", ".weight", QuantizedPart::scale, "packed zero points of GPTQ or AWQ"},
    {".g_idx", ".weight", QuantizedPart::scale, "the order of GPTQ's groups"},
    {".weight_g_idx", ".weight", QuantizedPart::scale, "the order of the groups"},
    {".scales", ".weight", QuantizedPart::scale, "scales of packed weights"},
    {".biases", ".weight", QuantizedPart::scale, "offsets of packed weights"},
    {".qbias", ".bias", QuantizedPart::packed, "a packed bias"},
    {"_scales", "", QuantizedPart::scale, "scales of MXFP4 blocks"},
    {".weight_scale_inv", ".weight", QuantizedPart::scale, kFp8Scale},
    {"_scale_inv", "", QuantizedPart::scale, kFp8Scale},
    {"_scale", "", QuantizedPart::scale, "scales of quantised weights"},
    {".weight_scale", ".weight", QuantizedPart::scale, "scales of quantised weights"},
    {".weight_scale_2", ".weight", QuantizedPart::scale, "a second level of scales"},
    {".weight_global_scale", ".weight", QuantizedPart::scale, "a second level of scales"},
    {".weight_zero_point", ".weight", QuantizedPart::scale, "zero points of quantised weights"},
    {".weight_shape", ".weight", QuantizedPart::scale, "the shape of packed weights"},
    {".input_scale", ".weight", QuantizedPart::scale, kInputScale},
    {".input_global_scale", ".weight", QuantizedPart::scale, kInputScale},
    {".input_zero_point", ".weight", QuantizedPart::scale, kInputScale},
    {".input_scale_ub", ".weight", QuantizedPart::scale, kInputScale},
    {".output_scale", ".weight", QuantizedPart::scale, kInputScale},
    {".pre_quant_scale", ".weight", QuantizedPart::scale, kInputScale},
    {".activation_scale", ".weight", QuantizedPart::scale, kInputScale},
    {".k_scale", ".weight", QuantizedPart::scale, kCacheScale},
    {".v_scale", ".weight", QuantizedPart::scale, kCacheScale},
    {".self_attn.k_scale", ".self_attn.k_proj.weight", QuantizedPart::scale, kCacheScale},
    {".self_attn.v_scale", ".self_attn.v_proj.weight", QuantizedPart::scale, kCacheScale},
    {".absmax", "", QuantizedPart::scale, kBitsandbytes},
    {".quant_map", "", QuantizedPart::scale, kBitsandbytes},
    {".nested_absmax", "", QuantizedPart::scale, kBitsandbytes},
    {".nested_quant_map", "", QuantizedPart::scale, kBitsandbytes},
    {".quant_state.bitsandbytes__nf4", "", QuantizedPart::scale, kBitsandbytes},
    {".quant_state.bitsandbytes__fp4", "", QuantizedPart::scale, kBitsandbytes},
    {".SCB", ".weight", QuantizedPart::scale, kBitsandbytes},
    {".weight_format", ".weight", QuantizedPart::scale, kBitsandbytes},
};

}  // namespace

std::optional<QuantizedName> quantized_name(std::string_view name,
                                            const std::function<bool(std::string_view)>& exists) {
  for (const Ending& ending : kEndings) {
    if (!name.ends_with(ending.stored)) continue;
    std::string weight{name.substr(0, name.size() - ending.stored.size())};
    weight.append(ending.weight);
    if (exists(weight)) return QuantizedName{ending.part, ending.stored, std::move(weight), ending.meaning};
  }
  return std::nullopt;
}

}  // namespace flopwatt::model
