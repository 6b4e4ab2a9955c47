#include "flopwatt/model/latent_decoder.hpp"

namespace flopwatt::model::families::deepseek_v2 {
namespace {

/// DeepseekV2Config's defaults.
constexpr LatentDecoder kDefaults{
    .vocabulary = 102400,
    .hidden = 4096,
    .layers = 32,
    .heads = 32,
    .ffn = 11008,
    .ranks = {.query_rank = 1536, .kv_rank = 512, .nope_dim = 128, .rope_dim = 64, .value_dim = 128},
    .experts = 64,
    .expert_width = 1407,
    .shared_experts = 2,
    .dense_layers = 0,
    .selection_bias = false};

void read(Draft& draft) { read_latent_decoder(draft, kDefaults); }

}  // namespace

/// DeepSeek-V2 and V2-Lite (arXiv 2405.04434).
extern const Family family{
    .name = "deepseek_v2", .model_types = {"deepseek_v2"}, .class_stems = {"DeepseekV2"}, .read = read};

}  // namespace flopwatt::model::families::deepseek_v2
