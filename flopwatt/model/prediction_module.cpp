#include "flopwatt/model/prediction_module.hpp"

#include <fmt/format.h>

namespace flopwatt::model {
namespace {

units::Count block_parameters(const Block& block) {
  units::Count sum;
  for (const Tensor& tensor : block.tensors) sum += parameters(tensor);
  return sum;
}

constexpr std::string_view kWhat = "multi-token prediction module";
constexpr std::string_view kWhy =
    "predicts further tokens in training or drafts them; the model itself does not run it";

// Two norms of the inputs, one of the output, and the product that joins both inputs.
units::Count joint_parameters(std::int64_t hidden) { return 2 * units::Count{hidden} * hidden + 3 * hidden; }

}  // namespace

void exclude_prediction_layers(Architecture& model, std::int64_t count) {
  if (count == 0 || model.stacks.empty() || model.text().layers.empty()) return;
  const Stack& text = model.text();
  const Block& last = text.blocks[text.layers.back()];
  const std::string& name = last.tensors.front().name;
  const std::string layers = name.substr(0, name.find("{layer}"));
  Excluded module{.what = std::string{kWhat},
                  .parameters = (block_parameters(last) + joint_parameters(text.hidden)) * count,
                  .why = std::string{kWhy}};
  Excluded copies{.what = "copies of embedding and head in the multi-token prediction module",
                  .parameters = 2 * units::Count{model.vocabulary} * text.hidden * count,
                  .why = "the same weights again, in some checkpoints"};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string prefix = fmt::format("{}{}.", layers, text.layers.size() + static_cast<std::size_t>(i));
    copies.name_patterns.push_back(prefix + "embed_tokens.");
    copies.name_patterns.push_back(prefix + "shared_head.head.");
    module.name_patterns.push_back(prefix);
  }
  // The narrower patterns first: the first that fits a name explains it.
  model.excluded.push_back(std::move(copies));
  model.excluded.push_back(std::move(module));
}

void exclude_prediction_module(Architecture& model, std::size_t block, std::int64_t layers) {
  const Stack& text = model.text();
  if (layers == 0 || block >= text.blocks.size()) return;
  model.excluded.push_back({.what = std::string{kWhat},
                            .parameters = block_parameters(text.blocks[block]) * layers + joint_parameters(text.hidden),
                            .why = std::string{kWhy},
                            .name_patterns = {"mtp."}});
}

}  // namespace flopwatt::model
