#include "flopwatt/report/count_parts.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace flopwatt::report {
namespace {

using units::Count;

Count bytes_of(const work::Row& row) {
  Count sum;
  for (const Count count : row.bytes_read) sum += count;
  for (const Count count : row.bytes_written) sum += count;
  return sum;
}

std::vector<CountRow> by_component(const answers::Count& answer) {
  std::vector<CountRow> rows;
  for (const model::Component component : kComponents) {
    CountRow row{.name = std::string{model::name(component)},
                 .detail = {},
                 .parameters = answer.census[component],
                 .flops = Count{},
                 .bytes = Count{}};
    for (const work::Row& executed : answer.ledger.rows()) {
      if (executed.component != component) continue;
      *row.flops += executed.model_flops;
      *row.bytes += bytes_of(executed);
    }
    if (*row.parameters != Count{} || *row.flops != Count{} || *row.bytes != Count{}) rows.push_back(std::move(row));
  }
  return rows;
}

Count parameters_of(const std::vector<model::Tensor>& tensors) {
  Count sum;
  for (const model::Tensor& tensor : tensors) sum += model::parameters(tensor);
  return sum;
}

std::string_view stack_name(model::StackRole role) {
  constexpr std::array<std::string_view, 4> kNames{"decoder", "encoder", "vision", "audio"};
  return kNames[static_cast<std::size_t>(role)];
}

/// Layers that follow each other and are alike make one row.
std::vector<CountRow> by_layer(const answers::Count& answer) {
  std::vector<CountRow> rows;
  for (const model::Stack& stack : answer.architecture.stacks) {
    const std::string prefix = answer.architecture.stacks.size() > 1 ? std::string{stack_name(stack.role)} + " " : "";
    for (std::size_t first = 0; first < stack.layers.size();) {
      std::size_t end = first + 1;
      while (end < stack.layers.size() && stack.layers[end] == stack.layers[first]) ++end;
      const model::Block& block = stack.blocks[stack.layers[first]];
      CountRow row{.name = end - first == 1 ? fmt::format("{}layer {}", prefix, first)
                                            : fmt::format("{}layers {}–{}", prefix, first, end - 1),
                   .detail = block.kind,
                   .parameters = parameters_of(block.tensors) * static_cast<std::int64_t>(end - first),
                   .flops = {},
                   .bytes = {}};
      rows.push_back(std::move(row));
      first = end;
    }
    for (const model::Tensor& tensor : stack.outside) {
      if (model::parameters(tensor) != Count{}) {
        rows.push_back({.name = tensor.name,
                        .detail = "outside the layers",
                        .parameters = model::parameters(tensor),
                        .flops = {},
                        .bytes = {}});
      }
    }
  }
  return rows;
}

std::vector<CountRow> by_operator(const answers::Count& answer) {
  std::vector<CountRow> rows;
  for (const work::Row& executed : answer.ledger.rows()) {
    std::string detail{work::name(executed.pass)};
    if (executed.m > 0) {
      detail += fmt::format(" {}×[{}×{}]·[{}×{}]", units::to_string(executed.executions), executed.m, executed.k,
                            executed.k, executed.n);
    }
    rows.push_back({.name = std::string{executed.label},
                    .detail = std::move(detail),
                    .parameters = {},
                    .flops = executed.model_flops,
                    .bytes = bytes_of(executed)});
  }
  return rows;
}

std::string shape_of(const model::Tensor& tensor) {
  std::string shape = "[";
  for (std::size_t i = 0; i < tensor.rank; ++i) shape += (i > 0 ? ", " : "") + std::to_string(tensor.dims[i]);
  return shape + "]";
}

/// "{layer}" replaced by the layer's number.
std::string numbered(std::string name, std::size_t layer) {
  constexpr std::string_view kPlace = "{layer}";
  if (const std::size_t at = name.find(kPlace); at != std::string::npos)
    name.replace(at, kPlace.size(), std::to_string(layer));
  return name;
}

CountRow tensor_row(const model::Tensor& tensor, std::string name) {
  std::string detail = shape_of(tensor);
  if (tensor.copies > 1) detail += fmt::format(" × {}", tensor.copies);
  if (tensor.tied) detail += " tied";
  return {.name = std::move(name),
          .detail = std::move(detail),
          .parameters = model::parameters(tensor),
          .flops = {},
          .bytes = {}};
}

std::vector<CountRow> by_tensor(const answers::Count& answer) {
  std::vector<CountRow> rows;
  for (const model::Stack& stack : answer.architecture.stacks) {
    for (const model::Tensor& tensor : stack.outside) rows.push_back(tensor_row(tensor, tensor.name));
    for (std::size_t layer = 0; layer < stack.layers.size(); ++layer) {
      for (const model::Tensor& tensor : stack.blocks[stack.layers[layer]].tensors) {
        rows.push_back(tensor_row(tensor, numbered(tensor.name, layer)));
      }
    }
  }
  return rows;
}

}  // namespace

std::string_view name(CountPart part) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"component", "layer", "operator", "tensor"};
  return kNames[static_cast<std::size_t>(part)];
}

std::vector<CountRow> parts(const answers::Count& answer, CountPart part) {
  switch (part) {
    case CountPart::component:
      return by_component(answer);
    case CountPart::layer:
      return by_layer(answer);
    case CountPart::operators:
      return by_operator(answer);
    case CountPart::tensor:
      return by_tensor(answer);
  }
  return {};
}

}  // namespace flopwatt::report
