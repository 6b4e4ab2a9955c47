#include "flopwatt/stats/nls.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "flopwatt/stats/ols.hpp"
#include "flopwatt/stats/random.hpp"

namespace flopwatt::stats {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double noise(Random& random) {
  double sum = -6;  // twelve uniforms: mean 6, variance 1
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

/// The location of a sample: residuals p - y.
NlsProblem location(std::vector<double> y, double start) {
  NlsProblem problem;
  problem.residuals = y.size();
  problem.start = {start};
  problem.residual_function = [y = std::move(y)](std::span<const double> p, std::span<double> out) {
    for (std::size_t i = 0; i < y.size(); ++i) out[i] = p[0] - y[i];
  };
  return problem;
}

NlsProblem line(std::vector<double> x, std::vector<double> y, std::vector<double> start) {
  NlsProblem problem;
  problem.residuals = y.size();
  problem.start = std::move(start);
  problem.residual_function = [x = std::move(x), y = std::move(y)](std::span<const double> p, std::span<double> out) {
    for (std::size_t i = 0; i < y.size(); ++i) out[i] = p[0] + p[1] * x[i] - y[i];
  };
  return problem;
}

// y = 1 2 6: mean 3, sse 4 + 1 + 9 = 14, s² = 7, standard error sqrt(7/3), cost 7.
TEST(StatsNls, MeanByHand) {
  const NlsFit fit = fit_nls(location({1, 2, 6}, 100)).value();
  EXPECT_TRUE(fit.converged());
  EXPECT_NEAR(fit.parameters[0], 3, 1e-9);
  EXPECT_NEAR(fit.cost, 7, 1e-9);
  EXPECT_NEAR(fit.sse, 14, 1e-9);
  EXPECT_NEAR(fit.residual_sd.value(), std::sqrt(7), 1e-9);
  EXPECT_NEAR(fit.standard_error(0).value(), std::sqrt(7.0 / 3), 1e-8);
}

// Prior 10 ± ½ (precision 4): (1 + 2 + 6 + 4·10) / (3 + 4) = 7.  With s² = Σ(7 - y)²/2 = (36 + 25 + 1)/2 = 31 the
// sandwich is (31·3 + 4) / 7² = 97/49.
TEST(StatsNls, PriorByHand) {
  NlsProblem problem = location({1, 2, 6}, 0);
  problem.priors = {{0, 10, 0.5}};
  const NlsFit fit = fit_nls(problem).value();
  EXPECT_NEAR(fit.parameters[0], 7, 1e-9);
  EXPECT_NEAR(fit.cost, 0.5 * (62 + 4 * 9), 1e-8);
  EXPECT_NEAR(fit.standard_error(0).value(), std::sqrt(97.0 / 49), 1e-8);
}

// Two priors, 8 ± 1/√2 and 11 ± 1 … precisions 2 and 1: together 9 with precision 3.  Then (9 + 27) / 6 = 6, and the
// cost is ½ (Σ(6 - y)² + 2·2² + 1·5²) = ½ (41 + 8 + 25) = 37.
TEST(StatsNls, PriorsOnOneParameterAddUp) {
  NlsProblem problem = location({1, 2, 6}, 0);
  problem.priors = {{0, 8, std::sqrt(0.5)}, {0, 11, 1}};
  const NlsFit fit = fit_nls(problem).value();
  EXPECT_NEAR(fit.parameters[0], 6, 1e-9);
  EXPECT_NEAR(fit.cost, 37, 1e-8);
}

// Huber with scale 1 on 0 0 0 0 and 1000: with p in (0, 1) the force is 4 p - 1 = 0, so p = ¼.
TEST(StatsNls, HuberByHand) {
  NlsProblem problem = location({0, 0, 0, 0, 1000}, 500);
  problem.loss = Loss::huber;
  const NlsFit fit = fit_nls(problem).value();
  EXPECT_TRUE(fit.converged()) << name(fit.status);
  EXPECT_NEAR(fit.parameters[0], 0.25, 1e-8);
  // ½ (4/16 + 2·999.75 - 1)
  EXPECT_NEAR(fit.cost, 0.5 * (0.25 + 1998.5), 1e-6);
}

// Soft L1, scale 2, y = ±3 about 5 by symmetry: p = 5, cost ½ · 4 · 2 · 2 (√(1 + 9/4) - 1).
TEST(StatsNls, SoftL1ByHand) {
  NlsProblem problem = location({2, 8}, 0);
  problem.loss = Loss::soft_l1;
  problem.loss_scale = 2;
  const NlsFit fit = fit_nls(problem).value();
  EXPECT_NEAR(fit.parameters[0], 5, 1e-7);
  EXPECT_NEAR(fit.cost, 8 * (std::sqrt(3.25) - 1), 1e-9);
}

// On a straight line it is ordinary least squares, covariance included.
TEST(StatsNls, LinearProblemEqualsOls) {
  Random random(1);
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 50; ++i) {
    x.push_back(1000 + 10 * random.uniform());
    y.push_back(3 - 2 * x.back() + noise(random));
  }
  const SimpleFit ols = fit_simple_ols(x, y).value();
  const NlsFit fit = fit_nls(line(x, y, {1, 1})).value();
  EXPECT_TRUE(fit.converged()) << name(fit.status);
  EXPECT_NEAR(fit.parameters[1], ols.slope, 1e-7);
  EXPECT_NEAR(fit.parameters[0] / ols.intercept, 1, 1e-6);
  EXPECT_NEAR(fit.standard_error(0).value() / ols.intercept_se, 1, 1e-6);
  EXPECT_NEAR(fit.standard_error(1).value() / ols.slope_se, 1, 1e-6);
  EXPECT_NEAR(fit.covariance->at(1) / ols.intercept_slope_covariance, 1, 1e-6);
  // The error of the fitted mean at x: gradient (1, x).
  const Interval mean = mean_interval(ols, 1020, 0.9).value();
  const Interval unit = coefficient_interval(0, 1, 48, 0.9).value();
  EXPECT_NEAR(fit.propagated_error(std::vector<double>{1, 1020}).value(), (mean.hi - mean.lo) / 2 / unit.hi, 1e-4);
}

// y = x with slope bounded to at most ½ on x = 0 1 2: the slope sits at ½ and the intercept is the mean of
// y - x/2 = 0, ½, 1, which is ½.
TEST(StatsNls, ActiveBoundByHand) {
  NlsProblem problem = line({0, 1, 2}, {0, 1, 2}, {0, 0});
  problem.bounds = {{}, {0, 0.5}};
  const NlsFit fit = fit_nls(problem).value();
  EXPECT_TRUE(fit.converged()) << name(fit.status);
  EXPECT_EQ(fit.parameters[1], 0.5);
  EXPECT_NEAR(fit.parameters[0], 0.5, 1e-8);
  EXPECT_FALSE(fit.at_bound[0]);
  EXPECT_TRUE(fit.at_bound[1]);
  EXPECT_EQ(fit.free_parameters(), 1U);
  EXPECT_FALSE(fit.standard_error(1).has_value());
  // sse = ¼ + 0 + ¼, s² = ½ / (3 - 1) = ¼, standard error of the mean of three sqrt(¼ / 3).
  EXPECT_NEAR(fit.standard_error(0).value(), std::sqrt(0.25 / 3), 1e-7);
}

TEST(StatsNls, LeavesABoundThatItStartsOn) {
  NlsProblem problem = line({0, 1, 2}, {1, 3, 5}, {0, 10});
  problem.bounds = {{0, 10}, {0, 10}};
  const NlsFit fit = fit_nls(problem).value();
  EXPECT_NEAR(fit.parameters[0], 1, 1e-8);
  EXPECT_NEAR(fit.parameters[1], 2, 1e-8);
  EXPECT_EQ(fit.free_parameters(), 2U);
}

TEST(StatsNls, FixedParameterStays) {
  NlsProblem problem = line({0, 1, 2}, {1, 3, 5}, {0, 0});
  problem.bounds = {{0, 0}, {}};
  const NlsFit fit = fit_nls(problem).value();
  EXPECT_TRUE(fit.converged());
  EXPECT_EQ(fit.parameters[0], 0);
  // Through the origin: Σxy / Σx² = (3 + 10) / 5.
  EXPECT_NEAR(fit.parameters[1], 2.6, 1e-8);
  EXPECT_TRUE(fit.at_bound[0]);

  problem.bounds = {{0, 0}, {0, 0}};
  const NlsFit all = fit_nls(problem).value();
  EXPECT_TRUE(all.converged());
  EXPECT_EQ(all.free_parameters(), 0U);
  EXPECT_DOUBLE_EQ(all.cost, 0.5 * (1 + 9 + 25));
}

/// A floor, two slopes and a soft ceiling, on relative error: the shape of a power model.
struct Saturating {
  std::vector<double> f;
  std::vector<double> b;
  std::vector<double> y;

