#include "flopwatt/model/multimodal.hpp"

#include <string>

namespace flopwatt::model {
namespace {

constexpr std::string_view kTied = "tie_word_embeddings";

/// What the whole model and its language model say together.  Where they contradict each other, transformers of
/// version 5 asks the whole model, and those before it the language model.
std::optional<bool> tied_by_config(const ConfigReader& outer, const ConfigReader& inner, bool inner_ties) {
  if (!inner.has(kTied)) return outer.has(kTied) ? std::optional{outer.flag(kTied, false)} : std::nullopt;
  const bool said_inside = inner.flag(kTied, false);
  if (!outer.has(kTied) || outer.flag(kTied, false) == said_inside) return said_inside;
  const std::string version = outer.text("transformers_version", "");
  const bool asks_outer =
      !version.empty() && version.front() >= '5' && version.front() <= '9' && !(inner_ties && said_inside);
  const bool tied = asks_outer ? !said_inside : said_inside;
  outer.note(std::string{"tie_word_embeddings differs in text_config: the head is taken as "} +
             (tied ? "tied" : "untied"));
  return tied;
}

}  // namespace

bool has_text_config(const Draft& draft) { return draft.config.is_object("text_config"); }

bool text_alone(const Draft& draft) {
  if (!draft.model.class_name.ends_with("ForCausalLM")) return false;
  draft.config.note("the class that the file names is the language model alone");
  return true;
}

Draft text_part(const Draft& draft, const TextPrefixes& prefixes) {
  Draft text = draft;
  if (const auto nested = draft.config.optional_object("text_config")) {
    text.config = *nested;
    text.tied = tied_by_config(draft.config, *nested, prefixes.inner_ties);
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
