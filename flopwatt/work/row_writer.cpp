#include "flopwatt/work/row_writer.hpp"

namespace flopwatt::work {
namespace {

void set(std::array<units::Count, kByteKindCount>& bytes, ByteKind kind, Integer value) noexcept {
  bytes[static_cast<std::size_t>(kind)] = value;
}

void forward_bytes(Row& row, const Operation& o, Integer layers) noexcept {
  set(row.bytes_read, ByteKind::weights, o.weights_read * layers);
  set(row.bytes_read, ByteKind::activations, o.activations_read * layers);
  set(row.bytes_read, ByteKind::logits, o.logits_read * layers);
  set(row.bytes_read, ByteKind::kv_cache, o.cache_read * layers);
  set(row.bytes_written, ByteKind::activations, o.activations_written * layers);
  set(row.bytes_written, ByteKind::logits, o.logits_written * layers);
  set(row.bytes_written, ByteKind::kv_cache, o.cache_written * layers);
}

// The activation's gradient reads the output's gradient and the weights and writes the input's; the weight's gradient
// reads the input and the output's gradient.
void product_backward(Row& row, const Operation& o, Integer layers) noexcept {
  const Integer products = o.trained ? 2 : 1;
  row.activation_gradient = true;
  row.weight_gradient = o.trained;
  row.executions = o.executions * layers * products;
  row.model_flops = o.model_flops * layers * products;
  row.hardware_flops = o.hardware_flops * layers * products;
  set(row.bytes_read, ByteKind::weights, o.weights_read * layers);
  set(row.bytes_read, ByteKind::activations,
      (o.activations_written * products + (o.trained ? o.activations_read : 0)) * layers);
  set(row.bytes_read, ByteKind::logits, o.logits_written * products * layers);
  set(row.bytes_written, ByteKind::activations, o.activations_read * layers);
  if (o.trained) set(row.bytes_written, ByteKind::gradients, o.gradients * layers);
}

void other_backward(Row& row, const Operation& o, Integer layers) noexcept {
  row.activation_gradient = o.backward_written > 0;
  row.weight_gradient = o.trained && o.gradients > 0;
  row.model_flops = 2 * o.model_flops * layers;
  row.hardware_flops = o.hardware_backward * layers;
  row.elementwise_flops = 2 * o.elementwise_flops * layers;
  set(row.bytes_read, ByteKind::weights, o.weights_read * layers);
  set(row.bytes_read, ByteKind::activations, o.backward_read * layers);
  set(row.bytes_written, ByteKind::activations, o.backward_written * layers);
  set(row.bytes_read, ByteKind::logits, o.logits_backward_read * layers);
  set(row.bytes_written, ByteKind::logits, o.logits_backward_written * layers);
  if (o.trained) {
    set(row.bytes_read, ByteKind::gradients, o.gradients_read * layers);
    set(row.bytes_written, ByteKind::gradients, o.gradients * layers);
  }
}

}  // namespace

Row& RowWriter::start(const Operation& o, Pass pass) {
  Row& row = rows_.emplace_back();
  row.op = o.op;
  row.pass = pass;
  row.component = o.component;
  row.precision = o.precision;
  row.label = o.label;
  row.m = static_cast<std::int64_t>(o.m);
  row.k = static_cast<std::int64_t>(o.k);
  row.n = static_cast<std::int64_t>(o.n);
  return row;
}

void RowWriter::write(const Operation& o, const LayerCounts& layers) {
  const Integer recompute = o.attention_core && layers.recompute_core > 0 ? layers.recompute_core : layers.recompute;
  const auto run = [&](Pass pass, Integer count) {
    Row& row = start(o, pass);
    row.executions = o.executions * count;
    if (pass == Pass::forward) row.model_flops = o.model_flops * count;
    row.hardware_flops = o.hardware_flops * count;
    row.elementwise_flops = o.elementwise_flops * count;
    forward_bytes(row, o, count);
  };
  if (layers.forward > 0) run(Pass::forward, layers.forward);
  if (recompute > 0) run(Pass::recompute, recompute);
  if (layers.backward > 0) {
    Row& row = start(o, Pass::backward);
    row.executions = o.executions * layers.backward;
    if (o.product) {
      product_backward(row, o, layers.backward);
    } else {
      other_backward(row, o, layers.backward);
    }
  }
}

}  // namespace flopwatt::work
