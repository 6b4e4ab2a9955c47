#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "flopwatt/units/count.hpp"

namespace flopwatt::libtorch {

/// How the products of an operator are told from its arguments.
enum class Formula : std::uint8_t {
  none,     ///< no product in it, as far as its name tells
  unknown,  ///< may hold products: counted only through the operators that it calls, else listed as not counted
  mm,
  addmm,
  bmm,
  baddbmm,
  mv,
  addmv,
  dot,
  addr,
  convolution,
  convolution_backward,
  attention,
  attention_backward,
};

/// "aten::addmm" is one, "autograd::engine::evaluate_function: AddBackward0" and "AddBackward0" are none.
[[nodiscard]] bool is_operator_name(std::string_view name) noexcept;
/// By the name of an operator ("aten::addmm"), its overload left out.
[[nodiscard]] Formula formula_of(std::string_view name) noexcept;

/// FLOPs of one call, from the shapes of its arguments; empty where they are not what the formula knows (a sparse
/// operand, an overload with other arguments).  May throw what LibTorch throws.
[[nodiscard]] std::optional<units::Count> operator_flops(Formula formula, const at::RecordFunction& call);

}  // namespace flopwatt::libtorch
