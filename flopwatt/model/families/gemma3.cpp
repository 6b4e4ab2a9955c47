#include <fmt/format.h>

#include "flopwatt/model/multimodal.hpp"
#include "flopwatt/model/read_config.hpp"
#include "flopwatt/model/vision_tower.hpp"

namespace flopwatt::model::families::gemma3 {
namespace {

/// Patches are averaged down to `tokens`, normalised and brought to the language model's width.
void add_projector(Draft& draft, VisionTower& tower, std::int64_t tokens) {
  std::int64_t side = 1;
  while ((side + 1) * (side + 1) <= tokens) ++side;
  if (side > tower.shape.side() || tower.shape.side() % side != 0) {
    draft.config.fail("mm_tokens_per_image",
                      fmt::format("is {}, which does not fit {} patches", tokens, tower.shape.patches()));
    return;
  }
  const std::int64_t pooled = tower.shape.side() / side;
  draft.model.vision = VisionInput{.patch = tower.shape.patch, .image = tower.shape.image, .merge = pooled};
  const std::int64_t hidden = draft.model.text().hidden;
  Module module = tower.stack.outside("multi_modal_projector.");
  Tensor& weight = module.tensor("mm_input_projection_weight", "vision.projector", {tower.shape.hidden, hidden},
                                 Component::vision, Use::product);
  weight.k = tower.shape.hidden;
  weight.n = hidden;
  weight.rows = Rows::patches;
  weight.rows_divisor = pooled * pooled;
  module.rms_norm("mm_soft_emb_norm", tower.shape.hidden, Rows::patches, pooled * pooled);
}

void read(Draft& draft) {
  if (!has_text_config(draft) && !draft.config.has("vision_config")) {
    return family_of_model_type("gemma3_text")->read(draft);
  }
  draft.config.require(has_text_config(draft), "text_config", "is missing");
  Draft text = text_part(draft, {.body = "language_model.model.", .head = "language_model."});
  read_text_config(text, "gemma3_text");
  if (text_alone(draft) || draft.config.failed()) return;
  VisionTower tower = read_vision_tower(vision_part(draft), "siglip_vision_model", "vision_tower.");
  if (draft.config.failed()) return;
  add_projector(draft, tower, draft.config.size("mm_tokens_per_image", 256));
  finish_vision(std::move(tower.stack), draft.model);
}

}  // namespace

/// Gemma 3 with vision (arXiv 2503.19786): its language model and a SigLIP encoder.
extern const Family family{.name = "gemma3", .model_types = {"gemma3"}, .class_stems = {"Gemma3"}, .read = read};

}  // namespace flopwatt::model::families::gemma3
