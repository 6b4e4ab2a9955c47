#include "flopwatt/libtorch/operator_flops.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <array>
#include <utility>
#include <vector>

namespace flopwatt::libtorch {
namespace {

using units::Count;
using Maybe = std::optional<Count>;

// Only operators that call no other operator of this list: linear, matmul, einsum, scaled_dot_product_attention and
// their like are made of these, and counting them too would count twice.
constexpr auto kFormulas = std::to_array<std::pair<std::string_view, Formula>>({
    {"mm", Formula::mm},
    {"_int_mm", Formula::mm},
    {"_scaled_mm", Formula::mm},
    {"addmm", Formula::addmm},
    {"addmm_", Formula::addmm},
    {"_addmm_activation", Formula::addmm},
    {"bmm", Formula::bmm},
    {"baddbmm", Formula::baddbmm},
    {"baddbmm_", Formula::baddbmm},
    {"addbmm", Formula::baddbmm},
    {"addbmm_", Formula::baddbmm},
    {"mv", Formula::mv},
    {"addmv", Formula::addmv},
    {"addmv_", Formula::addmv},
    {"dot", Formula::dot},
    {"vdot", Formula::dot},
    {"addr", Formula::addr},
    {"addr_", Formula::addr},
    {"convolution", Formula::convolution},
    {"convolution_backward", Formula::convolution_backward},
    {"_scaled_dot_product_flash_attention", Formula::attention},
    {"_scaled_dot_product_flash_attention_for_cpu", Formula::attention},
    {"_scaled_dot_product_efficient_attention", Formula::attention},
    {"_scaled_dot_product_cudnn_attention", Formula::attention},
    {"_scaled_dot_product_fused_attention_overrideable", Formula::attention},
    {"_scaled_dot_product_flash_attention_backward", Formula::attention_backward},
    {"_scaled_dot_product_flash_attention_for_cpu_backward", Formula::attention_backward},
    {"_scaled_dot_product_efficient_attention_backward", Formula::attention_backward},
    {"_scaled_dot_product_cudnn_attention_backward", Formula::attention_backward},
    {"_scaled_dot_product_fused_attention_overrideable_backward", Formula::attention_backward},
});

// An operator of LibTorch's own whose name holds one of the first and none of the second may hold products.
constexpr auto kProductWords = std::to_array<std::string_view>(
    {"mm", "matmul", "gemm", "conv", "attention", "linear", "bilinear", "einsum", "dot", "rnn", "linalg", "mha"});
constexpr auto kOtherWords =
    std::to_array<std::string_view>({"convert", "upsample", "linalg_vector_norm", "hamming", "gamma", "trimmed"});
// Namespaces without products: the interpreter's, the profiler's, collectives.
constexpr auto kPlainNamespaces =
    std::to_array<std::string_view>({"prim", "profiler", "c10d", "record_stream", "symm_mem"});

template <std::size_t N>
bool holds_any(std::string_view text, const std::array<std::string_view, N>& words) noexcept {
  for (const std::string_view word : words) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

/// The arguments of one call, which are tensors of plain layout where a formula reads them.
class Arguments {
 public:
  // Round brackets: an IValue can hold a list of IValues, and braces would make one.
  explicit Arguments(const at::RecordFunction& call) : call_{&call}, values_(call.inputs()) {}

  /// Sizes of the tensor at `index`; empty for anything else.
  [[nodiscard]] std::optional<at::IntArrayRef> sizes(std::size_t index) const {
    if (index >= values_.size() || !values_[index].isTensor()) return std::nullopt;
    const at::Tensor& tensor = values_[index].toTensor();
    if (!tensor.defined() || tensor.layout() != at::kStrided) return std::nullopt;
    return tensor.sizes();
  }
  [[nodiscard]] std::optional<bool> flag(std::size_t index) const {
    if (index >= values_.size() || !values_[index].isBool()) return std::nullopt;
    return values_[index].toBool();
  }
  /// Place of an argument by its name: versions of LibTorch add arguments in between.
  [[nodiscard]] std::size_t index_of(std::string_view name) const {
    const auto schema = call_->operator_schema();
    if (!schema) return values_.size();
    const auto& arguments = schema->arguments();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].name() == name) return i;
    }
    return values_.size();
  }
  /// How many of the `first` flags of a list are set.
  [[nodiscard]] std::optional<int> flags_set(std::size_t index, std::size_t first) const {
    if (index >= values_.size() || !values_[index].isBoolList()) return std::nullopt;
    const auto flags = values_[index].toListRef();
    if (flags.size() < first) return std::nullopt;
    int set = 0;
    for (std::size_t i = 0; i < first; ++i) set += flags[i].toBool() ? 1 : 0;
    return set;
  }

