#include "flopwatt/fit/saturating.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <vector>

#include "flopwatt/fit/cross_validate.hpp"
#include "flopwatt/stats/random.hpp"

namespace flopwatt::fit {
namespace {

using units::Precision;

/// Rows of a device whose power follows a known model, made in the test.
struct Planted {
  std::deque<dataset::Observation> observations;
  std::deque<Sample> samples;
  std::vector<RateSample> rows;

  void add(const std::string& model, Precision dtype, std::int64_t batch, std::size_t configuration, double teraflops,
           double parameters, double activations, double watts) {
    observations.emplace_back().model = model;
    samples.push_back({.observation = &observations.back(),
                       .configuration = configuration,
                       .dtype = dtype,
                       .batch = batch,
                       .mfu_pct = 0,
                       .power_watts = watts});
    rows.push_back({.sample = &samples.back(),
                    .flops = teraflops * units::teraflop_per_second,
                    .traffic = {parameters * units::gigabyte_per_second, activations * units::gigabyte_per_second},
                    .fused_bytes_per_second = (parameters + activations) * 0.5e9,
                    .power_watts = watts});
  }
};

power::Saturating truth() {
  power::Saturating model;
  model.floor_watts = 90;
  model.joules_per_flop = {{Precision::float32, 3e-12}, {Precision::float16, 1e-12}};
  model.joules_per_byte = 1e-10;
  model.byte_factor = {{Precision::float32, 0.9}, {Precision::float16, 1.1}};
  model.activation_factor = 1.6;
  model.cap_watts = 310;
  model.softness_watts = 12;
  return model;
}

/// Three models whose rates differ, seven batches, two dtypes, `repeats` rows each, with relative noise.
Planted plant(const power::Saturating& model, int repeats, double noise) {
  Planted out;
  stats::Random random{7};
  std::size_t configuration = 0;
  for (int m = 0; m < 3; ++m) {
    for (const Precision dtype : {Precision::float32, Precision::float16}) {
      for (const std::int64_t batch : {1, 4, 8, 16, 32, 64, 128}) {
        const double b = static_cast<double>(batch);
        const double teraflops = (1 + 0.4 * m) * (dtype == Precision::float32 ? 0.3 : 0.8) * b / (1 + b / 150);
        const double parameters = (300 + 150 * m) / (1 + b / (60 + 40 * m));
        const double activations = (1.5 - 0.3 * m) * b / (1 + b / 100);
        const power::Traffic traffic{parameters * units::gigabyte_per_second, activations * units::gigabyte_per_second};
        const double watts = model.watts(dtype, teraflops * units::teraflop_per_second, traffic);
        for (int repeat = 0; repeat < repeats; ++repeat) {
          const double factor = 1 + noise * (2 * random.uniform() - 1);
          out.add("m" + std::to_string(m), dtype, batch, configuration, teraflops, parameters, activations,
                  watts * factor);
        }
        ++configuration;
      }
    }
  }
  return out;
}

SaturatingPrior known() {
  SaturatingPrior prior;
  prior.idle_watts = 45;
  prior.limit_watts = 300;
  prior.peaks = {{Precision::float32, 50 * units::teraflop_per_second},
                 {Precision::float16, 200 * units::teraflop_per_second}};
  return prior;
}

TEST(FitSaturating, FindsThePlantedModel) {
  const Planted data = plant(truth(), 1, 0);
  const auto fit = fit_saturating(data.rows, known());
  ASSERT_TRUE(fit.has_value()) << fit.error().message();
  EXPECT_TRUE(fit->converged);
  // Priors pull the parameters off where they disagree with the truth, by less than the rows can tell.
  EXPECT_LT(fit->model.mape_pct, 0.3);
  EXPECT_NEAR(fit->model.floor_watts, 90, 3);
  EXPECT_NEAR(fit->model.cap_watts, 310, 6);
  EXPECT_NEAR(fit->model.joules_per_flop.at(Precision::float32), 3e-12, 0.2e-12);
  EXPECT_NEAR(fit->model.joules_per_flop.at(Precision::float16), 1e-12, 0.1e-12);
  // Only the products c · s_p are determined by the rows; their split is the prior's.
  EXPECT_NEAR(fit->model.joules_per_byte * fit->model.byte_factor.at(Precision::float32), 0.9e-10, 0.05e-10);
  EXPECT_NEAR(fit->model.joules_per_byte * fit->model.byte_factor.at(Precision::float16), 1.1e-10, 0.05e-10);
  EXPECT_DOUBLE_EQ(*fit->model.traffic_per_mbu_byte, 2);
}

TEST(FitSaturating, StatesItsCovariance) {
  const Planted data = plant(truth(), 4, 0.02);
  const auto fit = fit_saturating(data.rows, known());
  ASSERT_TRUE(fit.has_value());
  const std::size_t n = fit->model.parameter_names.size();
  EXPECT_EQ(n, 9U);
  ASSERT_EQ(fit->model.covariance.size(), n * n);
  EXPECT_EQ(fit->model.parameter_names.front(), "floor_watts");
  const double floor_sd = std::sqrt(fit->model.covariance.front());
  EXPECT_GT(floor_sd, 0);
  EXPECT_LT(std::abs(fit->model.floor_watts - 90), 4 * floor_sd + 3);
}

TEST(FitSaturating, RepeatsDoNotMakeItMoreSure) {
  const Planted once = plant(truth(), 1, 0), often = plant(truth(), 6, 0);
  const auto a = fit_saturating(once.rows, known()), b = fit_saturating(often.rows, known());
  ASSERT_TRUE(a.has_value() && b.has_value());
  EXPECT_NEAR(a->model.floor_watts, b->model.floor_watts, 1e-4 * a->model.floor_watts);
  EXPECT_NEAR(a->model.cap_watts, b->model.cap_watts, 1e-4 * a->model.cap_watts);
}

TEST(FitSaturating, AWildRowDoesNotBendIt) {
  Planted data = plant(truth(), 1, 0);
  data.rows[5].power_watts *= 3;
  const auto fit = fit_saturating(data.rows, known());
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->model.floor_watts, 90, 6);
  EXPECT_NEAR(fit->model.cap_watts, 310, 10);
}

TEST(FitSaturating, DoesWithoutLimitAndIdle) {
  const Planted data = plant(truth(), 1, 0);
  SaturatingPrior unknown = known();
  unknown.idle_watts.reset();
  unknown.limit_watts.reset();
  const auto fit = fit_saturating(data.rows, unknown);
  ASSERT_TRUE(fit.has_value());
  EXPECT_LT(fit->model.mape_pct, 1);
}

TEST(FitSaturating, NeedsMoreRowsThanParameters) {
  Planted data = plant(truth(), 1, 0);
  data.rows.resize(8);
  const auto fit = fit_saturating(data.rows, known());
  ASSERT_FALSE(fit.has_value());
  EXPECT_EQ(fit.error().code, Errc::bad_data);
}

TEST(HoldOutSaturating, PredictsAnUnseenModelOfTheSameDevice) {
  const Planted data = plant(truth(), 2, 0.005);
  const auto held_out = hold_out_saturating(data.rows, known(), Axis::model);
  ASSERT_TRUE(held_out.has_value()) << held_out.error().message();
  EXPECT_EQ(held_out->rows.size(), data.rows.size());  // every row once
  EXPECT_EQ(held_out->groups, (std::vector<std::string>{"m0", "m1", "m2"}));
  const auto figures = errors(*held_out);
  ASSERT_TRUE(figures.has_value());
  EXPECT_LT(figures->pooled.mape_pct, 2);
  EXPECT_EQ(figures->folds.size(), 3U);
  // One list of scores a configuration, its repeats together.
  const auto scores = conformal_scores(*held_out);
  EXPECT_EQ(scores.size(), 42U);
  for (const auto& configuration : scores) EXPECT_EQ(configuration.size(), 2U);
}

TEST(HoldOutSaturating, AnUnseenDtypeIsTheMeanOfTheOthers) {
  power::Saturating model = truth();
  model.byte_factor = {{Precision::float32, 4}, {Precision::float16, 1}};
  const std::map<Precision, units::FlopRate> peaks{{Precision::float32, 50 * units::teraflop_per_second},
                                                   {Precision::float16, 200 * units::teraflop_per_second},
                                                   {Precision::bfloat16, 100 * units::teraflop_per_second}};
  Planted data;
  data.add("m", Precision::bfloat16, 1, 0, 10, 100, 0, 100);
  // At its peak float32 draws 3 pJ · 50 T = 150 W, float16 1 pJ · 200 T = 200 W: geometric mean √30000 = 173.2 W at
  // 100 TFLOP/s, so 17.32 W at 10; bytes cost 0.1 nJ · √(4 · 1) · 100 GB/s = 20 W.
  EXPECT_NEAR(watts(model, data.rows[0], peaks), 90 + std::sqrt(30000.0) / 10 + 20, 1e-4);
}

/// Rows of `folds` groups whose errors are alike: 8 configurations a group, 4 repeats each.
HeldOutRows alike(std::size_t folds, std::uint64_t seed) {
  HeldOutRows out;
  stats::Random random{seed};
  std::size_t configuration = 0;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    out.groups.push_back("g" + std::to_string(fold));
    for (int c = 0; c < 8; ++c, ++configuration) {
      const double error = 0.1 * (2 * random.uniform() - 1);
      for (int repeat = 0; repeat < 4; ++repeat) {
        const double noise = 0.002 * (2 * random.uniform() - 1);
        out.rows.push_back({.fold = fold,
                            .configuration = configuration,
                            .batch = 1,
                            .measured_watts = 100 * (1 + error + noise),
                            .predicted_watts = 100});
      }
    }
  }
  return out;
}

TEST(Coverage, IsWhatTheLevelSaysWhereFoldsAreAlike) {
  double pooled = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto covered = coverage(alike(20, seed), 0.9);
    ASSERT_TRUE(covered.has_value());
    EXPECT_EQ(covered->folds.size(), 20U);
    pooled += covered->pooled / 20;
  }
  // 3,200 configurations: a standard error of 0.5 points.
  EXPECT_NEAR(pooled, 0.9, 0.02);
}

TEST(Coverage, ShowsAFoldThatIsUnlikeTheOthers) {
  HeldOutRows rows = alike(4, 1);
  for (HeldOut& row : rows.rows) {
    if (row.fold == 2) row.measured_watts = 150;
  }
  const auto covered = coverage(rows, 0.9);
  ASSERT_TRUE(covered.has_value());
  EXPECT_EQ(covered->folds.at("g2"), 0);
  EXPECT_EQ(covered->folds.at("g0"), 1);  // the strange fold widens the bound of the others
}

}  // namespace
}  // namespace flopwatt::fit
