#pragma once

#include <array>
#include <vector>

#include "flopwatt/work/ledger.hpp"
#include "flopwatt/work/plan.hpp"

/// From one forward operation of one layer to its rows: forward, backward and recompute, over all its layers.

namespace flopwatt::work {

/// What one layer's operation does in its forward pass, over all the passes of a run.
struct Operation {
  bool product = false;  ///< a product with weights: its backward pass follows from its forward one
  OpClass op = OpClass::elementwise;
  model::Component component = model::Component::other;
  units::Precision precision = units::Precision::bfloat16;
  std::string_view label;
  std::int64_t m = 0, k = 0, n = 0;
  Integer executions = 1;
  Integer model_flops = 0, hardware_flops = 0, elementwise_flops = 0;
  Integer hardware_backward = 0;  ///< of all but products
  /// Bytes.  A product with logits as output writes `logits_written`; gradients are those of its weights.
  Integer weights_read = 0, activations_read = 0, activations_written = 0;
  Integer logits_read = 0, logits_written = 0, cache_read = 0, cache_written = 0, gradients = 0;
  /// Of the backward pass of all but products.
  Integer backward_read = 0, backward_written = 0;
  Integer logits_backward_read = 0, logits_backward_written = 0;
  Integer gradients_read = 0;  ///< gradients summed where a weight has two of them
  bool trained = true;
  bool activation_gradient = true;  ///< of a product; false where nothing before it is trained
  bool attention_core = false;      ///< what selective recompute runs again
};

/// How many layers run an operation, by pass.
struct LayerCounts {
  std::int64_t forward = 1, backward = 0, recompute = 0, recompute_core = 0;
};

/// Collects rows and their sums.
class RowWriter {
 public:
  explicit RowWriter(std::size_t rows) { rows_.reserve(rows); }
  void write(const Operation& operation, const LayerCounts& layers);
  void write_update(const Row& row);
  /// Notes a magnitude that takes part in a product: anything too large makes the count inexact.
  void watch(double magnitude) noexcept { worst_ = magnitude > worst_ ? magnitude : worst_; }
  /// Whether every number written so far is far enough below 2^127 for sums and multiples of it to be exact.
  [[nodiscard]] bool exact() const noexcept { return worst_ < 0x1p104; }
  [[nodiscard]] Totals totals() const noexcept;
  [[nodiscard]] std::vector<Row> take() noexcept { return std::move(rows_); }

 private:
  Row& start(const Operation& operation, Pass pass, Integer model, Integer hardware, Integer elementwise);
  void run(const Operation& operation, Pass pass, std::uint64_t layers);
  void product_backward(const Operation& operation, std::uint64_t layers);
  void other_backward(const Operation& operation, std::uint64_t layers);
  void read(Row& row, ByteKind kind, Integer bytes) noexcept;
  void written(Row& row, ByteKind kind, Integer bytes) noexcept;

  std::vector<Row> rows_;
  Integer forward_ = 0, backward_ = 0, hardware_ = 0, attention_ = 0, head_ = 0, elementwise_ = 0;
  std::array<Integer, kByteKindCount> bytes_{};
  double worst_ = 0;
};

}  // namespace flopwatt::work
