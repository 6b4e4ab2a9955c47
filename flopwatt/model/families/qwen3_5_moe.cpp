#include "flopwatt/model/delta_decoder.hpp"
#include "flopwatt/model/multimodal.hpp"
#include "flopwatt/model/qwen_vision.hpp"

namespace flopwatt::model::families::qwen3_5_moe {
namespace {

/// Qwen3_5MoeTextConfig's defaults: the shape of Qwen3.5-35B-A3B.
constexpr DeltaDecoder kDefaults{
    .sizes = {.vocabulary = 248320, .hidden = 2048, .layers = 40, .heads = 16, .kv_heads = 2, .head_dim = 256},
    .mixer = {.key_heads = 16, .value_heads = 32, .key_dim = 128, .value_dim = 128, .kernel = 4, .fused = false},
    .experts = DeltaDecoder::Experts{.experts = 256, .top_k = 8, .width = 512, .shared_width = 512, .fused = true}};

void read(Draft& draft) {
  if (!has_text_config(draft)) return read_delta_decoder(draft, kDefaults);
  Draft text = text_part(draft, {.body = "model.language_model.", .head = ""});
  read_delta_decoder(text, kDefaults);
  if (!text_alone(draft)) qwen3_vision(draft, "model.visual.", {.deepstack = false});
}

}  // namespace

/// Qwen3.5 mixtures of experts.
extern const Family family{.name = "qwen3_5_moe",
                           .model_types = {"qwen3_5_moe", "qwen3_5_moe_text"},
                           .class_stems = {"Qwen3_5Moe"},
                           .read = read};

}  // namespace flopwatt::model::families::qwen3_5_moe
