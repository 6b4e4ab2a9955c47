#include "flopwatt/model/multimodal.hpp"

#include <string>

namespace flopwatt::model {

bool has_text_config(const Draft& draft) { return draft.config.is_object("text_config"); }

bool text_alone(const Draft& draft) {
  if (!draft.model.class_name.ends_with("ForCausalLM")) return false;
  draft.config.note("the class that the file names is the language model alone");
  return true;
}

Draft text_part(const Draft& draft, const TextPrefixes& prefixes) {
  constexpr std::string_view kKey = "tie_word_embeddings";
  const auto nested = draft.config.optional_object("text_config");
  Draft text = draft;
  if (nested) {
    text.config = *nested;
    const bool outer = draft.config.flag(kKey, false);
    const bool inner = nested->flag(kKey, false);
    if (draft.config.has(kKey) || nested->has(kKey)) text.tied = outer || inner;
    if (outer && nested->has(kKey) && !inner) {
      // Before version 5 transformers asked the inner config, since then the outer one.
      draft.config.fail(kKey, "is true, but text_config says false", "remove the one that is wrong");
    }
  }
  text.body_prefix = std::string{prefixes.body};
  text.head_prefix = std::string{prefixes.head};
  return text;
}

ConfigReader vision_part(const Draft& draft) { return draft.config.object("vision_config"); }

void finish_vision(StackBuilder vision, Architecture& model) {
  vision.finish(model);
  Stack& stack = model.stacks.back();
  for (Tensor& tensor : stack.outside) tensor.component = Component::vision;
  for (Block& block : stack.blocks) {
    for (Tensor& tensor : block.tensors) tensor.component = Component::vision;
  }
}

}  // namespace flopwatt::model
