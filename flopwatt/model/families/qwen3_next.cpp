#include "flopwatt/model/delta_decoder.hpp"

namespace flopwatt::model::families::qwen3_next {
namespace {

/// Qwen3NextConfig's defaults: the shape of Qwen3-Next-80B-A3B, whose checkpoints hold a prediction module that the
/// config does not mention.
constexpr DeltaDecoder kDefaults{
    .sizes =
        {.vocabulary = 151936, .hidden = 2048, .layers = 48, .heads = 16, .ffn = 5632, .kv_heads = 2, .head_dim = 256},
    .mixer = {.key_heads = 16, .value_heads = 32, .key_dim = 128, .value_dim = 128, .kernel = 4, .fused = true},
    .experts = DeltaDecoder::Experts{.experts = 512, .top_k = 10, .width = 512, .shared_width = 512},
    .prediction_layers = 1};

void read(Draft& draft) { read_delta_decoder(draft, kDefaults); }

}  // namespace

/// Qwen3-Next: gated delta rule and gated attention, with very many small experts.
extern const Family family{
    .name = "qwen3_next", .model_types = {"qwen3_next"}, .class_stems = {"Qwen3Next"}, .read = read};

}  // namespace flopwatt::model::families::qwen3_next