  static double predict(std::span<const double> p, double f, double b) {
    const double open = p[0] + p[1] * f + p[2] * b;
    return std::min(open, p[3]) - p[4] * std::log1p(std::exp(-std::abs(open - p[3]) / p[4]));
  }
  [[nodiscard]] NlsProblem problem() const {
    NlsProblem result;
    result.residuals = y.size();
    result.start = {50, 50, 50, 280, 20};
    result.bounds = {{0, 500}, {0, 1000}, {0, 1000}, {100, 1000}, {1, 100}};
    result.residual_function = [this](std::span<const double> p, std::span<double> out) {
      for (std::size_t i = 0; i < y.size(); ++i) out[i] = predict(p, f[i], b[i]) / y[i] - 1;
    };
    return result;
  }
};

Saturating planted(std::size_t n, double relative_noise, std::uint64_t seed) {
  const std::vector<double> truth{80, 250, 120, 300, 12};
  Random random(seed);
  Saturating data;
  for (std::size_t i = 0; i < n; ++i) {
    data.f.push_back(random.uniform());
    data.b.push_back(random.uniform());
    data.y.push_back(Saturating::predict(truth, data.f[i], data.b[i]) * (1 + relative_noise * noise(random)));
  }
  return data;
}

TEST(StatsNls, RecoversPlantedParameters) {
  const Saturating exact = planted(200, 0, 1);
  const NlsFit fit = fit_nls(exact.problem()).value();
  EXPECT_TRUE(fit.converged()) << name(fit.status);
  const std::vector<double> truth{80, 250, 120, 300, 12};
  for (std::size_t j = 0; j < 5; ++j) EXPECT_NEAR(fit.parameters[j] / truth[j], 1, 1e-6) << j;

  const Saturating noisy = planted(500, 0.02, 2);
  const NlsFit estimate = fit_nls(noisy.problem()).value();
  EXPECT_TRUE(estimate.converged()) << name(estimate.status);
  EXPECT_NEAR(estimate.residual_sd.value(), 0.02, 0.002);
  for (std::size_t j = 0; j < 5; ++j) {
    EXPECT_LT(std::abs(estimate.parameters[j] - truth[j]), 5 * estimate.standard_error(j).value()) << j;
  }
}

// A tenth of the rows is wrong by a factor of three: the robust fit hardly moves, the plain one does.
TEST(StatsNls, RobustLossResistsOutliers) {
  Saturating data = planted(300, 0.01, 3);
  for (std::size_t i = 0; i < data.y.size(); i += 10) data.y[i] *= 3;
  NlsProblem problem = data.problem();
  const NlsFit plain = fit_nls(problem).value();
  for (const Loss loss : {Loss::huber, Loss::soft_l1}) {
    problem.loss = loss;
    problem.loss_scale = 0.02;
    const NlsFit robust = fit_nls(problem).value();
    EXPECT_TRUE(robust.converged()) << name(robust.status);
    EXPECT_LT(std::abs(robust.parameters[0] - 80), 5) << static_cast<int>(loss);
    EXPECT_LT(std::abs(robust.parameters[0] - 80), std::abs(plain.parameters[0] - 80));
  }
}

// The stated standard error is the spread of the estimate over data sets: 300 of them, 4 % sampling error of a spread.
TEST(StatsNls, CovarianceIsTheSpreadOverSamples) {
  for (const Loss loss : {Loss::squared, Loss::huber}) {
    double sum = 0;
    double squares = 0;
    double stated = 0;
    constexpr int kTrials = 300;
    for (int trial = 0; trial < kTrials; ++trial) {
      Random random(static_cast<std::uint64_t>(trial));
      std::vector<double> x;
      std::vector<double> y;
      for (int i = 0; i < 40; ++i) {
        x.push_back(i * 0.1);
        y.push_back(5 * std::exp(-0.5 * x.back()) + 0.1 * noise(random));
      }
      NlsProblem problem;
      problem.residuals = x.size();
      problem.start = {1, 1};
      problem.loss = loss;
      problem.loss_scale = 0.1;
      problem.residual_function = [&](std::span<const double> p, std::span<double> out) {
        for (std::size_t i = 0; i < x.size(); ++i) out[i] = p[0] * std::exp(-p[1] * x[i]) - y[i];
      };
      const NlsFit fit = fit_nls(problem).value();
      ASSERT_TRUE(fit.converged()) << name(fit.status);
      sum += fit.parameters[1];
      squares += fit.parameters[1] * fit.parameters[1];
      stated += fit.standard_error(1).value();
    }
    const double mean = sum / kTrials;
    EXPECT_NEAR(mean, 0.5, 0.005);
    const double spread = std::sqrt((squares - sum * mean) / (kTrials - 1));
    EXPECT_NEAR(stated / kTrials / spread, 1, 0.15) << static_cast<int>(loss);
  }
}

// The cost never rises, whatever the surface: random cubic-exponential residuals from random starts within bounds.
TEST(StatsNls, NeverWorseThanTheStartAndAlwaysWithinBounds) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    std::vector<double> c(12);
    for (double& value : c) value = 4 * random.uniform() - 2;
    NlsProblem problem;
    problem.residuals = 6;
    problem.loss = static_cast<Loss>(seed % 3);
    problem.residual_function = [&c](std::span<const double> p, std::span<double> out) {
      for (std::size_t i = 0; i < 6; ++i) {
        const double u = c[i] * p[0] + c[i + 6] * p[1];
        out[i] = std::log(u + 2) + u * u * u - c[i] * std::exp(p[2]) + c[i + 6];  // NaN where u < -2
      }
    };
    problem.bounds = {{-1, 1}, {-1, 1}, {-3, 3}};
    problem.start = {random.uniform() * 0.4 - 0.2, random.uniform() * 0.4 - 0.2, 6 * random.uniform() - 3};
    std::vector<double> at_start(6);
    problem.residual_function(problem.start, at_start);
    const auto fit = fit_nls(problem);
    ASSERT_TRUE(fit.has_value());
    NlsProblem only_start = problem;
    only_start.bounds.clear();
    for (const double value : problem.start) only_start.bounds.push_back({value, value});
    const double cost_at_start = fit_nls(only_start).value().cost;
    EXPECT_TRUE(std::isfinite(fit->cost));
    EXPECT_LE(fit->cost, cost_at_start * (1 + 1e-15)) << seed;
    EXPECT_TRUE(fit->converged()) << seed << " " << name(fit->status);
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_GE(fit->parameters[j], problem.bounds[j].lo);
      EXPECT_LE(fit->parameters[j], problem.bounds[j].hi);
    }
  }
}

