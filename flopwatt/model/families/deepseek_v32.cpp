#include "flopwatt/model/latent_decoder.hpp"

namespace flopwatt::model::families::deepseek_v32 {
namespace {

/// DeepseekV32Config's defaults: the shape of DeepSeek-V3.2.
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

void read(Draft& draft) {
  const SparseIndex index = read_sparse_index(draft.config, {.heads = 64, .head_dim = 128, .top_k = 2048});
  const std::int64_t layers = draft.config.layers("num_hidden_layers", kDefaults.layers);
  read_latent_decoder(draft, kDefaults, LayerIndexes(static_cast<std::size_t>(layers), index));
}

}  // namespace

/// DeepSeek-V3.2: V3 in which an index of its own picks the keys that each query attends to.
extern const Family family{
    .name = "deepseek_v32", .model_types = {"deepseek_v32"}, .class_stems = {"DeepseekV32"}, .read = read};

}  // namespace flopwatt::model::families::deepseek_v32
