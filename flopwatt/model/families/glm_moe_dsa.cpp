#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "flopwatt/model/latent_decoder.hpp"

namespace flopwatt::model::families::glm_moe_dsa {
namespace {

/// GlmMoeDsaConfig's defaults: the shape of GLM-5.
constexpr LatentDecoder kDefaults{
    .vocabulary = 154880,
    .hidden = 6144,
    .layers = 78,
    .heads = 64,
    .ffn = 12288,
    .ranks = {.query_rank = 2048, .kv_rank = 512, .nope_dim = 192, .rope_dim = 64, .value_dim = 256},
    .experts = 256,
    .expert_width = 2048,
    .shared_experts = 1,
    .dense_layers = 3,
    .top_k = 8};

/// Which layers have an index: the others take the keys that the last one before them has picked.
std::vector<bool> indexing_layers(const ConfigReader& config, std::int64_t layers) {
  std::vector<bool> own(static_cast<std::size_t>(layers), true);
  std::vector<std::string> types = config.texts("indexer_types");
  if (types.empty() && config.has("index_topk_pattern")) {
    for (const char letter : config.text("index_topk_pattern", "")) types.push_back(letter == 'F' ? "full" : "shared");
  }
  if (!types.empty()) {
    if (types.size() != own.size()) {
      config.fail("indexer_types", fmt::format("has {} entries for {} layers", types.size(), layers));
      return own;
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      own[i] = types[i] == "full";
      config.require(own[i] || types[i] == "shared", "indexer_types", "names neither 'full' nor 'shared'");
    }
    return own;
  }
  const std::int64_t step = std::max<std::int64_t>(1, config.count("index_topk_freq", 1));
  const std::int64_t offset = config.count("index_skip_topk_offset", 2);
  for (std::int64_t i = 0; i < layers; ++i) {
    own[static_cast<std::size_t>(i)] = std::max<std::int64_t>(i - offset + 1, 0) % step == 0;
  }
  return own;
}

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const SparseIndex index = read_sparse_index(config, {.heads = 32, .head_dim = 128, .top_k = 2048});
  const std::int64_t layers = config.layers("num_hidden_layers", kDefaults.layers);
  LayerIndexes indexes(static_cast<std::size_t>(layers), index);
  const std::vector<bool> own = indexing_layers(config, layers);
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    if (!own[i]) indexes[i].heads = 0;
  }
  read_latent_decoder(draft, kDefaults, indexes);
}

}  // namespace

/// GLM-5: DeepSeek-V3.2's layers, of which some share the index of an earlier one.
extern const Family family{
    .name = "glm_moe_dsa", .model_types = {"glm_moe_dsa"}, .class_stems = {"GlmMoeDsa"}, .read = read};

}  // namespace flopwatt::model::families::glm_moe_dsa