// The first step from 1 would land on the far side of zero, where the logarithm does not exist.
TEST(StatsNls, StepsIntoNanAreRejected) {
  NlsProblem problem;
  problem.residuals = 1;
  problem.start = {10};
  problem.residual_function = [](std::span<const double> p, std::span<double> out) { out[0] = std::log(p[0]); };
  const NlsFit fit = fit_nls(problem).value();
  EXPECT_TRUE(fit.converged()) << name(fit.status);
  EXPECT_NEAR(fit.parameters[0], 1, 1e-8);
  EXPECT_FALSE(fit.residual_sd.has_value());
  EXPECT_FALSE(fit.covariance.has_value());
}

TEST(StatsNls, NonConvergenceIsAStatus) {
  NlsProblem problem = planted(200, 0.02, 4).problem();
  const Saturating data = planted(200, 0.02, 4);
  problem = data.problem();
  NlsOptions options;
  options.max_iterations = 1;
  const NlsFit limited = fit_nls(problem, options).value();
  EXPECT_EQ(limited.status, NlsStatus::iteration_limit);
  EXPECT_FALSE(limited.converged());
  EXPECT_TRUE(std::isfinite(limited.cost));

  // A point where both neighbours are undefined.
  NlsProblem island;
  island.residuals = 1;
  island.start = {1};
  island.residual_function = [](std::span<const double> p, std::span<double> out) { out[0] = p[0] == 1 ? 5 : kNan; };
  EXPECT_EQ(fit_nls(island).value().status, NlsStatus::no_derivative);

  // A Jacobian with the wrong sign promises what no step gives.
  NlsProblem lying = location({1, 2, 3}, 10);
  lying.jacobian_function = [](std::span<const double>, std::span<double> out) {
    for (double& value : out) value = -1;
  };
  EXPECT_EQ(fit_nls(lying).value().status, NlsStatus::stalled);
}

