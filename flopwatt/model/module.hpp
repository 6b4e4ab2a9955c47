#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/model/architecture.hpp"

/// The vocabulary in which a family describes its layers: a module is a place in the checkpoint's name tree, and its
/// functions add tensors there.

namespace flopwatt::model {

/// How a weight matrix is stored.
enum class Layout : std::uint8_t { out_in, in_out };

/// A product y = x·W (+ b).
struct Linear {
  std::string_view name;   ///< in the checkpoint: "q_proj"
  std::string_view label;  ///< of the operator class: "attention.q"; static storage
  Component component = Component::other;
  std::int64_t in = 0, out = 0;
  bool bias = false;
  Layout layout = Layout::out_in;
  Rows rows = Rows::tokens;
  std::int64_t rows_divisor = 1;  ///< rows that make one row of the product
};

/// Tensors under one prefix of checkpoint names, in the order in which they are used.
class Module {
 public:
  /// `tensors` must outlive the module; `prefix` is empty or ends in '.'.
  Module(std::vector<Tensor>& tensors, std::string prefix) : tensors_{&tensors}, prefix_{std::move(prefix)} {}

  /// The module one level down: `layer / "self_attn"`.
  [[nodiscard]] Module operator/(std::string_view child) const;
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }

  /// NAME.weight and, if there is one, NAME.bias.
  void linear(const Linear& linear);
  /// NAME.weight [width].  `rows` and `rows_divisor` say what is normed, where it is not every token of the stack.
  void rms_norm(std::string_view name, std::int64_t width, Rows rows = Rows::tokens, std::int64_t rows_divisor = 1);
  /// NAME.weight [width] and NAME.bias [width].
  void layer_norm(std::string_view name, std::int64_t width, bool bias = true, Rows rows = Rows::tokens,
                  std::int64_t rows_divisor = 1);
  /// NAME.weight [rows, width], of which a token takes one row.
  void lookup(std::string_view name, std::string_view label, std::int64_t rows, std::int64_t width,
              Component component = Component::embedding);
  /// Any other tensor, by its full name below the prefix.
  Tensor& tensor(std::string_view name, std::string_view label, std::initializer_list<std::int64_t> dims,
                 Component component, Use use);

 private:
  std::vector<Tensor>* tensors_;
  std::string prefix_;
};

/// One distinct layer in the making: a module and the block that it fills.
class Layer : public Module {
 public:
  Layer(Block& block, std::string prefix, std::int64_t hidden)
      : Module{block.tensors, std::move(prefix)}, block_{&block}, hidden_{hidden} {}

  [[nodiscard]] Block& block() const noexcept { return *block_; }
  [[nodiscard]] std::int64_t hidden() const noexcept { return hidden_; }
  /// A norm of the layer itself, whose kind is then the block's.
  void rms_norm(std::string_view name, std::int64_t width) {
    block_->elementwise.norm = Norm::rms_norm;
    Module::rms_norm(name, width);
  }
  void layer_norm(std::string_view name, std::int64_t width, bool bias = true) {
    block_->elementwise.norm = Norm::layer_norm;
    Module::layer_norm(name, width, bias);
  }
  /// Adds a part to the block's name for people: "attention" and then "mlp" make "attention+mlp".
  void part(std::string_view name) const;

 private:
  Block* block_;
  std::int64_t hidden_;
};

}  // namespace flopwatt::model
