#pragma once

#include <string_view>

#include "flopwatt/model/family.hpp"
#include "flopwatt/model/stack_builder.hpp"

namespace flopwatt::model {

/// Where the language model of a model for several modalities stands in its checkpoints.
struct TextPrefixes {
  std::string_view body;    ///< "model.language_model.", "language_model.model."
  std::string_view head;    ///< "", "language_model."
  bool inner_ties = false;  ///< a tied language model ties the whole, whatever that says
};

[[nodiscard]] bool has_text_config(const Draft& draft);
/// Whether the class that the file names is the language model without the rest (…ForCausalLM).
[[nodiscard]] bool text_alone(const Draft& draft);

/// The draft of the language model: `text_config`, or the whole file where it is flat.  Whether embedding and head are
/// tied, either config may say; if neither does, the language model's own default decides.
[[nodiscard]] Draft text_part(const Draft& draft, const TextPrefixes& prefixes);

/// `vision_config`; a file without it is refused, since the class's default would be another model.
[[nodiscard]] ConfigReader vision_part(const Draft& draft);

/// Hands the stack to the model, all of its tensors counted as vision.
void finish_vision(StackBuilder vision, Architecture& model);

}  // namespace flopwatt::model
