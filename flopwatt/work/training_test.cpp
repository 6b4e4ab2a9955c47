// Which passes training runs: backward rules, frozen weights, recompute.
#include <gtest/gtest.h>

#include "flopwatt/work/adapters.hpp"
#include "flopwatt/work/testing/architectures.hpp"
#include "flopwatt/work/testing/totals.hpp"

namespace flopwatt::work {
namespace {

using testing::totals_of;
using units::Count;

const model::Architecture& llama() {
  static const model::Architecture architecture = testing::dense(testing::kLlama2_7B);
  return architecture;
}

TEST(Training, ALinearLayerCountsTwoAMultiplyAdd) {
  // facebookresearch/fvcore#69: Linear(1000, 1000), batch 1: 1,000,000 multiply-adds, 2,000,000 FLOPs
  model::Architecture model = testing::dense({});
  model.stacks[0].blocks[0].tensors = {testing::product("layer.weight", "mlp.up", model::Component::mlp, 1000, 1000)};
  const Result<Ledger> ledger = count(model, {.phase = Phase::prefill, .sequence = 1});
  const Row row = testing::row_of(*ledger, "mlp.up");
  EXPECT_EQ(row.model_flops, 2'000'000);
  EXPECT_EQ(row.m, 1);
  EXPECT_EQ(row.k, 1000);
  EXPECT_EQ(row.n, 1000);
}

TEST(Training, ForwardIsBelowBackwardIsAtMostTwice) {
  for (const model::Architecture& model : {llama(), testing::mixtral_8x7b(), testing::deepseek_v3()}) {
    const Totals totals = totals_of(model, {.batch = 2, .sequence = 128});
    EXPECT_LE(totals.forward, totals.backward);
    EXPECT_LE(totals.backward, totals.forward * 2);
  }
}

TEST(Training, LinearInTheBatch) {
  for (const model::Architecture& model : {llama(), testing::mixtral_8x7b(), testing::deepseek_v3()}) {
    const Totals one = totals_of(model, {.batch = 1, .sequence = 96});
    const Totals seven = totals_of(model, {.batch = 7, .sequence = 96});
    EXPECT_EQ(seven.step, one.step * 7);
    EXPECT_EQ(seven.hardware_step, one.hardware_step * 7);
    EXPECT_EQ(seven.bytes[ByteKind::activations], one.bytes[ByteKind::activations] * 7);
    const auto elementwise = [&](std::int64_t batch) {
      return totals_of(model, {.phase = Phase::prefill, .batch = batch, .sequence = 96}).elementwise;
    };
    EXPECT_EQ(elementwise(7), elementwise(1) * 7);
  }
}

TEST(Training, PackedSequencesAreLinearInTheirParts) {
  const Totals packed = totals_of(llama(), {.sequence_lengths = {1024, 1024, 2048}});
  const Count parts =
      totals_of(llama(), {.batch = 2, .sequence = 1024}).step + totals_of(llama(), {.batch = 1, .sequence = 2048}).step;
  EXPECT_EQ(packed.step, parts);
  EXPECT_EQ(packed.tokens, 4096);
}

// Llama-2-7B, 4096 tokens.  Products of the blocks: 32·(4·4096² + 3·4096·11008) = 6,476,005,376; head 131,072,000.
TEST(Training, AdaptersFreezeTheWeightsTheyStandBeside) {
  Workload w{.sequence = 4096};
  w.trainable = *parse_trainable("lora:r=16,targets=q_proj,v_proj");
  const Totals totals = totals_of(llama(), w);
  const Count attention = Count{4} * 32 * 4096 * 4096 * 4096;
  // A and B beside q and v: 2·16·(4096 + 4096)·32 parameters
  const Count adapters = 8'388'608;
  EXPECT_EQ(trained_parameters(llama(), w.trainable), adapters);
  const Count products = 6'476'005'376 + 131'072'000;
  const Count forward = Count{2} * (products + adapters) * 4096 + attention;
  EXPECT_EQ(totals.forward, forward);
  // Frozen products have their activation gradient only; adapters and attention both.
  EXPECT_EQ(totals.backward, Count{2} * products * 4096 + Count{4} * adapters * 4096 + attention * 2);
  // NVIDIA-NeMo/Megatron-Bridge#2571: 4N and not 6N.  4·6.738e9·4096 = 110.4 TF by that formula; without the
  // embedding, which is no product, the ledger has 108.25 TF, adapters and attention apart.
  EXPECT_NEAR((Count{4} * products * 4096).to_double() / 1e12, 108.25, 0.005);
  EXPECT_NEAR(4 * 6'738'415'616.0 * 4096 / 1e12, 110.4, 0.05);
}

TEST(Training, NothingBeforeTheFirstTrainedLayerHasABackwardPass) {
  // Two kinds of layer, adapters on the one that stands second: the first runs forward only.
  model::Architecture model =
      testing::finish({testing::dense_block({}), testing::dense_block({})}, {0, 1, 0, 1}, 8, 32, false);
  for (model::Tensor& tensor : model.stacks[0].blocks[1].tensors) {
    if (tensor.label == "mlp.up") tensor.name = "model.layers.{layer}.mlp.special.weight";
  }
  Workload w{.sequence = 4, .kernel = Kernel::flash};
  w.trainable = *parse_trainable("lora:r=1,targets=special");
  const Result<Ledger> ledger = count(model, w);
  ASSERT_TRUE(ledger.has_value());
  const Count forward = testing::flops_of(*ledger, "attention.core");
  const Count backward = testing::flops_of(*ledger, "attention.core", Pass::backward);
  EXPECT_EQ(backward * 2, forward * 3);  // three of four layers, each twice
}

TEST(Training, TrainingTheHeadAlone) {
  Workload w{.sequence = 64};
  w.trainable = *parse_trainable("head");
  const Totals totals = totals_of(llama(), w);
  // Nothing before the head is trained, so that nobody asks for the gradient of its input: [k × m]·[m × n] alone.
  EXPECT_EQ(totals.backward, Count{2} * 131'072'000 * 64);
  EXPECT_EQ(totals.bytes[ByteKind::gradients], Count{131'072'000} * 2 * 2);
  const Ledger ledger = *count(llama(), w);
  const Row head = testing::row_of(ledger, "lm_head", Pass::backward);
  EXPECT_TRUE(head.weight_gradient);
  EXPECT_FALSE(head.activation_gradient);
  EXPECT_EQ(head.executions, 1);
  // Reads its input and the logits' gradient, writes the weight's gradient; neither weights nor an input's gradient.
  EXPECT_EQ(head.read(ByteKind::weights), 0);
  EXPECT_EQ(head.read(ByteKind::activations), 64 * 4096 * 2);
  EXPECT_EQ(head.written(ByteKind::activations), 0);
  EXPECT_EQ(head.read(ByteKind::logits), 64 * 32'000 * 2);
  // Neither a layer nor the last norm has a backward pass; the loss has.
  for (const Row& row : ledger.rows()) {
    if (row.pass != Pass::backward) continue;
    EXPECT_EQ(row.component, model::Component::lm_head) << row.label;
  }
  // Kept for it: the head's input.
  EXPECT_EQ(memory(llama(), w)->activations, 64 * 4096 * 2);
}

TEST(Training, ATiedHeadIsTheEmbedding) {
  // Its gradient comes from below all layers: they all pass it on.
  const model::Architecture qwen = testing::dense(testing::kQwen25_1B5);
  Workload w{.sequence = 64};
  w.trainable = *parse_trainable("head");
  const Totals totals = totals_of(qwen, w);
  const Count attention = Count{172'032} * 64 * 64;
  EXPECT_EQ(totals.backward, Count{2} * 1'310'195'712 * 64 + Count{4} * 233'373'696 * 64 + attention * 2);
}

TEST(Training, NothingTrainedIsAForwardPass) {
  Workload w{.sequence = 64};
  w.trainable = *parse_trainable("none");
  const Totals totals = totals_of(llama(), w);
  EXPECT_EQ(totals.backward, 0);
  EXPECT_EQ(totals.bytes[ByteKind::optimizer], 0);
  EXPECT_EQ(totals.bytes[ByteKind::gradients], 0);
}

TEST(Training, WordsOfTheTrainableOption) {
  EXPECT_EQ(parse_trainable("lora:r=8,targets=q_proj+v_proj,o_proj")->lora_targets,
            (std::vector<std::string>{"q_proj", "v_proj", "o_proj"}));
  EXPECT_EQ(parse_trainable("lora:targets=a,r=8")->lora_rank, 8);
  for (const char* text : {"", "lora", "lora:", "lora:r=0", "lora:r=-1", "lora:r=x", "lora:rank=8", "lora:r=8,q_proj",
                           "lora:r=8,targets=", "heads", "lora:r=99999999999999999999"}) {
    const auto parsed = parse_trainable(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, Errc::usage);
    EXPECT_EQ(parsed.error().where, "--trainable");
  }
}

TEST(Training, AnUnknownTargetIsRefusedWithThoseThereAre) {
  Workload w{.sequence = 64};
  w.trainable = *parse_trainable("lora:r=8,targets=query");
  const auto result = count(llama(), w);
  ASSERT_FALSE(result.has_value());
  EXPECT_NE(result.error().remedy.find("q_proj"), std::string::npos);
}

TEST(Training, FullRecomputeRunsTheBlocksOnceMore) {
  // meta-llama/llama-cookbook#740: model FLOPs stay 3F, the hardware runs 4F of the blocks and 3F of the head.
  Workload w{.batch = 1, .sequence = 256, .kernel = Kernel::eager};
  const Totals plain = totals_of(llama(), w);
  w.recompute = Recompute::full;
  const Totals full = totals_of(llama(), w);
  const Count head = Count{2} * 131'072'000 * 256;
  EXPECT_EQ(full.step, plain.step);
  EXPECT_EQ(plain.hardware_step, plain.forward * 3);
  EXPECT_EQ(full.hardware_step, (plain.forward - head) * 4 + head * 3);
}

TEST(Training, RecomputeOfSomeLayersOrOfTheAttentionCore) {
  Workload w{.batch = 1, .sequence = 256};
  const Count plain = totals_of(llama(), w).hardware_step;
  w.recompute = Recompute::full;
  const Count all_layers = totals_of(llama(), w).hardware_step - plain;
  w.recompute_layers = 8;
  EXPECT_EQ(totals_of(llama(), w).hardware_step - plain, all_layers / Count{4});  // 8 of 32 layers
  w.recompute_layers.reset();
  w.recompute = Recompute::selective;
  // The pairs that the kernel visits: 256·257/2
  EXPECT_EQ(totals_of(llama(), w).hardware_step - plain, Count{4} * 32 * 4096 * (256 * 257 / 2));
}

TEST(Training, SelectiveRecomputeTakesNoNumberOfLayers) {
  Workload w{.sequence = 8};
  w.recompute = Recompute::selective;
  w.recompute_layers = 2;
  EXPECT_EQ(count(llama(), w).error().where, "--recompute-layers");
  w.recompute = Recompute::full;
  w.recompute_layers = 33;
  EXPECT_EQ(count(llama(), w).error().where, "--recompute-layers");
}

}  // namespace
}  // namespace flopwatt::work
