#include "flopwatt/work/quantized_weights.hpp"

#include <gtest/gtest.h>

#include "flopwatt/work/testing/architectures.hpp"
#include "flopwatt/work/testing/totals.hpp"

namespace flopwatt::work {
namespace {

using units::Count;

std::int64_t kept(std::vector<std::string> patterns, std::string_view name) {
  const std::vector<std::uint16_t> layers{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};  // one layer of another kind first
  return unquantized_layers(patterns, name, layers, 1);
}

TEST(QuantizedWeights, PatternsNameModulesLayersOrAll) {
  constexpr std::string_view kQuery = "model.layers.{layer}.self_attn.q_proj.weight";
  EXPECT_EQ(kept({}, kQuery), 0);
  EXPECT_EQ(kept({"lm_head"}, kQuery), 0);
  EXPECT_EQ(kept({"self_attn"}, kQuery), 11);
  EXPECT_EQ(kept({"model.layers.*.self_attn"}, kQuery), 11);
  EXPECT_EQ(kept({"re:.*self_attn.*"}, kQuery), 11);
  EXPECT_EQ(kept({"re:^model\\.layers\\..*\\.self_attn\\.q_proj$"}, kQuery), 11);
  EXPECT_EQ(kept({"model.layers.3.self_attn.q_proj"}, kQuery), 1);
  EXPECT_EQ(kept({"model.layers.3.self_attn.q_proj", "model.layers.3.self_attn"}, kQuery), 1);
  EXPECT_EQ(kept({"model.layers.0.self_attn.q_proj"}, kQuery), 0);   // not a layer of this block
  EXPECT_EQ(kept({"model.layers.99.self_attn.q_proj"}, kQuery), 0);  // not a layer at all
  EXPECT_EQ(kept({"model.layers.1", "model.layers.11"}, kQuery), 2);
  EXPECT_EQ(kept({"attn"}, kQuery), 0);  // a part of a name starts where the name does
}

TEST(QuantizedWeights, SharedScalesAddToTheBits) {
  const auto bits = [](const model::Quantization& q) {
    const StoredBits b = stored_bits(q);
    return static_cast<double>(b.bits) / static_cast<double>(b.per_weights);
  };
  using units::Precision;
  EXPECT_DOUBLE_EQ(bits({.method = "fp8", .precision = Precision::fp8, .block_size = {128, 128}}), 8 + 32.0 / 16384);
  EXPECT_DOUBLE_EQ(bits({.method = "mxfp4", .precision = Precision::fp4, .group_size = 32}), 4.25);
  EXPECT_DOUBLE_EQ(bits({.method = "gptq", .precision = Precision::int4, .group_size = 128}), 4 + 20.0 / 128);
  EXPECT_DOUBLE_EQ(bits({.method = "fbgemm_fp8", .precision = Precision::fp8}), 8);
}

TEST(QuantizedWeights, ChangeBytesInInferenceAndNothingElse) {
  model::Architecture model = testing::dense(testing::kLlama2_7B);
  const Totals plain = testing::totals_of(model, {.phase = Phase::decode, .sequence = 100});
  const Count plain_training = memory(model, {.sequence = 8})->weights;
  model.quantization = model::Quantization{
      .method = "awq", .precision = units::Precision::int4, .group_size = 128, .not_converted = {"lm_head"}};
  const Totals quantized = testing::totals_of(model, {.phase = Phase::decode, .sequence = 100});
  EXPECT_EQ(quantized.forward, plain.forward);
  EXPECT_EQ(quantized.bytes[ByteKind::kv_cache], plain.bytes[ByteKind::kv_cache]);
  // The products of the blocks: 4 bits and 20/128 of a bit where there were 16.
  const Count products = 6'476'005'376;
  const Count stored = products * (4 * 128 + 20) / Count{128 * 8};
  EXPECT_EQ(plain.bytes[ByteKind::weights] - quantized.bytes[ByteKind::weights], products * 2 - stored);
  EXPECT_EQ(memory(model, {.phase = Phase::decode, .sequence = 8})->weights, plain_training - products * 2 + stored);
  // Training everything needs the weights themselves; adapters may stand beside quantised ones.
  EXPECT_EQ(memory(model, {.sequence = 8})->weights, plain_training);
  Workload adapters{.sequence = 8};
  adapters.trainable = *parse_trainable("lora:r=16,targets=q_proj");
  EXPECT_EQ(memory(model, adapters)->weights,
            plain_training - products * 2 + stored + Count{16} * (4096 + 4096) * 32 * 2);
}

TEST(QuantizedWeights, AnAskedPrecisionGoesFirst) {
  model::Architecture model = testing::dense(testing::kLlama2_7B);
  model.quantization = model::Quantization{.method = "fp8", .precision = units::Precision::fp8};
  Workload w{.phase = Phase::decode, .sequence = 8};
  w.weight_precision = units::Precision::bfloat16;
  EXPECT_EQ(memory(model, w)->weights, model::census(model).total * 2);
}

}  // namespace
}  // namespace flopwatt::work
