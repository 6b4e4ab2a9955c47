#include "flopwatt/model/latent_decoder.hpp"

namespace flopwatt::model::families::deepseek_v3 {
namespace {

/// DeepseekV3Config's defaults: the shape of DeepSeek-V3.
constexpr LatentDecoder kDefaults{
    .vocabulary = 129280,
    .hidden = 7168,
    .layers = 61,
    .heads = 128,
    .ffn = 18432,
    .ranks = {.query_rank = 1536, .kv_rank = 512, .nope_dim = 128, .rope_dim = 64, .value_dim = 128},
    .experts = 256,
    .expert_width = 2048,
    .shared_experts = 1,
    .dense_layers = 3,
    .top_k = 8};

void read(Draft& draft) { read_latent_decoder(draft, kDefaults); }

}  // namespace

/// DeepSeek-V3 and R1 (arXiv 2412.19437), and Kimi K2 (arXiv 2507.20534) in the same shape with more experts.
extern const Family family{
    .name = "deepseek_v3", .model_types = {"deepseek_v3", "kimi_k2"}, .class_stems = {"DeepseekV3"}, .read = read};

}  // namespace flopwatt::model::families::deepseek_v3
