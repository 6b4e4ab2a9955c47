#include "flopwatt/model/multimodal.hpp"
#include "flopwatt/model/qwen_vision.hpp"

namespace flopwatt::model::families::qwen2_vl {
namespace {

void read(Draft& draft) {
  // Files before transformers 4.52 keep the language model's fields at the top.
  Draft text = text_part(draft, {.body = "model.", .head = "", .inner_ties = true});
  family_of_model_type("qwen2")->read(text);
  if (!text_alone(draft)) qwen2_vision(draft, "visual.");
}

}  // namespace

/// Qwen2-VL (arXiv 2409.12191) and its fine-tunes (olmOCR): Qwen2 and a vision encoder.
extern const Family family{.name = "qwen2_vl", .model_types = {"qwen2_vl"}, .class_stems = {"Qwen2VL"}, .read = read};

}  // namespace flopwatt::model::families::qwen2_vl
