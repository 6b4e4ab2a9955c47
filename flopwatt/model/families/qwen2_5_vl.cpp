#include "flopwatt/model/multimodal.hpp"
#include "flopwatt/model/qwen_vision.hpp"

namespace flopwatt::model::families::qwen2_5_vl {
namespace {

void read(Draft& draft) {
  Draft text = text_part(draft, {.body = "model.", .head = "", .inner_ties = true});
  family_of_model_type("qwen2")->read(text);
  if (!text_alone(draft)) qwen2_5_vision(draft, "visual.");
}

}  // namespace

/// Qwen2.5-VL (arXiv 2502.13923): Qwen2.5 and a vision encoder that looks through windows.
extern const Family family{
    .name = "qwen2_5_vl", .model_types = {"qwen2_5_vl"}, .class_stems = {"Qwen2_5_VL"}, .read = read};

}  // namespace flopwatt::model::families::qwen2_5_vl
