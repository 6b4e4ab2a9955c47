#include "flopwatt/stats/ols.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "flopwatt/stats/random.hpp"
#include "flopwatt/stats/students_t.hpp"

namespace flopwatt::stats {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// By hand: x = 1 … 5, y = 2 4 5 4 5.  x̄ = 3, ȳ = 4; sxx = 4+1+0+1+4 = 10; sxy = (-2)(-2)+(-1)(0)+0+(1)(0)+(2)(1) = 6;
// syy = 4+0+1+0+1 = 6.  Slope 0.6, intercept 4 - 1.8 = 2.2; sse = 6 - 0.6·6 = 2.4; R² = 1 - 2.4/6 = 0.6;
// s² = 2.4/3 = 0.8; se(slope) = sqrt(0.8/10); se(intercept) = sqrt(0.8 (1/5 + 9/10)); covariance = -0.8·3/10.
const std::vector<double> kX{1, 2, 3, 4, 5};
const std::vector<double> kY{2, 4, 5, 4, 5};

TEST(StatsOls, FivePointsByHand) {
  const SimpleFit fit = fit_simple_ols(kX, kY).value();
  EXPECT_EQ(fit.n, 5U);
  EXPECT_NEAR(fit.slope, 0.6, 1e-15);
  EXPECT_NEAR(fit.intercept, 2.2, 1e-15);
  EXPECT_NEAR(fit.sse, 2.4, 1e-14);
  EXPECT_NEAR(fit.r2.value(), 0.6, 1e-15);
  EXPECT_NEAR(fit.residual_sd, std::sqrt(0.8), 1e-15);
  EXPECT_NEAR(fit.slope_se, std::sqrt(0.08), 1e-15);
  EXPECT_NEAR(fit.intercept_se, std::sqrt(0.88), 1e-15);
  EXPECT_NEAR(fit.intercept_slope_covariance, -0.24, 1e-15);
}

// At x = 6: ŷ = 5.8, leverage 1/5 + 9/10 = 1.1.  t(0.95, 3) = 2.353363 (printed tables: 2.353).
TEST(StatsOls, IntervalsByHand) {
  const SimpleFit fit = fit_simple_ols(kX, kY).value();
  const double t = 2.3533634348018264;
  const Interval prediction = prediction_interval(fit, 6, 0.9).value();
  EXPECT_NEAR(prediction.lo, 5.8 - t * std::sqrt(0.8 * 2.1), 1e-9);
  EXPECT_NEAR(prediction.hi, 5.8 + t * std::sqrt(0.8 * 2.1), 1e-9);
  const Interval mean = mean_interval(fit, 6, 0.9).value();
  EXPECT_NEAR(mean.hi - mean.lo, 2 * t * std::sqrt(0.8 * 1.1), 1e-9);
  const Interval slope = coefficient_interval(fit.slope, fit.slope_se, fit.degrees_of_freedom(), 0.9).value();
  EXPECT_NEAR(slope.lo, 0.6 - t * std::sqrt(0.08), 1e-9);
  EXPECT_EQ(prediction_interval(fit, 6, 1).error().code, Errc::usage);
  EXPECT_EQ(prediction_interval(fit, 6, kNan).error().code, Errc::usage);
}

// The quantiles that every printed table has, and two with a closed form: with one degree of freedom t(p) =
// tan(π (p - 1/2)), with two t(p) = (2p - 1) / sqrt(2 p (1 - p)).
TEST(StatsOls, StudentsTQuantiles) {
  EXPECT_NEAR(students_t_quantile(0.975, 10).value(), 2.228, 5e-4);
  EXPECT_NEAR(students_t_factor(0.95, 30).value(), 2.042, 5e-4);
  EXPECT_NEAR(students_t_quantile(0.9, 1).value(), std::tan(std::numbers::pi * 0.4), 1e-12);
  EXPECT_NEAR(students_t_quantile(0.9, 2).value(), 0.8 / std::sqrt(2 * 0.9 * 0.1), 1e-12);
  EXPECT_NEAR(students_t_quantile(0.05, 7).value(), -students_t_quantile(0.95, 7).value(), 1e-12);
  EXPECT_EQ(students_t_quantile(1, 5).error().code, Errc::usage);
  EXPECT_EQ(students_t_quantile(0.5, 0).error().code, Errc::usage);
  EXPECT_EQ(students_t_quantile(0.5, kNan).error().code, Errc::usage);
}

// NIST StRD, Norris (calibration of ozone monitors): data and certified values.
const std::vector<double> kNorrisX{0.2, 337.4, 118.2, 884.6, 10.1,  226.5, 666.3, 996.3, 448.6, 777.0, 558.2, 0.4,
                                   0.6, 775.5, 666.9, 338.0, 447.5, 11.6,  556.0, 228.1, 995.8, 887.6, 120.2, 0.3,
                                   0.3, 556.8, 339.1, 887.2, 999.0, 779.0, 11.1,  118.3, 229.2, 669.1, 448.9, 0.5};
const std::vector<double> kNorrisY{0.1, 338.8, 118.1, 888.0, 9.2,   228.1, 668.5, 998.5, 449.1, 778.9, 559.2, 0.3,
                                   0.1, 778.1, 668.8, 339.3, 448.9, 10.8,  557.7, 228.3, 998.0, 888.8, 119.6, 0.3,
                                   0.6, 557.6, 339.3, 888.0, 998.5, 778.9, 10.2,  117.6, 228.9, 668.4, 449.2, 0.2};

TEST(StatsOls, NistNorris) {
  const SimpleFit fit = fit_simple_ols(kNorrisX, kNorrisY).value();
  EXPECT_NEAR(fit.intercept, -0.262323073774029, 1e-12);
  EXPECT_NEAR(fit.slope, 1.00211681802045, 1e-14);
  EXPECT_NEAR(fit.intercept_se, 0.232818234301152, 1e-12);
  EXPECT_NEAR(fit.slope_se, 0.429796848199937e-03, 1e-15);
  EXPECT_NEAR(fit.residual_sd, 0.884796396144373, 1e-12);
  EXPECT_NEAR(fit.r2.value(), 0.999993745883712, 1e-14);
  EXPECT_NEAR(fit.sse, 26.6173985294224, 1e-10);
}

TEST(StatsOls, MultipleAgreesWithSimple) {
  const SimpleFit simple = fit_simple_ols(kNorrisX, kNorrisY).value();
  const LinearFit multiple = fit_ols(kNorrisX, 1, kNorrisY).value();
  EXPECT_NEAR(multiple.coefficients[0], simple.intercept, 1e-11);
  EXPECT_NEAR(multiple.coefficients[1], simple.slope, 1e-13);
  EXPECT_NEAR(multiple.covariance[1], simple.intercept_slope_covariance, 1e-15);
  const Interval a = prediction_interval(simple, 2000, 0.95).value();
  const Interval b = prediction_interval(multiple, std::vector<double>{2000}, 0.95).value();
  EXPECT_NEAR(a.lo, b.lo, 1e-8);
  EXPECT_NEAR(a.hi, b.hi, 1e-8);
}

// NIST StRD, Longley (employment; six nearly collinear predictors): data and certified values.
TEST(StatsOls, NistLongley) {
  const std::vector<double> x{83.0,  234289, 2356, 1590, 107608, 1947, 88.5,  259426, 2325, 1456, 108632, 1948,  //
                              88.2,  258054, 3682, 1616, 109773, 1949, 89.5,  284599, 3351, 1650, 110929, 1950,  //
                              96.2,  328975, 2099, 3099, 112075, 1951, 98.1,  346999, 1932, 3594, 113270, 1952,  //
                              99.0,  365385, 1870, 3547, 115094, 1953, 100.0, 363112, 3578, 3350, 116219, 1954,  //
                              101.2, 397469, 2904, 3048, 117388, 1955, 104.6, 419180, 2822, 2857, 118734, 1956,  //
                              108.4, 442769, 2936, 2798, 120445, 1957, 110.8, 444546, 4681, 2637, 121950, 1958,  //
                              112.6, 482704, 3813, 2552, 123366, 1959, 114.2, 502601, 3931, 2514, 125368, 1960,  //
                              115.7, 518173, 4806, 2572, 127852, 1961, 116.9, 554894, 4007, 2827, 130081, 1962};
  const std::vector<double> y{60323, 61122, 60171, 61187, 63221, 63639, 64989, 63761,
                              66019, 67857, 68169, 66513, 68655, 69564, 69331, 70551};
  const std::vector<double> certified{-3482258.63459582, 15.0618722713733,  -0.358191792925910e-01,
                                      -2.02022980381683, -1.03322686717359, -0.511041056535807e-01,
                                      1829.15146461355};
  const std::vector<double> errors{890420.383607373,  84.9149257747669,  0.334910077722432e-01, 0.488399681651699,
                                   0.214274163161675, 0.226073200069370, 455.478499142212};
  const LinearFit fit = fit_ols(x, 6, y).value();
  ASSERT_EQ(fit.coefficients.size(), 7U);
  for (std::size_t j = 0; j < 7; ++j) {
    EXPECT_NEAR(fit.coefficients[j] / certified[j], 1, 1e-11) << j;
    EXPECT_NEAR(fit.standard_errors[j] / errors[j], 1, 1e-11) << j;
  }
  EXPECT_NEAR(fit.residual_sd, 304.854073561965, 1e-9);
  EXPECT_NEAR(fit.r2.value(), 0.995479004577296, 1e-13);
  // At the mean of the predictors the interval is s sqrt(1 + 1/16) wide, which the raw covariance (1e11) would lose.
  const Interval interval = prediction_interval(fit, fit.predictor_means, 0.9).value();
  const double t = students_t_factor(0.9, 9).value();
  EXPECT_NEAR((interval.hi - interval.lo) / 2, t * fit.residual_sd * std::sqrt(1 + 1.0 / 16), 1e-7);
}

// Moving x or y by a constant changes only the intercept; scaling scales.  Large offsets must not cost digits.
TEST(StatsOls, ShiftsAndScales) {
  const SimpleFit fit = fit_simple_ols(kNorrisX, kNorrisY).value();
  std::vector<double> x = kNorrisX;
  std::vector<double> y = kNorrisY;
  // Offsets and scales that are exact in binary; the data themselves are rounded to 2^-33 on the way.
  for (double& value : x) value = (value + 0x1p20) * 4;
  for (double& value : y) value = (value - 0x1p20) / 2;
  const SimpleFit moved = fit_simple_ols(x, y).value();
  EXPECT_NEAR(moved.slope, fit.slope / 8, 1e-11);
  EXPECT_NEAR(moved.r2.value(), *fit.r2, 1e-12);
  EXPECT_NEAR(moved.residual_sd, fit.residual_sd / 2, 1e-9);
}

TEST(StatsOls, MomentsByUpdateMergeAndSampleAgree) {
  PairMoments first;
  PairMoments second;
  for (std::size_t i = 0; i < kNorrisX.size(); ++i) (i < 10 ? first : second).add(kNorrisX[i], kNorrisY[i]);
  first.merge(second);
  first.merge(PairMoments{});
  PairMoments empty;
  empty.merge(first);
  const PairMoments whole = PairMoments::of(kNorrisX, kNorrisY);
  for (const PairMoments& moments : {first, empty}) {
    EXPECT_EQ(moments.n, whole.n);
    EXPECT_NEAR(moments.x_mean, whole.x_mean, 1e-12);
    EXPECT_NEAR(moments.sxx / whole.sxx, 1, 1e-14);
    EXPECT_NEAR(moments.sxy / whole.sxy, 1, 1e-14);
    EXPECT_NEAR(moments.syy / whole.syy, 1, 1e-14);
  }
  const SimpleFit fit = fit_simple_ols(first).value();
  EXPECT_NEAR(fit.slope, 1.00211681802045, 1e-13);
  EXPECT_NEAR(fit.residual_sd, 0.884796396144373, 1e-8);
}

// Every planted coefficient lies within five standard errors, and the residuals are orthogonal to the predictors.
TEST(StatsOls, RecoversPlantedCoefficients) {
  Random random(11);
  const std::vector<double> planted{3, -2, 0.5, 40};
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 400; ++i) {
    double value = planted[0];
    for (std::size_t j = 1; j < planted.size(); ++j) {
      const double u = random.uniform() * std::pow(10.0, static_cast<double>(j));
      x.push_back(u);
      value += planted[j] * u;
    }
    y.push_back(value + random.uniform() - 0.5);
  }
  const LinearFit fit = fit_ols(x, 3, y).value();
  for (std::size_t j = 0; j < planted.size(); ++j) {
    EXPECT_LT(std::abs(fit.coefficients[j] - planted[j]), 5 * fit.standard_errors[j]) << j;
  }
  EXPECT_NEAR(fit.residual_sd, std::sqrt(1.0 / 12), 0.03);
  for (std::size_t j = 0; j < 3; ++j) {
    double dot = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      dot += x[i * 3 + j] * (y[i] - fit.predict(std::span(x).subspan(i * 3, 3)));
    }
    EXPECT_NEAR(dot, 0, 1e-6) << j;
  }
}

