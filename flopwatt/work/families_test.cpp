// Layers that are not a dense decoder's: latent attention, experts, recurrences, sparse indices, encoders, vision.
#include <gtest/gtest.h>

#include <cmath>

#include "flopwatt/work/testing/architectures.hpp"
#include "flopwatt/work/testing/totals.hpp"

namespace flopwatt::work {
namespace {

using testing::flops_of;
using testing::row_of;
using testing::totals_of;
using units::Count;

Ledger ledger_of(const model::Architecture& model, const Workload& workload) {
  Result<Ledger> ledger = count(model, workload);
  EXPECT_TRUE(ledger.has_value()) << (ledger ? "" : ledger.error().message());
  return ledger ? *std::move(ledger) : Ledger{};
}

// DeepSeek-V3: 61 layers, 128 heads, q and k of 128 + 64, v of 128, latent of 512 and a rotary key of 64.
TEST(LatentAttention, ExpandedInPrefill) {
  const Ledger ledger = ledger_of(testing::deepseek_v3(), {.phase = Phase::prefill, .sequence = 100});
  EXPECT_EQ(flops_of(ledger, "attention.core_mla_expanded"), Count{2} * 128 * (192 + 128) * 100 * 100 * 61);
  EXPECT_EQ(flops_of(ledger, "attention.kv_b"), Count{2} * 100 * 512 * 128 * 256 * 61);
}

TEST(LatentAttention, AbsorbedInDecode) {
  const Ledger ledger = ledger_of(testing::deepseek_v3(), {.phase = Phase::decode, .sequence = 4096});
  // Scores on the latent and the rotary key, values on the latent: 2·128·(576 + 512) a position.
  EXPECT_EQ(flops_of(ledger, "attention.core_mla_absorbed"), Count{2} * 128 * (576 + 512) * 4096 * 61);
  // The up-projection is applied to the one query and result instead of to every cached position.
  EXPECT_EQ(flops_of(ledger, "attention.kv_b_absorbed"), Count{2} * 512 * 128 * 256 * 61);
}

TEST(LatentAttention, TheCacheIsTheLatent) {
  // 61 layers · (512 + 64) · 2 bytes = 70,272 a token
  EXPECT_EQ(kv_cache_bytes_per_token(testing::deepseek_v3(), units::Precision::bfloat16), 70'272);
  const Totals totals = totals_of(testing::deepseek_v3(), {.phase = Phase::decode, .sequence = 1000});
  EXPECT_EQ(totals.bytes[ByteKind::kv_cache], Count{70'272} * 1000);
  // Every tensor-parallel device holds it whole.
  Workload w{.phase = Phase::decode, .sequence = 1000};
  w.parallel.tensor = 8;
  EXPECT_EQ(totals_of(testing::deepseek_v3(), w).bytes[ByteKind::kv_cache], Count{70'272} * 1000);
}

// Mixtral-8x7B: 32 layers, 8 experts of 14336, two of them a token.
TEST(Experts, TopKOfThemCount) {
  const model::Architecture mixtral = testing::mixtral_8x7b();
  const model::Census census = model::census(mixtral);
  // The report's case: 46.70 B in all, 12.88 B active: counting every expert is 3.63 times too much.
  EXPECT_NEAR(census.total.to_double() / 1e9, 46.70, 0.005);
  EXPECT_NEAR(census.active.to_double() / 1e9, 12.88, 0.005);
  EXPECT_NEAR(census.total.to_double() / census.active.to_double(), 3.63, 0.005);
  const Ledger ledger = ledger_of(mixtral, {.phase = Phase::prefill, .sequence = 100});
  EXPECT_EQ(flops_of(ledger, "experts.gate"), Count{2} * 100 * 2 * 4096 * 14336 * 32);
  EXPECT_EQ(flops_of(ledger, "router"), Count{2} * 100 * 4096 * 8 * 32);
  const Row gate = row_of(ledger, "experts.gate");
  EXPECT_EQ(gate.m, 25);  // 200 rows over 8 experts
  EXPECT_EQ(gate.executions, 8 * 32);
}

TEST(Experts, FewTokensReachFewExperts) {
  const model::Architecture mixtral = testing::mixtral_8x7b();
  const auto experts_read = [&](std::int64_t batch) {
    const Ledger ledger = ledger_of(mixtral, {.phase = Phase::decode, .batch = batch, .sequence = 10});
    return row_of(ledger, "experts.up").read(ByteKind::weights);
  };
  const Count expert = Count{4096} * 14336 * 2 * 32;
  EXPECT_EQ(experts_read(1), expert * 2);
  EXPECT_EQ(experts_read(3), expert * 6);
  EXPECT_EQ(experts_read(4), expert * 8);
  EXPECT_EQ(experts_read(100), expert * 8);
}

TEST(Experts, ACapacityFactorPadsOrDrops) {
  const model::Architecture mixtral = testing::mixtral_8x7b();
  Workload w{.phase = Phase::prefill, .sequence = 100};
  const auto row = [&](double factor) {
    w.capacity_factor = factor;
    return row_of(ledger_of(mixtral, w), "experts.gate");
  };
  const Count row_flops = Count{2} * 4096 * 14336 * 32;
  EXPECT_EQ(row(0).hardware_flops, row_flops * 200);
  // 1.25 · 200 / 8 = 31.25: 32 rows an expert are computed, 200 of the 256 are somebody's.
  EXPECT_EQ(row(1.25).hardware_flops, row_flops * 256);
  EXPECT_EQ(row(1.25).model_flops, row_flops * 200);
  // 0.5 · 200 / 8 = 12.5: 13 rows an expert, the other 96 are dropped.
  EXPECT_EQ(row(0.5).hardware_flops, row_flops * 104);
  EXPECT_EQ(row(0.5).model_flops, row_flops * 104);
  w.capacity_factor = std::nan("");
  EXPECT_EQ(count(mixtral, w).error().where, "--capacity-factor");
}

TEST(SparseIndex, ScoresAllKeysAndAttendsToTheBest) {
  model::Architecture model = testing::dense({.layers = 3});
  model.stacks[0].blocks[0].attentions[0].sparse = model::SparseIndex{.heads = 5, .head_dim = 7, .top_k = 4};
  Workload w{.phase = Phase::prefill, .sequence = 10, .mask = MaskConvention::causal};
  const Ledger ledger = ledger_of(model, w);
  // Index: 2·5·7 a causal pair, 55 of them; core: 4·2 heads·4 a pair, 4·5/2 + 6·4 = 34 of them.
  EXPECT_EQ(flops_of(ledger, "attention.index"), Count{2} * 35 * 55 * 3);
  EXPECT_EQ(flops_of(ledger, "attention.core"), Count{4} * 8 * 34 * 3);
  // The cache keeps one index key a position beside K and V: 8 + 7 elements.
  EXPECT_EQ(kv_cache_bytes_per_token(model, units::Precision::bfloat16), Count{8 + 7} * 2 * 3);
  // A decode step at 10 reads 4 positions of K and V and 10 index keys, the new ones included.
  const Totals step = totals_of(model, {.phase = Phase::decode, .sequence = 10});
  EXPECT_EQ(step.bytes[ByteKind::kv_cache], Count{8 * 4 + 7 * 10} * 2 * 3);
}

model::Architecture recurrent(model::Recurrence recurrence) {
  model::Block block{.kind = "recurrence"};
  block.tensors = {testing::norm("norm.weight", 8)};
  block.recurrence = recurrence;
  return testing::finish({block}, {0, 0, 0}, 8, 32, false);
}

TEST(Recurrence, ContractionsWithTheStateAreModelFlops) {
  using Kind = model::Recurrence::Kind;
  const auto a_token = [](model::Recurrence r) {
    const Ledger ledger = ledger_of(recurrent(r), {.phase = Phase::prefill, .sequence = 10});
    return flops_of(ledger, "recurrence") / Count{10 * 3};
  };
  // Update and read-out: 2·2·(channels · state); the delta rule recalls too: 3·2.
  EXPECT_EQ(a_token({.kind = Kind::mamba1, .heads = 1, .head_dim = 16, .state_dim = 4}), 4 * 16 * 4);
  EXPECT_EQ(a_token({.kind = Kind::mamba2, .heads = 4, .head_dim = 8, .state_dim = 16}), 4 * 4 * 8 * 16);
  EXPECT_EQ(a_token({.kind = Kind::rwkv, .heads = 4, .head_dim = 8, .state_dim = 8}), 4 * 4 * 8 * 8);
  EXPECT_EQ(a_token({.kind = Kind::gated_delta, .heads = 4, .head_dim = 8, .state_dim = 16}), 6 * 4 * 8 * 16);
  EXPECT_EQ(a_token({.kind = Kind::short_convolution, .conv_channels = 8, .conv_kernel = 3}), 0);
}

TEST(Recurrence, CountsTheSameAtEveryPosition) {
  const model::Architecture model =
      recurrent({.heads = 1, .head_dim = 16, .state_dim = 4, .conv_channels = 16, .conv_kernel = 4});
  const Totals early = totals_of(model, {.phase = Phase::decode, .sequence = 1});
  const Totals late = totals_of(model, {.phase = Phase::decode, .sequence = 1'000'000});
  EXPECT_EQ(early.forward, late.forward);
  EXPECT_EQ(early.bytes.total, late.bytes.total);
  EXPECT_EQ(kv_cache_bytes_per_token(model, units::Precision::bfloat16), 0);
  // State 16·4 and the last three inputs of 16 channels, read and written by each of three layers.
  EXPECT_EQ(state_bytes_per_sequence(model, units::Precision::bfloat16), (64 + 48) * 2 * 3);
  EXPECT_EQ(early.bytes[ByteKind::kv_cache], Count{(64 + 48) * 2 * 3} * 2);
}

TEST(Recurrence, ConvolutionsAreElementwise) {
  const model::Architecture model =
      recurrent({.kind = model::Recurrence::Kind::short_convolution, .conv_channels = 8, .conv_kernel = 3});
  const Ledger ledger = ledger_of(model, {.phase = Phase::prefill, .sequence = 10});
  EXPECT_EQ(row_of(ledger, "recurrence").elementwise_flops, 10 * 2 * 8 * 3 * 3);
  EXPECT_EQ(row_of(ledger, "recurrence").model_flops, 0);
}

// A small encoder-decoder: 2 encoder layers, 3 decoder layers with cross-attention, width 8.
model::Architecture encoder_decoder(std::int64_t positions) {
  testing::Dense shape{.layers = 3, .hidden = 8, .heads = 2, .kv_heads = 2, .head_dim = 4};
  model::Block block = testing::dense_block(shape);
  testing::Tensor key = testing::product("cross.k", "cross.k", model::Component::attention, 8, 8);
  testing::Tensor value = testing::product("cross.v", "cross.v", model::Component::attention, 8, 8);
  key.rows = value.rows = model::Rows::memory;
  block.tensors.push_back(testing::product("cross.q", "cross.q", model::Component::attention, 8, 8));
  block.tensors.push_back(key);
  block.tensors.push_back(value);
  block.tensors.push_back(testing::product("cross.out", "cross.out", model::Component::attention, 8, 8));
  block.attentions.push_back(
      {.query_heads = 2, .kv_heads = 2, .head_dim = 4, .value_head_dim = 4, .causal = false, .cross = true});
  model::Architecture model = testing::finish({block}, {0, 0, 0}, 8, 32, false);
  model::Stack encoder;
  encoder.role = model::StackRole::encoder;
  encoder.hidden = 8;
  encoder.blocks = {testing::dense_block(shape)};
  encoder.blocks[0].attentions[0].causal = false;
  encoder.layers = {0, 0};
  encoder.block_counts = {2};
  if (positions > 0) encoder.outside.push_back(testing::lookup("encoder.positions", positions, 8));
  model.stacks.push_back(encoder);
  return model;
}

TEST(EncoderDecoder, TheEncoderRunsOnceAndIsAttendedTo) {
  const model::Architecture model = encoder_decoder(0);
  Workload w{.phase = Phase::prefill, .batch = 2, .sequence = 5, .encoder_sequence = 7};
  const Ledger ledger = ledger_of(model, w);
  EXPECT_EQ(flops_of(ledger, "cross.k"), Count{2} * 14 * 64 * 3);
  EXPECT_EQ(flops_of(ledger, "cross.q"), Count{2} * 10 * 64 * 3);
  EXPECT_EQ(flops_of(ledger, "attention.cross_core"), Count{4} * 8 * 5 * 7 * 2 * 3);
  // Self-attention of 3 decoder layers over 5 and of 2 encoder layers over 7 tokens, twice.
  EXPECT_EQ(flops_of(ledger, "attention.core"), Count{4} * 8 * 2 * (3 * 25 + 2 * 49));
  EXPECT_EQ(ledger.tokens(), 10);
}

TEST(EncoderDecoder, DecodeReadsTheEncodersKeysFromTheCache) {
  const model::Architecture model = encoder_decoder(0);
  const Ledger ledger = ledger_of(model, {.phase = Phase::decode, .sequence = 5, .encoder_sequence = 7});
  EXPECT_EQ(flops_of(ledger, "cross.k"), 0);
  EXPECT_EQ(flops_of(ledger, "attention.cross_core"), Count{4} * 8 * 7 * 3);
  // K and V, 16 elements a position: 5 of the decoder and 7 of the encoder, 3 layers.
  EXPECT_EQ(ledger.totals().bytes[ByteKind::kv_cache], Count{16} * (5 + 7) * 2 * 3);
}

TEST(EncoderDecoder, TheEncoderKnowsItsOwnLength) {
  const Workload w{.phase = Phase::prefill, .sequence = 5};
  EXPECT_EQ(flops_of(ledger_of(encoder_decoder(1500), w), "attention.cross_core"), Count{4} * 8 * 5 * 1500 * 3);
  EXPECT_EQ(flops_of(ledger_of(encoder_decoder(0), w), "attention.cross_core"), Count{4} * 8 * 5 * 5 * 3);
}

TEST(EncoderDecoder, EncodeIsTheEncoderAlone) {
  const model::Architecture model = encoder_decoder(1500);
  const Ledger ledger = ledger_of(model, {.phase = Phase::encode, .sequence = 9});
  EXPECT_EQ(flops_of(ledger, "attention.core"), Count{4} * 8 * 81 * 2);
  EXPECT_EQ(ledger.tokens(), 9);
  EXPECT_EQ(ledger.totals().lm_head_forward, 0);
}

TEST(EncoderDecoder, GenerationIsPrefillAndItsDecodeSteps) {
  const model::Architecture model = encoder_decoder(0);
  Workload w{.phase = Phase::generate, .sequence = 4, .new_tokens = 6, .encoder_sequence = 7};
  const Totals all = totals_of(model, w);
  w.phase = Phase::prefill;
  Totals sum = totals_of(model, w);
  w.phase = Phase::decode;
  for (w.sequence = 5; w.sequence <= 9; ++w.sequence) {
    const Totals step = totals_of(model, w);
    sum.forward += step.forward;
    sum.bytes.total += step.bytes.total;
  }
  EXPECT_EQ(all.forward, sum.forward);
  EXPECT_EQ(all.bytes.total, sum.bytes.total);
}

TEST(Encoder, APhaseThatTheModelDoesNotHave) {
  model::Architecture bert = testing::dense({});
  bert.stacks[0].role = model::StackRole::encoder;
  bert.stacks[0].blocks[0].attentions[0].causal = false;
  for (const Phase phase : {Phase::prefill, Phase::decode, Phase::generate}) {
    const auto result = count(bert, {.phase = phase, .sequence = 4, .new_tokens = 2});
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Errc::usage);
    EXPECT_EQ(result.error().where, "--phase");
  }
  EXPECT_EQ(count(testing::dense({}), {.phase = Phase::encode, .sequence = 4}).error().where, "--phase");
  // No causality, no halves: every convention counts the square.
  for (const auto mask : {MaskConvention::full, MaskConvention::causal, MaskConvention::causal_half}) {
    EXPECT_EQ(totals_of(bert, {.phase = Phase::encode, .sequence = 6, .mask = mask}).attention_forward, 4 * 8 * 36);
  }
}

model::Architecture seeing() {
  model::Architecture model = testing::dense({});
  model::Stack vision;
  vision.role = model::StackRole::vision;
  vision.hidden = 12;
  model::Block block{.kind = "attention"};
  block.tensors = {testing::product("vision.qkv", "vision.qkv", model::Component::vision, 12, 36)};
  block.attentions.push_back({.query_heads = 3, .kv_heads = 3, .head_dim = 4, .value_head_dim = 4, .causal = false});
  vision.blocks = {block};
  vision.layers = {0, 0};
  vision.block_counts = {2};
  testing::Tensor merger = testing::product("merger", "merger", model::Component::vision, 48, 8);
  merger.rows_divisor = 4;
  vision.outside = {merger};
  model.stacks.push_back(vision);
  model.vision = model::VisionInput{.patch = 14, .image = 56, .merge = 2, .extra_tokens = 0};
  return model;
}

TEST(Vision, RunsWhereThereAreImages) {
  const model::Architecture model = seeing();
  Workload w{.phase = Phase::prefill, .batch = 2, .sequence = 20};
  EXPECT_EQ(flops_of(ledger_of(model, w), "vision.qkv"), 0);
  w.images = 3;
  // 56/14 squared = 16 patches an image, 6 images: 96 rows; a merger row for four of them.
  Ledger ledger = ledger_of(model, w);
  EXPECT_EQ(flops_of(ledger, "vision.qkv"), Count{2} * 96 * 12 * 36 * 2);
  EXPECT_EQ(flops_of(ledger, "merger"), Count{2} * 24 * 48 * 8);
  EXPECT_EQ(ledger.tokens(), 40);
  w.image_width = 28;
  w.image_height = 84;  // 2·6 = 12 patches
  ledger = ledger_of(model, w);
  EXPECT_EQ(flops_of(ledger, "vision.qkv"), Count{2} * 72 * 12 * 36 * 2);
  // It is seen once, in the prefill.
  w.phase = Phase::decode;
  EXPECT_EQ(flops_of(ledger_of(model, w), "vision.qkv"), 0);
}

// A vision layer of a GPT's shape, its parameters all accounted as vision: 12 wide, MLP of 48.
model::Architecture seeing_like_gpt() {
  using model::Component;
  model::Architecture model = seeing();
  model::Stack& vision = model.stacks.back();
  model::Block block{.kind = "attention+mlp"};
  block.elementwise = {.norm = model::Norm::layer_norm, .activation = model::Activation::gelu};
  const auto norm = [&](const char* name) {
    block.tensors.push_back(testing::vector(name, "norm", Component::vision, model::Use::scale, 12));
  };
  norm("norm1.weight");
  block.tensors.push_back(testing::product("qkv", "attention.qkv", Component::vision, 12, 36));
  block.tensors.push_back(testing::product("out", "attention.out", Component::vision, 12, 12));
  norm("norm2.weight");
  block.tensors.push_back(testing::product("up", "mlp.up", Component::vision, 12, 48));
  block.tensors.push_back(testing::product("down", "mlp.down", Component::vision, 48, 12));
  block.attentions = vision.blocks[0].attentions;
  vision.blocks = {block};
  // Of the 16 patches four make one row here, and a norm over them one of 48.
  testing::Tensor pooled = testing::vector("pooled.weight", "norm", Component::vision, model::Use::scale, 48);
  pooled.rows = model::Rows::patches;
  pooled.rows_divisor = 4;
  vision.outside.push_back(pooled);
  return model;
}

TEST(Vision, ElementwiseWorkOfItsLayers) {
  Workload w{.phase = Phase::prefill, .batch = 2, .sequence = 20, .images = 3};
  const Ledger ledger = ledger_of(seeing_like_gpt(), w);
  const auto vision_row = [&](std::string_view label) {
    for (const Row& row : ledger.rows()) {
      if (row.component == model::Component::vision && row.label == label) return row;
    }
    ADD_FAILURE() << label;
    return Row{};
  };
  // 6 images of 16 patches: 96 rows, 2 layers, 16 bits.  Two norms of 12 (7 FLOPs, one read, one written) and two
  // additions to the residual stream (1 FLOP, two read, one written) a layer; 48 results of gelu (5 FLOPs).
  const Row norms = vision_row("norm+residual");
  EXPECT_EQ(norms.elementwise_flops, 2 * 96 * (7 * 24 + 2 * 12));
  EXPECT_EQ(norms.read(ByteKind::activations), 2 * 96 * (24 + 2 * 24) * 2);
  EXPECT_EQ(norms.written(ByteKind::activations), 2 * 96 * (24 + 2 * 12) * 2);
  EXPECT_EQ(norms.read(ByteKind::weights), 2 * 24 * 2);
  const Row gelu = vision_row("mlp.activation");
  EXPECT_EQ(gelu.elementwise_flops, 2 * 96 * 5 * 48);
  EXPECT_EQ(gelu.read(ByteKind::activations), 2 * 96 * 48 * 2);
  EXPECT_EQ(gelu.written(ByteKind::activations), 2 * 96 * 48 * 2);
  // Outside the layers: 24 rows of 48, normed.
  const Row pooled = vision_row("norm");
  EXPECT_EQ(pooled.elementwise_flops, 24 * 7 * 48);
  EXPECT_EQ(pooled.read(ByteKind::activations), 24 * 48 * 2);
}

TEST(Vision, ActivationsOfItsLayersAreKept) {
  // Korthikanti et al.: 34 bytes a row and channel of a GPT layer without scores.
  Workload w{.batch = 2, .sequence = 20};
  const model::Architecture model = seeing_like_gpt();
  const Count without = memory(model, w)->activations;
  w.images = 3;
  EXPECT_EQ(memory(model, w)->activations - without, 2 * 34 * 12 * 96);
}

TEST(Vision, ImagesWithoutASizeAreRefused) {
  model::Architecture model = seeing();
  model.vision->image.reset();
  EXPECT_EQ(count(model, {.sequence = 4, .images = 1}).error().where, "--image-width");
  EXPECT_EQ(count(model, {.sequence = 4, .image_width = 7, .image_height = 7, .images = 1}).error().where,
            "--image-width");
  model.vision.reset();
  EXPECT_EQ(count(model, {.sequence = 4, .images = 1}).error().where, "--images");
  EXPECT_EQ(count(model, {.sequence = 4, .images = -1}).error().where, "--images");
}

}  // namespace
}  // namespace flopwatt::work
