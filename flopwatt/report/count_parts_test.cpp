#include "flopwatt/report/count_parts.hpp"

#include <gtest/gtest.h>

#include "flopwatt/model/read_config.hpp"

namespace flopwatt::report {
namespace {

/// Two layers, hidden 64, 4 query and 2 key-value heads of 16, MLP 128, vocabulary 100, untied:
///   embedding and head 6400 each; a layer: q 4096, k and v 2048 each, o 4096, MLP 3·8192, two norms of 64; final
///   norm 64. In all 2·6400 + 2·(12 288 + 24 576 + 128) + 64 = 86 848.
answers::Count small_count() {
  constexpr std::string_view kConfig = R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 128, "tie_word_embeddings": false})";
  answers::Count answer;
  answer.architecture = model::read_config(kConfig, "small.json").value();
  answer.census = model::census(answer.architecture);
  answer.workload.sequence = 32;
  answer.ledger = work::count(answer.architecture, answer.workload).value();
  answer.totals = answer.ledger.totals();
  return answer;
}

class Parts : public testing::TestWithParam<CountPart> {};

TEST_P(Parts, SumToTheWhole) {
  const answers::Count answer = small_count();
  ASSERT_EQ(answer.census.total, units::Count{86'848});
  units::Count parameters, flops, bytes;
  bool has_parameters = false, has_flops = false;
  for (const CountRow& row : parts(answer, GetParam())) {
    has_parameters |= row.parameters.has_value();
    has_flops |= row.flops.has_value();
    parameters += row.parameters.value_or(0);
    flops += row.flops.value_or(0);
    bytes += row.bytes.value_or(0);
  }
  EXPECT_TRUE(has_parameters || has_flops);
  EXPECT_EQ(parameters, has_parameters ? answer.census.total : units::Count{});
  EXPECT_EQ(flops, has_flops ? answer.totals.step : units::Count{});
  EXPECT_EQ(bytes, has_flops ? answer.totals.bytes.total : units::Count{});
}

INSTANTIATE_TEST_SUITE_P(Every, Parts,
                         testing::Values(CountPart::component, CountPart::layer, CountPart::operators,
                                         CountPart::tensor),
                         [](const auto& cut) { return std::string{name(cut.param)}; });

TEST(PartsByLayer, JoinsLayersThatAreAlike) {
  const auto rows = parts(small_count(), CountPart::layer);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.front().name, "layers 0–1");
  EXPECT_EQ(rows.front().parameters, units::Count{2 * 36'992});
}

TEST(PartsByTensor, NumbersTheLayers) {
  bool found = false;
  for (const CountRow& row : parts(small_count(), CountPart::tensor)) {
    if (row.name != "model.layers.1.self_attn.k_proj.weight") continue;
    found = true;
    EXPECT_EQ(row.detail, "[32, 64]");
    EXPECT_EQ(row.parameters, units::Count{2048});
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace flopwatt::report
