#include "flopwatt/model/multimodal.hpp"
#include "flopwatt/model/qwen_vision.hpp"

namespace flopwatt::model::families::qwen3_vl {
namespace {

void read(Draft& draft) {
  draft.config.require(has_text_config(draft), "text_config", "is missing");
  Draft text = text_part(draft, {.body = "model.language_model.", .head = ""});
  family_of_model_type("qwen3")->read(text);
  if (!text_alone(draft)) qwen3_vision(draft, "model.visual.", {.deepstack = true});
}

}  // namespace

/// Qwen3-VL: Qwen3 and a vision encoder of which several layers' outputs are merged into the language model.
extern const Family family{.name = "qwen3_vl", .model_types = {"qwen3_vl"}, .class_stems = {"Qwen3VL"}, .read = read};

}  // namespace flopwatt::model::families::qwen3_vl
