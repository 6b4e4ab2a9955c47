#include "flopwatt/work/conventions.hpp"

#include <gtest/gtest.h>

#include "flopwatt/work/testing/architectures.hpp"

namespace flopwatt::work {
namespace {

using testing::dense;
using testing::kQwen25_1B5;
using units::Count;

ConventionEffects effects_of(const model::Architecture& architecture, const Workload& workload) {
  const Result<Ledger> ledger = count(architecture, workload);
  EXPECT_TRUE(ledger.has_value());
  const auto effects = against_default_conventions(architecture, workload, *ledger);
  EXPECT_TRUE(effects.has_value());
  return *effects;
}

const ConventionEffect& of(const ConventionEffects& effects, Convention convention) {
  return effects.by_cause[static_cast<std::size_t>(convention)];
}

// Qwen2.5-1.5B, P = 4096, N = 256, no cache: Σ(4096 + j) = 1,081,216 tokens and Σ(4096 + j)² = 4,567,913,856 pairs for
// j = 0 … 255.  Attention is 4 · 12 heads · 128 · 28 layers = 172,032 FLOPs a pair, or half of that.  Body products are
// 2 · 1,310,195,712 a token; the 144,896 norms and biases (28 · (2·1536 + 1536 + 2·256) + 1536 = 144,896) add 2 each.
TEST(Conventions, GenerationOfTheStudyBesideTheDefaults) {
  Workload w{.phase = Phase::generate, .sequence = 4096, .new_tokens = 256, .kv_cache = false};
  w.mask = MaskConvention::causal_half;
  w.body = BodyCount::parameters;
  const ConventionEffects e = effects_of(dense(kQwen25_1B5), w);
  EXPECT_FALSE(e.all_default());
  const ConventionEffect& attention = of(e, Convention::attention);
  EXPECT_EQ(attention.chosen, "causal-half");
  EXPECT_EQ(attention.by_default, "full");
  EXPECT_EQ(attention.step.by_default, Count{172032} * 4567913856);
  EXPECT_EQ(attention.step.difference(), -Count{172032 / 2} * 4567913856);
  const ConventionEffect& body = of(e, Convention::body);
  EXPECT_EQ(body.step.by_default, Count{2} * 1310195712 * 1081216);
  EXPECT_EQ(body.step.difference(), Count{2} * 144896 * 1081216);
  EXPECT_EQ(of(e, Convention::logits).step.difference(), Count{0});
  EXPECT_EQ(e.step.difference(), Count{2} * 144896 * 1081216 - Count{172032 / 2} * 4567913856);
}

// Training: backward is twice forward, so a step differs by three times what a forward does.  Exact causal leaves out
// S(S − 1)/2 of S² pairs; the head on the last position of 8 computes an eighth of the logits.
TEST(Conventions, StepOfTrainingDiffersByThreeForwards) {
  const model::Architecture model = dense({.layers = 2});
  Workload w{.batch = 3, .sequence = 8};
  w.mask = MaskConvention::causal;
  w.logits = Logits::last;
  const ConventionEffects e = effects_of(model, w);
  const Count pairs_left_out = Count{3} * 28;
  EXPECT_EQ(of(e, Convention::attention).forward.difference(), -Count{4} * 2 * 4 * 2 * pairs_left_out);
  EXPECT_EQ(of(e, Convention::logits).forward.difference(), -Count{2} * 3 * 7 * 8 * 32);
  EXPECT_EQ(of(e, Convention::logits).chosen, "last");
  EXPECT_EQ(of(e, Convention::logits).by_default, "all");
  EXPECT_EQ(e.step.difference(), Count{3} * e.forward.difference());
}

TEST(Conventions, PartsSumToTheWholeAndDefaultsDoNotDiffer) {
  const model::Architecture model = testing::mixtral_8x7b();
  for (const Phase phase : {Phase::train, Phase::prefill, Phase::decode, Phase::generate}) {
    for (const MaskConvention mask : {MaskConvention::full, MaskConvention::causal}) {
      for (const BodyCount body : {BodyCount::products, BodyCount::parameters}) {
        Workload w{.phase = phase, .batch = 2, .sequence = 64, .new_tokens = phase == Phase::generate ? 4 : 0};
        w.mask = mask;
        w.body = body;
        const ConventionEffects e = effects_of(model, w);
        ConventionFlops forward;
        ConventionFlops step;
        for (const ConventionEffect& effect : e.by_cause) {
          forward.chosen += effect.forward.chosen, forward.by_default += effect.forward.by_default;
          step.chosen += effect.step.chosen, step.by_default += effect.step.by_default;
        }
        EXPECT_EQ(forward.chosen, e.forward.chosen);
        EXPECT_EQ(forward.by_default, e.forward.by_default);
        EXPECT_EQ(step.chosen, e.step.chosen);
        EXPECT_EQ(step.by_default, e.step.by_default);
        const bool defaults = mask == MaskConvention::full && body == BodyCount::products;
        EXPECT_EQ(e.all_default(), defaults);
        if (defaults) {
          EXPECT_EQ(e.step.difference(), Count{0});
        }
      }
    }
  }
}

}  // namespace
}  // namespace flopwatt::work
