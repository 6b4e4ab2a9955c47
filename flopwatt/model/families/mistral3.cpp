#include "flopwatt/model/multimodal.hpp"
#include "flopwatt/model/read_config.hpp"
#include "flopwatt/model/vision_tower.hpp"

namespace flopwatt::model::families::mistral3 {
namespace {

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  config.require(has_text_config(draft), "text_config", "is missing");
  config.require(!config.is_list("vision_feature_layer"), "vision_feature_layer", "is a list: not supported");
  Draft text = text_part(draft, {.body = "language_model.model.", .head = "language_model."});
  read_text_config(text, "mistral");
  if (text_alone(draft) || config.failed()) return;

  VisionTower tower = read_vision_tower(vision_part(draft), "pixtral", "vision_tower.");
  const std::int64_t merge = config.size("spatial_merge_size", 2);
  config.require(merge <= 64, "spatial_merge_size", "is too large");
  if (config.failed()) return;
  draft.model.vision = VisionInput{.patch = tower.shape.patch, .merge = merge, .extra_tokens = tower.class_tokens};
  if (!tower.any_size) draft.model.vision->image = tower.shape.image;
  const std::int64_t hidden = draft.model.text().hidden;
  const std::int64_t patches_a_row = merge * merge;
  const std::int64_t width = tower.shape.hidden;
  const bool bias = config.flag("multimodal_projector_bias", false);
  Module module = tower.stack.outside("multi_modal_projector.");
  module.rms_norm("norm", width);
  module.linear(projector("patch_merger.merging_layer", width * patches_a_row, width, false, patches_a_row));
  module.linear(projector("linear_1", width, hidden, bias, patches_a_row));
  module.linear(projector("linear_2", hidden, hidden, bias, patches_a_row));
  finish_vision(std::move(tower.stack), draft.model);
}

}  // namespace

/// Mistral Small 3.1 and Ministral 3: Mistral's language model and a Pixtral encoder.
extern const Family family{.name = "mistral3", .model_types = {"mistral3"}, .class_stems = {"Mistral3"}, .read = read};

}  // namespace flopwatt::model::families::mistral3