 private:
  const at::RecordFunction* call_;
  c10::ArrayRef<const c10::IValue> values_;
};

/// [m × k]·[k × n]
Maybe product(const Arguments& arguments, std::size_t a, std::size_t b) {
  const auto left = arguments.sizes(a);
  const auto right = arguments.sizes(b);
  if (!left || !right || left->size() != 2 || right->size() != 2) return std::nullopt;
  return Count{2} * (*left)[0] * (*left)[1] * (*right)[1];
}

Maybe batched_product(const Arguments& arguments, std::size_t a, std::size_t b) {
  const auto left = arguments.sizes(a);
  const auto right = arguments.sizes(b);
  if (!left || !right || left->size() != 3 || right->size() != 3) return std::nullopt;
  return Count{2} * (*left)[0] * (*left)[1] * (*left)[2] * (*right)[2];
}

/// Twice the elements of the argument: a matrix times a vector, a dot product.
Maybe twice_elements(const Arguments& arguments, std::size_t a) {
  const auto sizes = arguments.sizes(a);
  if (!sizes) return std::nullopt;
  Count count{2};
  for (const std::int64_t size : *sizes) count *= size;
  return count;
}

Maybe outer_product(const Arguments& arguments) {
  const auto column = arguments.sizes(1);
  const auto row = arguments.sizes(2);
  if (!column || !row || column->size() != 1 || row->size() != 1) return std::nullopt;
  return Count{2} * (*column)[0] * (*row)[0];
}

/// Every output element (input element of a transposed one) takes 2 FLOPs a tap of its filter.
Count taps(at::IntArrayRef positions, at::IntArrayRef weight) {
  // weight: [out, in / groups, kernel…]; transposed [in, out / groups, kernel…].  The channels of `positions` are its
  // first dimension, so that the product of both counts every tap once.
  Count count = Count{2} * positions[0];
  for (const std::int64_t size : weight) count *= size;
  for (std::size_t i = 2; i < positions.size(); ++i) count *= positions[i];
  return count;
}

/// convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
Maybe convolution(const at::RecordFunction& call, const Arguments& arguments) {
  const auto input = arguments.sizes(0);
  const auto weight = arguments.sizes(1);
  const auto transposed = arguments.flag(6);
  const auto values = call.inputs();
  if (!input || !weight || !transposed || input->size() < 3 || input->size() != weight->size()) return std::nullopt;
  if (*transposed) return taps(*input, *weight);
  if (!values[3].isIntList() || !values[4].isIntList() || !values[5].isIntList()) return std::nullopt;
  const auto stride = values[3].toIntVector();
  const auto padding = values[4].toIntVector();
  const auto dilation = values[5].toIntVector();
  std::vector<std::int64_t> positions{(*input)[0], (*weight)[0]};
  const auto of = [](const std::vector<std::int64_t>& list, std::size_t i) {
    return list.empty() ? std::int64_t{0} : list[i < list.size() ? i : list.size() - 1];
  };
  for (std::size_t i = 2; i < input->size(); ++i) {
    const std::int64_t step = of(stride, i - 2);
    if (step <= 0) return std::nullopt;
    const std::int64_t reach = of(dilation, i - 2) * ((*weight)[i] - 1) + 1;
    positions.push_back(((*input)[i] + 2 * of(padding, i - 2) - reach) / step + 1);
  }
  return taps(positions, *weight);
}