// A 90 % prediction interval holds about 90 % of new observations: 2,000 trials, standard deviation 0.67 points.
TEST(StatsOls, PredictionIntervalCovers) {
  Random random(2024);
  const auto noise = [&random] {
    double sum = -6;  // twelve uniforms: mean 6, variance 1, near enough to normal
    for (int i = 0; i < 12; ++i) sum += random.uniform();
    return sum;
  };
  int inside = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> x;
    std::vector<double> y;
    for (int i = 0; i < 8; ++i) {
      x.push_back(i);
      y.push_back(10 + 2 * i + noise());
    }
    const Interval interval = prediction_interval(fit_simple_ols(x, y).value(), 9, 0.9).value();
    const double observed = 10 + 2 * 9 + noise();
    inside += interval.lo <= observed && observed <= interval.hi ? 1 : 0;
  }
  EXPECT_NEAR(inside / 2000.0, 0.9, 5 * 0.0067);
}

TEST(StatsOls, DegenerateInputIsAnError) {
  const auto code = [](std::vector<double> x, std::vector<double> y) {
    const auto fit = fit_simple_ols(x, y);
    return fit ? Errc::internal : fit.error().code;
  };
  EXPECT_EQ(code({}, {}), Errc::bad_data);
  EXPECT_EQ(code({1, 2}, {1, 2}), Errc::bad_data);
  EXPECT_EQ(code({1, 2, 3}, {1, 2}), Errc::bad_data);
  EXPECT_EQ(code({5, 5, 5, 5}, {1, 2, 3, 4}), Errc::bad_data);
  EXPECT_EQ(code({0.1, 0.1, 0.1, 0.1}, {1, 2, 3, 4}), Errc::bad_data);
  EXPECT_EQ(code({0, 0, 0}, {1, 2, 3}), Errc::bad_data);
  EXPECT_EQ(code({1, kNan, 3}, {1, 2, 3}), Errc::bad_data);
  EXPECT_EQ(code({1, 2, 3}, {1, kInfinity, 3}), Errc::bad_data);
  EXPECT_EQ(code({1, 2, 1e300}, {1, 2, 3}), Errc::bad_data);

  // Third column = first + second.
  const std::vector<double> y{1, 2, 3, 4, 5, 7};
  const std::vector<double> collinear{1, 5, 6, 2, 3, 5, 3, 8, 11, 4, 1, 5, 5, 9, 14, 6, 2, 8};
  EXPECT_EQ(fit_ols(collinear, 3, y).error().code, Errc::bad_data);
  const std::vector<double> constant{1, 5, 2, 5, 3, 5, 4, 5, 5, 5, 6, 5};
  const Error error = fit_ols(constant, 2, y).error();
  EXPECT_EQ(error.code, Errc::bad_data);
  EXPECT_NE(error.what.find("predictor 1"), std::string::npos) << error.what;
  EXPECT_EQ(fit_ols({}, 0, y).error().code, Errc::bad_data);
  EXPECT_EQ(fit_ols(std::vector<double>{1, 2, 3}, 1, y).error().code, Errc::bad_data);
  EXPECT_EQ(fit_ols(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}, 2, std::vector<double>{1, 2, 3, 4}).has_value(),
            false);
}

// y that does not vary has a slope of zero and no R²; a perfect line has no residual.
TEST(StatsOls, FlatAndPerfectLines) {
  const SimpleFit flat = fit_simple_ols(kX, std::vector<double>(5, 0.1)).value();
  EXPECT_NEAR(flat.slope, 0, 1e-16);
  EXPECT_FALSE(flat.r2.has_value());
  const SimpleFit perfect = fit_simple_ols(kX, std::vector<double>{3, 5, 7, 9, 11}).value();
  EXPECT_DOUBLE_EQ(perfect.slope, 2);
  EXPECT_NEAR(perfect.residual_sd, 0, 1e-14);
  EXPECT_DOUBLE_EQ(perfect.r2.value(), 1);
}

}  // namespace
}  // namespace flopwatt::stats
