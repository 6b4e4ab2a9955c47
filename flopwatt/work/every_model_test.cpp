// The same laws for every model that can be read: the catalogue's, and the real config files where they are at hand.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "flopwatt/model/catalogue.hpp"
#include "flopwatt/model/read_config.hpp"
#include "flopwatt/work/formula.hpp"
#include "flopwatt/work/testing/totals.hpp"
#include "flopwatt/work/traffic.hpp"

namespace flopwatt::work {
namespace {

using testing::totals_of;
using units::Count;

std::vector<model::Architecture> all_models() {
  std::vector<model::Architecture> models;
  const model::Catalogue catalogue = model::Catalogue::builtin();
  for (const model::Catalogue::Entry& entry : catalogue.entries()) {
    Result<model::Architecture> model = catalogue.find(entry.name);
    if (model) models.push_back(*std::move(model));
  }
  const std::filesystem::path configs = std::filesystem::path{FLOPWATT_SHARED} / "models" / "configs";
  if (!std::string_view{FLOPWATT_SHARED}.empty() && std::filesystem::is_directory(configs)) {
    for (const auto& file : std::filesystem::directory_iterator{configs}) {
      std::ifstream in{file.path(), std::ios::binary};
      const std::string text{std::istreambuf_iterator<char>{in}, {}};
      Result<model::Architecture> model = model::read_config(text, file.path().string());
      if (model) models.push_back(*std::move(model));
    }
  }
  return models;
}

bool is_decoder(const model::Architecture& model) { return model.text().role == model::StackRole::decoder; }
bool has_encoder(const model::Architecture& model) {
  for (const model::Stack& stack : model.stacks) {
    if (stack.role == model::StackRole::encoder || stack.role == model::StackRole::audio) return true;
  }
  return false;
}

// The forward FLOPs of the text stack over `tokens` of one sequence, layer by layer, from the definition.
Count forward_by_layers(const model::Architecture& model, std::int64_t tokens) {
  const model::Stack& text = model.text();
  Count flops;
  const auto add = [&](const model::Tensor& tensor, const model::Block* block) {
    if (tensor.use != model::Use::product) return;
    Count rows = tokens;
    if (tensor.rows == model::Rows::sequences) rows = 1;
    if (tensor.rows == model::Rows::routed) rows = Count{tokens} * block->routing->top_k;
    rows = (rows + tensor.rows_divisor - 1) / Count{tensor.rows_divisor};
    flops += Count{2} * rows * tensor.k * tensor.n;
  };
  for (const model::Tensor& tensor : text.outside) add(tensor, nullptr);
  for (const std::uint16_t layer : text.layers) {
    const model::Block& block = text.blocks[layer];
    for (const model::Tensor& tensor : block.tensors) add(tensor, &block);
    for (const model::Attention& a : block.attentions) {
      for (std::int64_t query = 0; query < tokens; ++query) {
        std::int64_t keys = tokens;
        if (a.window) keys = std::min(keys, *a.window);
        if (a.chunk) keys = std::min(*a.chunk, tokens - query / *a.chunk * *a.chunk);
        if (a.sparse) keys = std::min(keys, a.sparse->top_k);
        flops += Count{2} * a.query_heads * (Count{a.head_dim} + a.value_head_dim) * keys;
        if (a.sparse) flops += Count{2} * a.sparse->heads * a.sparse->head_dim * tokens;
      }
    }
    if (block.recurrence && block.recurrence->kind != model::Recurrence::Kind::short_convolution) {
      const model::Recurrence& r = *block.recurrence;
      const bool delta = r.kind == model::Recurrence::Kind::gated_delta;
      flops += Count{delta ? 6 : 4} * r.heads * r.head_dim * r.state_dim * tokens;
    }
  }
  return flops;
}

TEST(EveryModel, ForwardEqualsAWalkOverItsLayers) {
  for (const model::Architecture& model : all_models()) {
    if (has_encoder(model) && is_decoder(model)) continue;
    for (const std::int64_t tokens : {1, 37, 5000}) {
      EXPECT_EQ(totals_of(model, {.sequence = tokens}).forward, forward_by_layers(model, tokens)) << model.name;
    }
  }
}

TEST(EveryModel, TrainingStepsKeepTheirLaws) {
  for (const model::Architecture& model : all_models()) {
    const model::Census census = model::census(model);
    const StepCount step = *count_step(model, {.batch = 2, .sequence = 64});
    EXPECT_EQ(step.totals.backward, step.totals.forward * 2) << model.name;
    EXPECT_EQ(step.memory.weights, census.total * 2) << model.name;
    EXPECT_EQ(step.memory.gradients, census.total * 2) << model.name;
    EXPECT_EQ(step.memory.optimizer, census.total * 8) << model.name;
    EXPECT_GT(step.memory.activations, 0) << model.name;
    const Row& update = step.ledger.rows().back();
    EXPECT_EQ(update.read(ByteKind::gradients), census.total * 2) << model.name;
    EXPECT_EQ(totals_of(model, {.batch = 6, .sequence = 64}).step, step.totals.step * 3) << model.name;
  }
}

TEST(EveryModel, GenerationIsPrefillAndItsDecodeSteps) {
  for (const model::Architecture& model : all_models()) {
    if (!is_decoder(model)) continue;
    Workload w{.phase = Phase::generate, .batch = 3, .sequence = 9, .new_tokens = 5, .encoder_sequence = 4};
    const Totals all = totals_of(model, w);
    w.phase = Phase::prefill;
    Totals sum = totals_of(model, w);
    w.phase = Phase::decode;
    for (w.sequence = 10; w.sequence <= 13; ++w.sequence) {
      const Totals step = totals_of(model, w);
      sum.forward += step.forward;
      sum.bytes.total += step.bytes.total;
    }
    EXPECT_EQ(all.forward, sum.forward) << model.name;
    EXPECT_EQ(all.bytes.total, sum.bytes.total) << model.name;
  }
}

TEST(EveryModel, EveryBodyParameterAsAProduct) {
  for (const model::Architecture& model : all_models()) {
    if (model.stacks.size() > 1 || !is_decoder(model)) continue;
    const model::Census census = model::census(model);
    const Count body = census.active - census[model::Component::embedding] - census[model::Component::lm_head];
    const Workload w{.phase = Phase::prefill, .sequence = 32, .body = BodyCount::parameters};
    const Ledger ledger = *count(model, w);
    Count recurrence;
    bool last_rows_only = false;
    for (const Row& row : ledger.rows()) {
      if (row.op == OpClass::recurrence) recurrence += row.model_flops;
      last_rows_only = last_rows_only || row.label == "classification";
    }
    if (last_rows_only) continue;
    EXPECT_EQ(ledger.totals().body_forward - recurrence, body * 2 * 32) << model.name;
  }
}

TEST(EveryModel, CausesAddUp) {
  for (const model::Architecture& model : all_models()) {
    for (const Formula formula : {Formula::palm, Formula::sixn, Formula::megatron, Formula::megatron_2021}) {
      const Result<Comparison> c = compare(model, {.sequence = 128}, formula);
      ASSERT_TRUE(c.has_value()) << model.name;
      EXPECT_EQ(c->difference.sum(), c->formula_step - c->exact_step) << model.name;
      if (formula == Formula::sixn && !has_encoder(model)) {
        EXPECT_EQ(c->formula_step, sixn_flops_per_token(model) * 128) << model.name;
      }
    }
  }
}

TEST(EveryModel, ShardsSumToTheWholeWhereTheyDivide) {
  std::size_t split = 0;
  for (const model::Architecture& model : all_models()) {
    const Workload whole{.batch = 4, .sequence = 32};
    const Count step = totals_of(model, whole).step;
    for (const Parallel& parallel :
         {Parallel{.tensor = 2}, {.tensor = 4}, {.pipeline = 2}, {.data = 4}, {.context = 2}}) {
      Workload w = whole;
      w.parallel = parallel;
      Count sum;
      bool divides = true;
      for (w.parallel.stage = 0; w.parallel.stage < parallel.pipeline && divides; ++w.parallel.stage) {
        const Result<Ledger> ledger = count(model, w);
        divides = ledger.has_value();
        if (divides) {
          sum += ledger->totals().step;
        } else {
          EXPECT_EQ(ledger.error().code, Errc::infeasible) << model.name;
        }
      }
      if (!divides) continue;
      // A vocabulary that does not divide is padded, as training frameworks do.
      if (model.vocabulary % parallel.tensor != 0) continue;
      ++split;
      EXPECT_EQ(sum * parallel.tensor * parallel.data * parallel.context, step) << model.name;
    }
  }
  EXPECT_GT(split, 10);
}

}  // namespace
}  // namespace flopwatt::work
