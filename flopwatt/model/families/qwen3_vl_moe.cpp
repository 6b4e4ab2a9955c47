#include "flopwatt/model/multimodal.hpp"
#include "flopwatt/model/qwen_vision.hpp"

namespace flopwatt::model::families::qwen3_vl_moe {
namespace {

void read(Draft& draft) {
  draft.config.require(has_text_config(draft), "text_config", "is missing");
  Draft text = text_part(draft, {.body = "model.language_model.", .head = ""});
  family_of_model_type("qwen3_vl_moe_text")->read(text);
  if (!text_alone(draft)) qwen3_vision(draft, "model.visual.", {.deepstack = true});
}

}  // namespace

/// Qwen3-VL mixtures of experts.
extern const Family family{
    .name = "qwen3_vl_moe", .model_types = {"qwen3_vl_moe"}, .class_stems = {"Qwen3VLMoe"}, .read = read};

}  // namespace flopwatt::model::families::qwen3_vl_moe
