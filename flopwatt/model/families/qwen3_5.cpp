#include "flopwatt/model/delta_decoder.hpp"
#include "flopwatt/model/multimodal.hpp"
#include "flopwatt/model/qwen_vision.hpp"

namespace flopwatt::model::families::qwen3_5 {
namespace {

/// Qwen3_5TextConfig's defaults.
constexpr DeltaDecoder kDefaults{
    .sizes =
        {.vocabulary = 248320, .hidden = 4096, .layers = 32, .heads = 16, .ffn = 12288, .kv_heads = 4, .head_dim = 256},
    .mixer = {.key_heads = 16, .value_heads = 32, .key_dim = 128, .value_dim = 128, .kernel = 4, .fused = false}};

void read(Draft& draft) {
  if (!has_text_config(draft)) return read_delta_decoder(draft, kDefaults);
  Draft text = text_part(draft, {.body = "model.language_model.", .head = ""});
  read_delta_decoder(text, kDefaults);
  if (!text_alone(draft)) qwen3_vision(draft, "model.visual.", {.deepstack = false});
}

}  // namespace

/// Qwen3.5 dense: Qwen3-Next's layers with a feed-forward, and a vision encoder.
extern const Family family{
    .name = "qwen3_5", .model_types = {"qwen3_5", "qwen3_5_text"}, .class_stems = {"Qwen3_5"}, .read = read};

}  // namespace flopwatt::model::families::qwen3_5
