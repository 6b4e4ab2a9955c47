#include "flopwatt/work/encoder.hpp"

#include <algorithm>

namespace flopwatt::work {

const model::Stack* encoder_of(const model::Architecture& architecture) noexcept {
  const model::Stack& text = architecture.text();
  const bool crosses = std::ranges::any_of(text.blocks, [](const model::Block& block) {
    return std::ranges::any_of(block.attentions, [](const model::Attention& a) { return a.cross; });
  });
  if (!crosses) return nullptr;
  for (const model::Stack& stack : architecture.stacks) {
    const bool encodes = stack.role == model::StackRole::encoder || stack.role == model::StackRole::audio;
    if (&stack != &text && encodes) return &stack;
  }
  return nullptr;
}

std::optional<std::int64_t> encoder_positions(const model::Architecture& architecture) noexcept {
  const model::Stack* encoder = encoder_of(architecture);
  if (!encoder) return std::nullopt;
  for (const model::Tensor& tensor : encoder->outside) {
    const bool words = tensor.dims[0] == architecture.vocabulary;
    if (tensor.use == model::Use::lookup && !words && tensor.dims[1] == encoder->hidden) return tensor.dims[0];
  }
  return std::nullopt;
}

}  // namespace flopwatt::work
