#include "flopwatt/work/adapters.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace flopwatt::work {

using model::Component;
using model::Use;

std::string_view module_part(std::string_view name) noexcept {
  for (const std::string_view suffix : {".weight", ".bias"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

bool adapted(const Trainable& trainable, const model::Tensor& tensor) noexcept {
  if (trainable.kind != Trainable::Kind::lora || tensor.use != Use::product) return false;
  if (trainable.lora_targets.empty()) return tensor.component != Component::router;
  return std::ranges::find(trainable.lora_targets, module_part(tensor.name)) != trainable.lora_targets.end();
}

units::Count trained_parameters(const model::Architecture& architecture, const Trainable& trainable) {
  switch (trainable.kind) {
    case Trainable::Kind::all:
      return model::census(architecture).total;
    case Trainable::Kind::none:
      return 0;
    case Trainable::Kind::head: {
      units::Count sum;
      for (const model::Tensor& tensor : architecture.text().outside) {
        if (tensor.component == Component::lm_head) sum += model::elements(tensor) * tensor.copies;
      }
      return sum;
    }
    case Trainable::Kind::lora:
      break;
  }
  units::Count sum;
  for (const model::Stack& stack : architecture.stacks) {
    if (stack.role == model::StackRole::vision) continue;
    for (std::size_t i = 0; i < stack.blocks.size(); ++i) {
      const model::Block& block = stack.blocks[i];
      for (const model::Tensor& tensor : block.tensors) {
        if (!adapted(trainable, tensor)) continue;
        const std::int64_t experts = tensor.rows == model::Rows::routed && block.routing ? block.routing->experts : 1;
        sum += (units::Count{tensor.k} + tensor.n) * trainable.lora_rank * experts * stack.block_counts[i];
      }
    }
  }
  return sum;
}

Result<void> check_trainable(const model::Architecture& architecture, const Trainable& trainable) {
  constexpr std::string_view kOption = "--trainable";
  if (trainable.kind == Trainable::Kind::head) {
    const auto& outside = architecture.text().outside;
    const bool has_head = std::ranges::any_of(
        outside, [](const model::Tensor& t) { return t.component == Component::lm_head && t.use == Use::product; });
    if (!has_head) return fail(Errc::usage, "the model has no head to train", std::string{kOption});
  }
  if (trainable.kind != Trainable::Kind::lora) return {};
  if (trainable.lora_rank < 1 || trainable.lora_rank > (1 << 20)) {
    return fail(Errc::usage, fmt::format("rank {} is out of range", trainable.lora_rank), std::string{kOption},
                "give a rank of at least 1");
  }
  std::vector<std::string_view> known;
  for (const model::Stack& stack : architecture.stacks) {
    for (const model::Block& block : stack.blocks) {
      for (const model::Tensor& tensor : block.tensors) {
        const std::string_view part = module_part(tensor.name);
        if (tensor.use == Use::product && std::ranges::find(known, part) == known.end()) known.push_back(part);
      }
    }
  }
  for (const std::string& target : trainable.lora_targets) {
    if (std::ranges::find(known, target) == known.end()) {
      return fail(Errc::usage, fmt::format("no linear layer is called '{}'", base::excerpt(target)),
                  std::string{kOption}, fmt::format("choose from {}", fmt::join(known, ", ")));
    }
  }
  return {};
}

}  // namespace flopwatt::work