/// convolution_backward(grad, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups,
/// output_mask): the gradient of the input and of the weight each cost as much as the forward.
Maybe convolution_backward(const Arguments& arguments) {
  const auto gradient = arguments.sizes(0);
  const auto input = arguments.sizes(1);
  const auto weight = arguments.sizes(2);
  const auto transposed = arguments.flag(7);
  const auto wanted = arguments.flags_set(10, 2);  // of input and weight; the bias is a sum
  if (!gradient || !input || !weight || !transposed || !wanted) return std::nullopt;
  if (gradient->size() < 3 || gradient->size() != weight->size()) return std::nullopt;
  return taps(*transposed ? *input : *gradient, *weight) * *wanted;
}

/// Scores and values of [batch, heads, queries, width] tensors: `products` of them, as many FLOPs each as the pairs of
/// queries and keys that the mask leaves.
Maybe attention(const Arguments& arguments, std::size_t first, bool backward) {
  const auto query = arguments.sizes(first);
  const auto key = arguments.sizes(first + 1);
  const auto value = arguments.sizes(first + 2);
  const auto causal = arguments.flag(arguments.index_of("is_causal"));
  if (!query || !key || !value || !causal) return std::nullopt;
  if (query->size() != 4 || key->size() != 4 || value->size() != 4) return std::nullopt;
  const std::int64_t queries = (*query)[2];
  const std::int64_t keys = (*key)[2];
  // LibTorch's causal mask is aligned at the upper left: query p sees the first p keys.
  const std::int64_t full_rows = *causal && queries > keys ? queries - keys : 0;
  const std::int64_t ramp = *causal ? queries - full_rows : 0;
  const Count pairs = *causal ? Count{ramp} * (ramp + 1) / 2 + Count{full_rows} * keys : Count{queries} * keys;
  const Count heads = Count{(*query)[0]} * (*query)[1];
  const std::int64_t width = (*query)[3];
  const std::int64_t value_width = (*value)[3];
  // Backward: scores again, and the gradients of queries and keys; the gradients of weights and values.
  const std::int64_t widths = backward ? 3 * width + 2 * value_width : width + value_width;
  return Count{2} * heads * pairs * widths;
}

}  // namespace

bool is_operator_name(std::string_view name) noexcept {
  const auto colons = name.find("::");
  return colons != std::string_view::npos && name.find("::", colons + 2) == std::string_view::npos;
}

Formula formula_of(std::string_view name) noexcept {
  if (!is_operator_name(name)) return Formula::none;
  const auto colons = name.find("::");
  const std::string_view space = name.substr(0, colons);
  const std::string_view plain = name.substr(colons + 2);
  if (space != "aten") {
    for (const std::string_view known : kPlainNamespaces) {
      if (space == known) return Formula::none;
    }
    return Formula::unknown;
  }
  for (const auto& [known, formula] : kFormulas) {
    if (plain == known) return formula;
  }
  return holds_any(plain, kProductWords) && !holds_any(plain, kOtherWords) ? Formula::unknown : Formula::none;
}

std::optional<Count> operator_flops(Formula formula, const at::RecordFunction& call) {
  const Arguments arguments{call};
  switch (formula) {
    case Formula::none:
    case Formula::unknown:
      return std::nullopt;
    case Formula::mm:
      return product(arguments, 0, 1);
    case Formula::addmm:
      return product(arguments, 1, 2);
    case Formula::bmm:
      return batched_product(arguments, 0, 1);
    case Formula::baddbmm:
      return batched_product(arguments, 1, 2);
    case Formula::mv:
      return twice_elements(arguments, 0);
    case Formula::addmv:
      return twice_elements(arguments, 1);
    case Formula::dot:
      return twice_elements(arguments, 0);
    case Formula::addr:
      return outer_product(arguments);
    case Formula::convolution:
      return convolution(call, arguments);
    case Formula::convolution_backward:
      return convolution_backward(arguments);
    case Formula::attention:
      return attention(arguments, 0, false);
    case Formula::attention_backward:
      return attention(arguments, 1, true);
  }
  return std::nullopt;
}

}  // namespace flopwatt::libtorch
