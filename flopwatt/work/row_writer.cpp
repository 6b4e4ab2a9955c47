#include "flopwatt/work/row_writer.hpp"

namespace flopwatt::work {
namespace {

// Layers are few: one 64-bit factor keeps a 128-bit product to two multiplications.
using Factor = std::uint64_t;

constexpr std::size_t at(ByteKind kind) noexcept { return static_cast<std::size_t>(kind); }

}  // namespace

void RowWriter::read(Row& row, ByteKind kind, Integer bytes) noexcept {
  row.bytes_read[at(kind)] = bytes;
  bytes_[at(kind)] += bytes;
}

void RowWriter::written(Row& row, ByteKind kind, Integer bytes) noexcept {
  row.bytes_written[at(kind)] = bytes;
  bytes_[at(kind)] += bytes;
}

Row& RowWriter::start(const Operation& o, Pass pass, Integer model, Integer hardware, Integer elementwise) {
  Row& row = rows_.emplace_back();
  row.op = o.op;
  row.pass = pass;
  row.component = o.component;
  row.precision = o.precision;
  row.label = o.label;
  row.m = o.m;
  row.k = o.k;
  row.n = o.n;
  row.model_flops = model;
  row.hardware_flops = hardware;
  row.elementwise_flops = elementwise;
  hardware_ += hardware;
  elementwise_ += elementwise;
  return row;
}

void RowWriter::run(const Operation& o, Pass pass, Factor layers) {
  const Integer model = pass == Pass::forward ? o.model_flops * layers : 0;
  Row& row = start(o, pass, model, o.hardware_flops * layers, o.elementwise_flops * layers);
  forward_ += model;
  if (o.op == OpClass::attention) attention_ += model;
  if (o.op == OpClass::lm_head) head_ += model;
  row.executions = o.executions * layers;
  read(row, ByteKind::weights, o.weights_read * layers);
  read(row, ByteKind::activations, o.activations_read * layers);
  written(row, ByteKind::activations, o.activations_written * layers);
  if (o.logits_read + o.logits_written > 0) {
    read(row, ByteKind::logits, o.logits_read * layers);
    written(row, ByteKind::logits, o.logits_written * layers);
  }
  if (o.cache_read + o.cache_written > 0) {
    read(row, ByteKind::kv_cache, o.cache_read * layers);
    written(row, ByteKind::kv_cache, o.cache_written * layers);
  }
}

// The activation's gradient reads the output's gradient and the weights and writes the input's; the weight's gradient
// reads the input and the output's gradient.
void RowWriter::product_backward(const Operation& o, Factor layers) {
  const Factor products = (o.trained ? layers : 0) + (o.activation_gradient ? layers : 0);
  Row& row = start(o, Pass::backward, o.model_flops * products, o.hardware_flops * products, 0);
  backward_ += row.model_flops.value();
  row.activation_gradient = o.activation_gradient;
  row.weight_gradient = o.trained;
  row.executions = o.executions * products;
  const Integer input = o.activations_read * layers;
  const Integer output_gradient = o.activations_written * products;
  if (o.activation_gradient) read(row, ByteKind::weights, o.weights_read * layers);
  read(row, ByteKind::activations, o.trained ? output_gradient + input : output_gradient);
  if (o.activation_gradient) written(row, ByteKind::activations, input);
  if (o.logits_written > 0) read(row, ByteKind::logits, o.logits_written * products);
  if (o.trained) written(row, ByteKind::gradients, o.gradients * layers);
}

void RowWriter::other_backward(const Operation& o, Factor layers) {
  Row& row = start(o, Pass::backward, 2 * o.model_flops * layers, o.hardware_backward * layers,
                   2 * o.elementwise_flops * layers);
  backward_ += row.model_flops.value();
  row.activation_gradient = o.backward_written > 0;
  row.weight_gradient = o.trained && o.gradients > 0;
  row.executions = o.executions * layers;
  read(row, ByteKind::weights, o.weights_read * layers);
  read(row, ByteKind::activations, o.backward_read * layers);
  written(row, ByteKind::activations, o.backward_written * layers);
  if (o.logits_backward_read + o.logits_backward_written > 0) {
    read(row, ByteKind::logits, o.logits_backward_read * layers);
    written(row, ByteKind::logits, o.logits_backward_written * layers);
  }
  if (o.trained) {
    read(row, ByteKind::gradients, o.gradients_read * layers);
    written(row, ByteKind::gradients, o.gradients * layers);
  }
}

void RowWriter::write(const Operation& o, const LayerCounts& layers) {
  const std::int64_t recompute =
      o.attention_core && layers.recompute_core > 0 ? layers.recompute_core : layers.recompute;
  if (layers.forward > 0) run(o, Pass::forward, static_cast<Factor>(layers.forward));
  if (recompute > 0) run(o, Pass::recompute, static_cast<Factor>(recompute));
  if (layers.backward <= 0) return;
  if (o.product) {
    product_backward(o, static_cast<Factor>(layers.backward));
  } else {
    other_backward(o, static_cast<Factor>(layers.backward));
  }
}

void RowWriter::write_update(const Row& row) {
  rows_.push_back(row);
  elementwise_ += row.elementwise_flops.value();
  for (std::size_t kind = 0; kind < kByteKindCount; ++kind) {
    bytes_[kind] += row.bytes_read[kind].value() + row.bytes_written[kind].value();
  }
}

Totals RowWriter::totals() const noexcept {
  Totals result;
  result.forward = forward_;
  result.backward = backward_;
  result.step = forward_ + backward_;
  result.hardware_step = hardware_;
  result.attention_forward = attention_;
  result.lm_head_forward = head_;
  result.body_forward = forward_ - attention_ - head_;
  result.elementwise = elementwise_;
  Integer total = 0;
  for (std::size_t kind = 0; kind < kByteKindCount; ++kind) {
    result.bytes.by_kind[kind] = bytes_[kind];
    total += bytes_[kind];
  }
  result.bytes.total = total;
  return result;
}

}  // namespace flopwatt::work
