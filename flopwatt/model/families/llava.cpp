#include "flopwatt/model/multimodal.hpp"
#include "flopwatt/model/read_config.hpp"
#include "flopwatt/model/vision_tower.hpp"

namespace flopwatt::model::families::llava {
namespace {

/// How many layers of the encoder the projector takes side by side.
std::int64_t feature_layers(const ConfigReader& config) {
  if (!config.is_list("vision_feature_layer")) return 1;
  const auto count = static_cast<std::int64_t>(config.list_size("vision_feature_layer"));
  config.require(count > 0, "vision_feature_layer", "is an empty list");
  return std::max<std::int64_t>(1, count);
}

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  // The files of LLaVA's own repository name the encoder and say nothing of its shape.
  if (config.has("mm_vision_tower") || config.has("mm_projector_type")) {
    return config.fail("mm_vision_tower", "names an encoder without its shape: this form of llava is not supported",
                       "use the converted model, which has a vision_config");
  }
  config.require(has_text_config(draft), "text_config", "is missing");
  Draft text = text_part(draft, {.body = "language_model.model.", .head = "language_model.", .inner_ties = true});
  read_text_config(text, "llama");
  if (text_alone(draft) || config.failed()) return;

  VisionTower tower = read_vision_tower(vision_part(draft), "clip_vision_model", "vision_tower.");
  draft.model.vision = VisionInput{.patch = tower.shape.patch, .extra_tokens = tower.class_tokens};
  if (!tower.any_size) draft.model.vision->image = tower.shape.image;
  const std::int64_t hidden = draft.model.text().hidden;
  const bool bias = config.flag("multimodal_projector_bias", true);
  if (draft.model.model_type == "llava_next") {
    tower.stack.outside("").tensor("image_newline", "vision.newline", {hidden}, Component::vision, Use::scale);
  }
  Module module = tower.stack.outside("multi_modal_projector.");
  module.linear(projector("linear_1", tower.shape.hidden * feature_layers(config), hidden, bias));
  module.linear(projector("linear_2", hidden, hidden, bias));
  finish_vision(std::move(tower.stack), draft.model);
}

}  // namespace

/// LLaVA 1.5 and NeXT (arXiv 2310.03744) in the form of transformers, Pixtral among them: any language model that is
/// known, an encoder, and a projector of two products.
extern const Family family{
    .name = "llava", .model_types = {"llava", "llava_next"}, .class_stems = {"Llava", "LlavaNext"}, .read = read};

}  // namespace flopwatt::model::families::llava
