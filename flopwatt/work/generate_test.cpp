// Generation in closed form, against the sum of the passes it stands for and against a published derivation.
#include <gtest/gtest.h>

#include "flopwatt/work/testing/architectures.hpp"
#include "flopwatt/work/testing/totals.hpp"
#include "flopwatt/work/traffic.hpp"

namespace flopwatt::work {
namespace {

using testing::totals_of;
using units::Count;

const model::Architecture& qwen() {
  static const model::Architecture architecture = testing::dense(testing::kQwen25_1B5);
  return architecture;
}

Workload generate(std::int64_t prompt, std::int64_t tokens, bool cache) {
  return {.phase = Phase::generate, .sequence = prompt, .new_tokens = tokens, .kv_cache = cache};
}

// Qwen2.5-1.5B without a cache, P = 4096, N = 256, as derived in the source: every body parameter a product, attention
// S²/2.  Passes over n = P … P + N − 1 tokens: Σn = 256·4096 + 256·255/2 = 1,081,216;
// Σn² = 256·4096² + 2·4096·32,640 + 255·256·511/6 = 4,294,967,296 + 267,386,880 + 5,559,680 = 4,567,913,856.
TEST(Generate, WithoutACacheAsPublished) {
  Workload w = generate(4096, 256, false);
  w.mask = MaskConvention::causal_half;
  w.body = BodyCount::parameters;
  const Totals totals = totals_of(qwen(), w);
  EXPECT_EQ(totals.body_forward, Count{2} * 1'310'340'608 * 1'081'216);  // 2,833.52 TF
  EXPECT_EQ(totals.lm_head_forward, Count{466'747'392} * 256);           // 0.12 TF
  EXPECT_EQ(totals.attention_forward, Count{86'016} * 4'567'913'856);    // 392.91 TF
  EXPECT_NEAR(totals.body_forward.to_double() / 1e12, 2833.52, 0.005);
  EXPECT_NEAR(totals.lm_head_forward.to_double() / 1e12, 0.12, 0.005);
  EXPECT_NEAR(totals.attention_forward.to_double() / 1e12, 392.91, 0.005);
  EXPECT_NEAR(totals.forward.to_double() / 1e12, 3226.56, 0.005);
  EXPECT_NEAR(totals.forward.to_double() / 71.15 / 125e12, 0.3628, 0.00005);  // on an A10's 125 TFLOP/s
  EXPECT_EQ(totals.tokens, 256);
}

TEST(Generate, AShortPromptAsPublished) {
  Workload w = generate(16, 256, false);
  w.mask = MaskConvention::causal_half;
  w.body = BodyCount::parameters;
  const Totals totals = totals_of(qwen(), w);
  EXPECT_NEAR(totals.forward.to_double() / 1e12, 96.97, 0.005);
  EXPECT_NEAR(totals.forward.to_double() / 5.61 / 125e12, 0.1383, 0.00005);
}

TEST(Generate, TheDefaultsCountProductsAndTheWholeSquare) {
  const Totals totals = totals_of(qwen(), generate(4096, 256, false));
  EXPECT_NEAR(totals.body_forward.to_double() / 1e12, 2833.2, 0.05);
  EXPECT_EQ(totals.attention_forward, Count{172'032} * 4'567'913'856);
}

TEST(Generate, WithoutACacheIsTheSumOfItsPasses) {
  for (const auto mask : {MaskConvention::full, MaskConvention::causal, MaskConvention::causal_half}) {
    Workload w = generate(5, 7, false);
    w.mask = mask;
    const Totals all = totals_of(qwen(), w);
    Count flops;
    Count hardware;
    Bytes bytes;
    for (std::int64_t n = 5; n < 12; ++n) {
      Workload pass{.phase = Phase::prefill, .sequence = n, .mask = mask};
      const Totals one = totals_of(qwen(), pass);
      flops += one.forward;
      hardware += one.hardware_step;
      bytes.total += one.bytes.total - one.bytes[ByteKind::kv_cache];  // nothing is kept
    }
    EXPECT_EQ(all.forward, flops);
    EXPECT_EQ(all.hardware_step, hardware);
    EXPECT_EQ(all.bytes.total, bytes.total);
  }
}

TEST(Generate, WithACacheIsPrefillAndItsDecodeSteps) {
  // Including windows, chunks, experts and latent attention.
  std::vector<model::Architecture> models{qwen(), testing::mixtral_8x7b(), testing::deepseek_v3()};
  models.push_back(testing::dense({}));
  models.back().stacks[0].blocks[0].attentions[0].window = 6;
  models.push_back(testing::dense({}));
  models.back().stacks[0].blocks[0].attentions[0].chunk = 4;
  for (const model::Architecture& model : models) {
    for (const std::int64_t tokens : {1, 2, 9}) {
      const Totals all = totals_of(model, generate(5, tokens, true));
      Totals sum = totals_of(model, {.phase = Phase::prefill, .sequence = 5});
      for (std::int64_t j = 1; j < tokens; ++j) {
        const Totals step = totals_of(model, {.phase = Phase::decode, .sequence = 5 + j});
        sum.forward += step.forward;
        sum.hardware_step += step.hardware_step;
        sum.bytes.total += step.bytes.total;
        sum.attention_forward += step.attention_forward;
      }
      EXPECT_EQ(all.forward, sum.forward);
      EXPECT_EQ(all.attention_forward, sum.attention_forward);
      EXPECT_EQ(all.hardware_step, sum.hardware_step);
      EXPECT_EQ(all.bytes.total, sum.bytes.total);
    }
  }
}

TEST(Generate, BytesOfAMeanDecodeStep) {
  // W = 2·1,543,714,304 = 3,087,428,608; mean context of steps 1 … N − 1 is P + N/2.
  const auto traffic = weight_traffic(qwen(), generate(4096, 256, true));
  ASSERT_TRUE(traffic.has_value());
  EXPECT_EQ(traffic->weights, 3'087'428'608);
  EXPECT_EQ(traffic->decode_steps, 255);
  EXPECT_EQ(traffic->cache, Count{28'672} * 255 * (4096 + 128));
  EXPECT_DOUBLE_EQ(*traffic->decode_step_mean, 3'087'428'608.0 + (4096 + 128) * 28'672.0);
  EXPECT_EQ(traffic->total, traffic->weights * 256 + traffic->cache);
}

TEST(Generate, OneTokenHasNoDecodeStep) {
  const auto traffic = weight_traffic(qwen(), generate(16, 1, true));
  ASSERT_TRUE(traffic.has_value());
  EXPECT_EQ(traffic->decode_steps, 0);
  EXPECT_FALSE(traffic->decode_step_mean.has_value());
  EXPECT_EQ(traffic->total, 3'087'428'608);
}

TEST(Generate, RaggedPromptsAddUp) {
  Workload ragged{.phase = Phase::generate, .new_tokens = 4, .sequence_lengths = {3, 9, 1}};
  Count sum;
  for (const std::int64_t prompt : {3, 9, 1}) sum += totals_of(qwen(), generate(prompt, 4, true)).forward;
  EXPECT_EQ(totals_of(qwen(), ragged).forward, sum);
  ragged.kv_cache = false;
  sum = 0;
  for (const std::int64_t prompt : {3, 9, 1}) sum += totals_of(qwen(), generate(prompt, 4, false)).forward;
  EXPECT_EQ(totals_of(qwen(), ragged).forward, sum);
}

TEST(Generate, ABoundedWindowBoundsTheCacheThatAStepReads) {
  model::Architecture model = testing::dense({});
  model.stacks[0].blocks[0].attentions[0].window = 6;
  const auto cache = [&](std::int64_t context) {
    return totals_of(model, {.phase = Phase::decode, .sequence = context}).bytes[ByteKind::kv_cache];
  };
  const Count position = kv_cache_bytes_per_token(model, units::Precision::bfloat16);
  EXPECT_EQ(cache(4), position * 4);
  EXPECT_EQ(cache(6), position * 6);
  EXPECT_EQ(cache(1000), position * 6);
}

}  // namespace
}  // namespace flopwatt::work