// Two parameters that only appear as a sum: a fit, but no covariance.
TEST(StatsNls, UndeterminedParametersHaveNoCovariance) {
  NlsProblem problem = location({1, 2, 6}, 0);
  problem.start = {0, 1};
  problem.residual_function = [](std::span<const double> p, std::span<double> out) {
    const std::vector<double> y{1, 2, 6};
    for (std::size_t i = 0; i < 3; ++i) out[i] = p[0] + p[1] - y[i];
  };
  const NlsFit fit = fit_nls(problem).value();
  EXPECT_TRUE(fit.converged()) << name(fit.status);
  EXPECT_NEAR(fit.parameters[0] + fit.parameters[1], 3, 1e-8);
  EXPECT_FALSE(fit.covariance.has_value());
  // A prior on one of them settles it.
  problem.priors = {{1, 2, 0.1}};
  const NlsFit settled = fit_nls(problem).value();
  EXPECT_NEAR(settled.parameters[1], 2, 1e-7);
  EXPECT_TRUE(settled.covariance.has_value());
}

// The least of two minima of (p² - 1)² + 0.3 p-ish is found from one of the starts.
TEST(StatsNls, MultistartTakesTheBest) {
  NlsProblem problem;
  problem.residuals = 2;
  problem.start = {0};
  problem.residual_function = [](std::span<const double> p, std::span<double> out) {
    out[0] = p[0] * p[0] - 1;
    out[1] = 0.1 * (p[0] + 1);  // zero at -1, so that -1 is the better of the two
  };
  const std::vector<std::vector<double>> starts{{2}, {kNan}, {-2}};
  EXPECT_NEAR(fit_nls_multistart(problem, starts).value().parameters[0], -1, 1e-7);
  EXPECT_EQ(fit_nls_multistart(problem, std::vector<std::vector<double>>{{kNan}}).error().code, Errc::bad_data);
  EXPECT_EQ(fit_nls_multistart(problem, {}).error().code, Errc::bad_data);
}

