#include "flopwatt/model/quantization.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace flopwatt::model {
namespace {

std::optional<units::Precision> integer_bits(std::int64_t bits) {
  if (bits == 4) return units::Precision::int4;
  if (bits == 8) return units::Precision::int8;
  return std::nullopt;
}

std::optional<units::Precision> float_bits(std::int64_t bits) {
  if (bits == 4) return units::Precision::fp4;
  if (bits == 8) return units::Precision::fp8;
  return std::nullopt;
}

/// group_size: −1 stands for one scale a row.
std::optional<std::int64_t> group_size(const ConfigReader& config, const Keys& keys) {
  for (const std::string_view key : keys) {
    const double size = config.number(key, -1);
    if (size == -1) continue;
    if (size > 0) return config.size(key);
    config.fail(key, fmt::format("is {}, neither a number of weights nor -1, one scale a row", size));
  }
  return std::nullopt;
}

/// Every method spells the modules that it leaves alone in its own way.
std::vector<std::string> not_converted(const ConfigReader& config) {
  for (const std::string_view key :
       {"modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules", "llm_int8_skip_modules"}) {
    if (config.has(key)) return config.texts(key);
  }
  return {};
}

/// compressed-tensors: the first group's weights stand for the file.
std::optional<units::Precision> compressed_tensors(const ConfigReader& config, Quantization& quantization) {
  const auto groups = config.optional_object("config_groups");
  if (!groups || groups->keys().empty()) return std::nullopt;
  const auto weights = groups->object(groups->keys().front()).optional_object("weights");
  if (!weights) return std::nullopt;
  quantization.group_size = group_size(*weights, "group_size");
  const std::int64_t bits = weights->size("num_bits", 8);
  return weights->text("type", "int") == "float" ? float_bits(bits) : integer_bits(bits);
}

std::optional<units::Precision> weight_precision(const ConfigReader& config, Quantization& quantization) {
  const std::string& method = quantization.method;
  if (method == "gptq" || method == "awq") {
    quantization.group_size = group_size(config, {"group_size", "q_group_size"});
    return integer_bits(config.size({"bits", "w_bit"}, 4));
  }
  if (method == "bitsandbytes") {
    if (config.flag({"load_in_8bit", "_load_in_8bit"}, false)) return units::Precision::int8;
    quantization.group_size = 64;  // bitsandbytes' block of one absmax
    return config.text("bnb_4bit_quant_type", "fp4") == "fp4" ? units::Precision::fp4 : units::Precision::int4;
  }
  if (method == "fp8") {
    quantization.block_size = config.counts("weight_block_size");
    return units::Precision::fp8;
  }
  if (method == "fbgemm_fp8") return units::Precision::fp8;
  if (method == "mxfp4") {
    quantization.group_size = 32;  // OCP Microscaling Formats 1.0: 32 elements share one scale
    return units::Precision::fp4;
  }
  if (method == "compressed-tensors") return compressed_tensors(config, quantization);
  if (method == "modelopt") {
    const std::string algorithm = config.text("quant_algo", "");
    if (algorithm == "FP8") return units::Precision::fp8;
    if (algorithm != "NVFP4") return std::nullopt;
    quantization.group_size = 16;  // NVFP4: 16 elements share one E4M3 scale
    return units::Precision::fp4;
  }
  if (method == "mlx") {
    quantization.group_size = group_size(config, "group_size");
    return integer_bits(config.size("bits", 4));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Quantization> read_quantization(const ConfigReader& config) {
  std::optional<ConfigReader> stored;
  std::string method;
  for (const std::string_view key : {"quantization_config", "compression_config", "quantization"}) {
    if (stored || !config.has(key)) continue;
    if (key == "quantization" && !config.is_object(key)) {  // mlx's key, which others may use for something else
      config.note("quantization is no object: not read");
      continue;
    }
    stored = config.optional_object(key);
    method = stored->text("quant_method", key == "quantization" ? "mlx" : "");
    if (method.empty() && stored->has("load_in_4bit")) method = "bitsandbytes";
    if (method.empty() && stored->has("quant_algo")) method = "modelopt";
  }
  if (!stored) return std::nullopt;

  Quantization quantization{.method = method};
  const std::optional<units::Precision> precision = weight_precision(*stored, quantization);
  if (!precision) {
    config.note(fmt::format("quantization '{}' is not one that is known: bytes are those of the unquantised type",
                            base::excerpt(method)));
    return std::nullopt;
  }
  quantization.precision = *precision;
  quantization.not_converted = not_converted(*stored);
  return quantization;
}

}  // namespace flopwatt::model
