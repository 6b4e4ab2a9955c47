#include "flopwatt/model/module.hpp"

#include <algorithm>

#include "flopwatt/base/check.hpp"

namespace flopwatt::model {

Module Module::operator/(std::string_view child) const {
  std::string prefix = prefix_;
  prefix.append(child).push_back('.');
  return {*tensors_, std::move(prefix)};
}

Tensor& Module::tensor(std::string_view name, std::string_view label, std::initializer_list<std::int64_t> dims,
                       Component component, Use use) {
  FLOPWATT_CHECK(dims.size() <= 5);
  Tensor added{.name = prefix_, .label = label, .component = component, .use = use};
  added.name.append(name);
  added.rank = static_cast<std::uint8_t>(dims.size());
  std::copy(dims.begin(), dims.end(), added.dims.begin());
  return tensors_->emplace_back(std::move(added));
}

void Module::linear(const Linear& linear) {
  const std::string weight = std::string{linear.name} + ".weight";
  Tensor& product = linear.layout == Layout::in_out
                        ? tensor(weight, linear.label, {linear.in, linear.out}, linear.component, Use::product)
                        : tensor(weight, linear.label, {linear.out, linear.in}, linear.component, Use::product);
  product.k = linear.in;
  product.n = linear.out;
  product.rows = linear.rows;
  product.rows_divisor = linear.rows_divisor;
  if (linear.bias) {
    tensor(std::string{linear.name} + ".bias", linear.label, {linear.out}, linear.component, Use::bias).rows =
        linear.rows;
  }
}

void Module::rms_norm(std::string_view name, std::int64_t width, Rows rows, std::int64_t rows_divisor) {
  layer_norm(name, width, false, rows, rows_divisor);
}

void Module::layer_norm(std::string_view name, std::int64_t width, bool bias, Rows rows, std::int64_t rows_divisor) {
  const auto add = [&](std::string_view ending) {
    Tensor& norm = tensor(std::string{name}.append(ending), "norm", {width}, Component::norm, Use::scale);
    norm.rows = rows;
    norm.rows_divisor = rows_divisor;
  };
  add(".weight");
  if (bias) add(".bias");
}

void Module::lookup(std::string_view name, std::string_view label, std::int64_t rows, std::int64_t width,
                    Component component) {
  tensor(std::string{name} + ".weight", label, {rows, width}, component, Use::lookup);
}

void Layer::part(std::string_view name) const {
  if (!block_->kind.empty()) block_->kind.push_back('+');
  block_->kind.append(name);
}

}  // namespace flopwatt::model