TEST(StatsNls, SameProblemSameBits) {
  const Saturating data = planted(100, 0.05, 5);
  const NlsFit a = fit_nls(data.problem()).value();
  const NlsFit b = fit_nls(data.problem()).value();
  EXPECT_EQ(a.parameters, b.parameters);
  EXPECT_EQ(a.covariance, b.covariance);
}

TEST(StatsNls, NonsenseIsAnError) {
  const NlsProblem good = location({1, 2, 3}, 0);
  const auto code = [&](auto change) {
    NlsProblem problem = good;
    change(problem);
    const auto fit = fit_nls(problem);
    return fit ? Errc::internal : fit.error().code;
  };
  EXPECT_EQ(code([](NlsProblem& p) { p.residuals = 0; }), Errc::bad_data);
  EXPECT_EQ(code([](NlsProblem& p) { p.residual_function = nullptr; }), Errc::bad_data);
  EXPECT_EQ(code([](NlsProblem& p) { p.start.clear(); }), Errc::bad_data);
  EXPECT_EQ(code([](NlsProblem& p) { p.start = {kInfinity}; }), Errc::bad_data);
  EXPECT_EQ(code([](NlsProblem& p) { p.bounds = {{1, 0}}; }), Errc::bad_data);
  EXPECT_EQ(code([](NlsProblem& p) { p.bounds = {{kNan, 1}}; }), Errc::bad_data);
  EXPECT_EQ(code([](NlsProblem& p) { p.bounds = {{1, 2}}; }), Errc::bad_data);
  EXPECT_EQ(code([](NlsProblem& p) { p.bounds = {{}, {}}; }), Errc::bad_data);
  EXPECT_EQ(code([](NlsProblem& p) { p.priors = {{1, 0, 1}}; }), Errc::bad_data);
  EXPECT_EQ(code([](NlsProblem& p) { p.priors = {{0, 0, 0}}; }), Errc::bad_data);
  EXPECT_EQ(code([](NlsProblem& p) { p.loss_scale = 0; }), Errc::bad_data);
  EXPECT_EQ(code([](NlsProblem& p) { p.typical = {1, 2}; }), Errc::bad_data);
  EXPECT_EQ(code([](NlsProblem& p) { p.typical = {0}; }), Errc::bad_data);
  EXPECT_EQ(code([](NlsProblem& p) {
              p.residual_function = [](std::span<const double>, std::span<double> out) { out[1] = kNan; };
            }),
            Errc::bad_data);
}

}  // namespace
}  // namespace flopwatt::stats
