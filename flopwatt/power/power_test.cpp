#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "flopwatt/power/calibration.hpp"
#include "flopwatt/power/predict.hpp"
#include "flopwatt/power/prior.hpp"

namespace flopwatt::power {
namespace {

using testing::HasSubstr;
using units::Precision;
using units::teraflop_per_second;
using units::watt;

/// Three rows (10 %, 100 W), (20 %, 112 W), (30 %, 118 W): x̄ 20, ȳ 110, Sxx 200, Sxy 180, so slope 0.9, intercept 92,
/// residuals −1, 2, −1, SSE 6, s = √(6/1).
Line cell_a() {
  return {.rows = 3,
          .intercept_watts = 92,
          .slope_watts_per_pct = 0.9,
          .intercept_variance = 14,
          .slope_variance = 0.03,
          .covariance = -0.6,
          .residual_sd_watts = std::sqrt(6.0),
          .mfu_mean_pct = 20,
          .mfu_spread_pct2 = 200,
          .r2 = 1 - 6.0 / 168,
          .mape_pct = 1.2};
}

Saturating saturating() {
  Saturating model;
  model.floor_watts = 50;
  model.joules_per_flop[Precision::float32] = 2e-12;
  model.joules_per_byte = 1e-10;
  model.byte_factor[Precision::float32] = 1.5;
  model.activation_factor = 2;
  model.cap_watts = 300;
  model.softness_watts = 10;
  model.traffic_per_mbu_byte = 2;
  model.rows = 12;
  model.parameter_names = {"floor_watts", "cap_watts"};
  model.covariance = {4, 0.5, 0.5, 9};
  return model;
}

Calibration calibration() {
  Calibration c;
  c.device = "X100";
  c.family = true;
  c.label = "x100";
  c.driver = "550.1";
  c.tool = "test";
  c.sources = {{"x100.csv", std::string(64, 'a'), 3}};
  c.rows_read = 4;
  c.rows_used = 3;
  c.dropped = {{"no power", 1}};
  c.peaks = {{Precision::float32, 100 * teraflop_per_second, "vector", "float32", "recorded", "made up"},
             {Precision::float16, 200 * teraflop_per_second, "tensor_dense", "float32", "catalogue", "made up"}};
  c.idle_watts = 40;
  c.limit_watts = 300;
  c.repeat_noise_pct = 1;
  Line linear = cell_a();
  linear.intercept_watts = 50;
  c.lines.linear = linear;
  Line dtype = cell_a();
  dtype.intercept_watts = 70;
  c.lines.dtype[Precision::float32] = dtype;
  c.lines.cell[{Precision::float32, 1}] = cell_a();
  c.saturating = saturating();
  c.in_sample[Form::linear] = {3, 1, 2, -0.5};
  c.leave_one_model_out[Form::cell] = {{3, 4, 5, 1}, {{"gpt2", {3, 4, 5, 1}}}};
  c.conformal_scores_pct[Form::saturating] = {{1.5, 2.25}, {0.5}};
  c.ranges.flops_per_second[Precision::float32] = {10e12, 30e12};
  c.ranges.batch = Range{1, 128};
  c.ranges.sequence = Range{11, 11};
  c.ranges.tokens_per_step = Range{11, 1408};
  c.findings = {{"peak_mismatch", "warning", "text", 3}};
  c.notes = {"a note"};
  return c;
}

Query at(double teraflops, std::int64_t batch = 1, Precision dtype = Precision::float32) {
  Query query;
  query.dtype = dtype;
  query.flops = teraflops * teraflop_per_second;
  query.batch = batch;
  query.form = Form::cell;
  return query;
}

std::vector<FlagKind> kinds(const Prediction& prediction) {
  std::vector<FlagKind> out;
  for (const Flag& flag : prediction.flags) out.push_back(flag.kind);
  return out;
}

TEST(Predict, CellLineWithItsPredictionInterval) {
  // 20 TFLOP/s of 100 is 20 % = x̄: 92 + 0.9 · 20 = 110 W; half-width t(0.95; 1) · √6 · √(1 + 1/3) = 6.313752
  // · 2.828427.
  const auto prediction = predict(calibration(), at(20));
  ASSERT_TRUE(prediction.has_value()) << prediction.error().message();
  EXPECT_EQ(prediction->form, Form::cell);
  EXPECT_NEAR(prediction->power.in(watt), 110, 1e-12);
  EXPECT_NEAR(prediction->hi.in(watt)-110, 17.857987, 1e-5);
  EXPECT_NEAR(110 - prediction->lo.in(watt), 17.857987, 1e-5);
  EXPECT_TRUE(prediction->flags.empty());
  EXPECT_THAT(prediction->notes, testing::ElementsAre(HasSubstr("variant")));
}

// The cell's MFUs 10, 20, 30 % have the standard deviation √(200/3) = 8.165: three of them reach to 44.49 %.
TEST(Predict, ACellIsNotStretchedFarBeyondItsOwnRates) {
  const auto near = predict(calibration(), at(44));
  ASSERT_TRUE(near.has_value());
  EXPECT_EQ(near->form, Form::cell);
  EXPECT_NEAR(near->power.in(watt), 92 + 0.9 * 44, 1e-12);
  const auto far = predict(calibration(), at(45));
  ASSERT_TRUE(far.has_value());
  EXPECT_EQ(far->form, Form::dtype);
  EXPECT_NEAR(far->power.in(watt), 70 + 0.9 * 45, 1e-12);
  EXPECT_THAT(kinds(*far), testing::Contains(FlagKind::fallback));

  // A step of one sequence was measured at 0.4 % MFU; at 30 % no board of 300 W draws kilowatts.
  const Calibration a100 = shipped_calibration("A100").value();
  for (const std::int64_t batch : {1, 4, 8}) {
    for (const Precision dtype : {Precision::float32, Precision::float16, Precision::bfloat16}) {
      Query query = at(0.3 * a100.peak(dtype)->rate.in(teraflop_per_second), batch, dtype);
      query.form = Form::automatic;
      EXPECT_LT(predict(a100, query)->power.in(watt), 400) << batch;
    }
  }
}

TEST(Predict, FallsBackToDtypeThenLinearAndSaysSo) {
  const auto dtype = predict(calibration(), at(20, 48));
  ASSERT_TRUE(dtype.has_value());
  EXPECT_EQ(dtype->form, Form::dtype);
  EXPECT_NEAR(dtype->power.in(watt), 70 + 18, 1e-12);
  ASSERT_EQ(kinds(*dtype), std::vector{FlagKind::fallback});
  EXPECT_THAT(dtype->flags[0].text, HasSubstr("batch 48"));

  const auto linear = predict(calibration(), at(40, 1, Precision::float16));  // 20 % of 200
  ASSERT_TRUE(linear.has_value());
  EXPECT_EQ(linear->form, Form::linear);
  EXPECT_NEAR(linear->power.in(watt), 50 + 18, 1e-12);
  EXPECT_EQ(kinds(*linear), std::vector{FlagKind::fallback});
}

TEST(Predict, AsksForWhatTheCallerNamed) {
  Query query = at(20);
  query.form = Form::linear;
  const auto prediction = predict(calibration(), query);
  ASSERT_TRUE(prediction.has_value());
  EXPECT_EQ(prediction->form, Form::linear);
  EXPECT_TRUE(prediction->flags.empty());
}

TEST(Predict, SaysWhichInputExtrapolatesAndHowFar) {
  Query query = at(20, 128);
  query.sequence = 2048;
  const auto prediction = predict(calibration(), query);
  ASSERT_TRUE(prediction.has_value());
  ASSERT_EQ(kinds(*prediction), (std::vector{FlagKind::fallback, FlagKind::extrapolates, FlagKind::extrapolates}));
  EXPECT_THAT(prediction->flags[1].text, HasSubstr("sequence 2048"));
  EXPECT_THAT(prediction->flags[1].text, HasSubstr("186x above"));            // 2048 / 11 = 186.2
  EXPECT_THAT(prediction->flags[2].text, HasSubstr("tokens a step 262144"));  // 128 · 2048

  const auto low = predict(calibration(), at(1));
  ASSERT_TRUE(low.has_value());
  EXPECT_EQ(kinds(*low), std::vector{FlagKind::extrapolates});
  EXPECT_THAT(low->flags[0].text, HasSubstr("10x below"));
}

TEST(Predict, FlagsAValueAboveTheLimit) {
  Query query = at(20);
  query.limit = 100 * watt;
  const auto prediction = predict(calibration(), query);
  ASSERT_TRUE(prediction.has_value());
  EXPECT_EQ(kinds(*prediction), std::vector{FlagKind::above_limit});
}

TEST(Predict, Tf32IsTheFloat32ThatRanOnTensorCores) {
  Calibration c = calibration();
  EXPECT_FALSE(predict(c, at(20, 1, Precision::tf32)).has_value());  // float32 ran on the vector units there
  EXPECT_FALSE(flop_rate(c, Precision::tf32, 0.2).has_value());
  c.peaks[0].path = "tensor_dense";
  const auto prediction = predict(c, at(20, 1, Precision::tf32));
  ASSERT_TRUE(prediction.has_value()) << prediction.error().message();
  EXPECT_NEAR(prediction->power.in(watt), 110, 1e-12);
  EXPECT_THAT(prediction->notes, testing::Contains(HasSubstr("TF32")));
  EXPECT_NEAR(flop_rate(c, Precision::tf32, 0.2)->in(teraflop_per_second), 20, 1e-12);
}

TEST(Predict, AnIntervalDoesNotReachBelowZeroWatts) {
  Calibration c = calibration();
  c.conformal_scores_pct[Form::cell] = std::vector<std::vector<double>>(10, {250.0});
  const auto prediction = predict(c, at(20));
  ASSERT_TRUE(prediction.has_value());
  EXPECT_EQ(prediction->lo.in(watt), 0);
  EXPECT_NEAR(prediction->hi.in(watt), 3.5 * 110, 1e-9);
}

TEST(Predict, ANegativePowerIsNoResult) {
  Calibration c = calibration();
  c.lines.cell.at({Precision::float32, 1}).intercept_watts = -500;  // 20 % adds far less than 500 W
  const auto prediction = predict(c, at(20));
  ASSERT_FALSE(prediction.has_value());
  EXPECT_EQ(prediction.error().code, Errc::bad_data);
  EXPECT_THAT(prediction.error().what, HasSubstr("the calibration of " + c.device));
}

TEST(Predict, APowerThatIsNotFiniteIsAnError) {
  Calibration c = calibration();
  c.lines.cell.at({Precision::float32, 1}).slope_watts_per_pct = 1e308;
  const auto prediction = predict(c, at(20));
  ASSERT_FALSE(prediction.has_value());
  EXPECT_EQ(prediction.error().code, Errc::usage);
}

TEST(Predict, RefusesWhatMakesNoSense) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double rate : {-1.0, nan, std::numeric_limits<double>::infinity()}) {
    const auto bad = predict(calibration(), at(rate));
    ASSERT_FALSE(bad.has_value());
    EXPECT_EQ(bad.error().code, Errc::usage);
  }
  EXPECT_FALSE(predict(calibration(), at(20, 0)).has_value());
  EXPECT_FALSE(predict(calibration(), at(20, 1, Precision::fp8)).has_value());
  for (const double level : {0.0, 1.0, nan}) {
    Query query = at(20);
    query.level = level;
    EXPECT_FALSE(predict(calibration(), query).has_value());
  }
  Calibration no_lines = calibration();
  no_lines.lines = {};
  const auto none = predict(no_lines, at(20));
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, Errc::usage);
}

// Two signals: 50 W + 2 pJ/FLOP · 20 TFLOP/s + 0.1 nJ/B · 1.5 · (100 GB/s + 2 · 50 GB/s) = 50 + 40 + 30 = 120 W, far
// enough below the cap of 300 W (18 times the softness) to be 120 W to seven digits.
constexpr double kDemand = 120;
Query two_signals() {
  Query query = at(20);
  query.form = Form::saturating;
  query.traffic = Traffic{100 * units::gigabyte_per_second, 50 * units::gigabyte_per_second};
  return query;
}
/// Ten configurations with scores of 1 … 10 %.
std::vector<std::vector<double>> ten_scores() {
  std::vector<std::vector<double>> scores;
  for (int i = 1; i <= 10; ++i) scores.push_back({static_cast<double>(i)});
  return scores;
}

TEST(Saturating, AddsWhatItsTermsDraw) {
  Calibration c = calibration();
  c.conformal_scores_pct[Form::saturating] = ten_scores();
  const auto prediction = predict(c, two_signals());
  ASSERT_TRUE(prediction.has_value()) << prediction.error().message();
  EXPECT_EQ(prediction->form, Form::saturating);
  EXPECT_NEAR(prediction->power.in(watt), kDemand, 1e-5);
  // Ten scores, level 0.9: the ⌈11 · 0.9⌉ = 10th smallest, 10 %.
  EXPECT_NEAR(prediction->lo.in(watt), 0.9 * kDemand, 1e-5);
  EXPECT_NEAR(prediction->hi.in(watt), 1.1 * kDemand, 1e-5);
  EXPECT_TRUE(prediction->flags.empty());

  Query query = two_signals();
  query.level = 0.8;  // ⌈11 · 0.8⌉ = 9th: 9 %
  EXPECT_NEAR(predict(c, query)->hi.in(watt), 1.09 * kDemand, 1e-5);
  query.level = 0.95;  // ⌈10.45⌉ = 11th of ten: there is none
  const auto too_high = predict(c, query);
  ASSERT_FALSE(too_high.has_value());
  EXPECT_EQ(too_high.error().code, Errc::usage);
  EXPECT_THAT(too_high.error().message(), HasSubstr("19"));
}

TEST(Saturating, CapHoldsSoftly) {
  EXPECT_NEAR(softmin(300, 300, 10), 300 - 10 * std::log(2.0), 1e-12);
  EXPECT_NEAR(softmin(0, 300, 10), 0, 1e-11);
  EXPECT_NEAR(softmin(1e9, 300, 10), 300, 1e-11);
  double last = -1;
  for (double x = 0; x < 600; x += 1) {  // rises as far as doubles can tell, and stays below both
    const double value = softmin(x, 300, 10);
    EXPECT_GT(value, last);
    EXPECT_LE(value, std::min(x, 300.0));
    last = value;
  }
}

TEST(Saturating, RisesWithEveryRate) {
  const Saturating model = saturating();
  const auto watts = [&](double teraflops, double parameters, double activations) {
    return model.watts(Precision::float32, teraflops * teraflop_per_second,
                       {parameters * units::gigabyte_per_second, activations * units::gigabyte_per_second});
  };
  EXPECT_GT(watts(21, 100, 50), watts(20, 100, 50));
  EXPECT_GT(watts(20, 101, 50), watts(20, 100, 50));
  EXPECT_GT(watts(20, 100, 51), watts(20, 100, 50));
  EXPECT_LT(watts(1e6, 1e6, 1e6), 300 + 1e-9);
}

TEST(Saturating, IsTheChoiceWhereBytesAreKnown) {
  Calibration c = calibration();
  c.conformal_scores_pct[Form::saturating] = ten_scores();
  Query query = two_signals();
  query.form = Form::automatic;
  EXPECT_EQ(predict(c, query)->form, Form::saturating);
  // An MBU's bytes: 50 GB/s · 2 moved a byte counted = 100 GB/s of parameters: 50 + 40 + 15 = 105 W.
  query.traffic.reset();
  query.bytes = 50 * units::gigabyte_per_second;
  const auto by_mbu = predict(c, query);
  EXPECT_NEAR(by_mbu->power.in(watt), 105, 1e-5);
  EXPECT_THAT(by_mbu->notes.front(), HasSubstr("MBU"));
  query.bytes.reset();
  const auto without = predict(c, query);
  EXPECT_EQ(without->form, Form::cell);
  EXPECT_EQ(kinds(*without), std::vector{FlagKind::fallback});
  EXPECT_THAT(without->flags[0].text, HasSubstr("byte rate"));
}

TEST(Saturating, HasNoIntervalWithoutHeldOutErrors) {
  Calibration c = calibration();
  c.conformal_scores_pct.clear();
  const auto prediction = predict(c, two_signals());
  ASSERT_FALSE(prediction.has_value());
  EXPECT_EQ(prediction.error().code, Errc::bad_data);
}

TEST(Predict, IntervalIsConformalWhereHeldOutErrorsAreKnown) {
  Calibration c = calibration();
  c.saturating.reset();
  c.conformal_scores_pct = {{Form::cell, ten_scores()}};
  const auto prediction = predict(c, at(20));
  ASSERT_TRUE(prediction.has_value());
  EXPECT_NEAR(prediction->hi.in(watt), 1.1 * 110, 1e-9);
  EXPECT_THAT(prediction->interval_method, HasSubstr("conformal"));
}

Prior prior_of(double limit) {
  Prior prior;
  prior.limit = limit * watt;
  prior.idle = 0.1 * limit * watt;
  prior.peak = 400 * teraflop_per_second;
  prior.bandwidth = 2000 * units::gigabyte_per_second;
  return prior;
}

TEST(Uncalibrated, IsFlaggedAndWide) {
  Query query = two_signals();
  query.form = Form::automatic;
  const auto prediction = predict_uncalibrated("B300", prior_of(1000), query);
  ASSERT_TRUE(prediction.has_value()) << prediction.error().message();
  ASSERT_FALSE(prediction->flags.empty());
  EXPECT_EQ(prediction->flags.front().kind, FlagKind::uncalibrated);
  EXPECT_GT(prediction->hi.in(watt), 1.3 * prediction->power.in(watt));
  EXPECT_LT(prediction->lo.in(watt), 0.7 * prediction->power.in(watt));
  EXPECT_GE(prediction->lo.in(watt), 0);
}

TEST(Uncalibrated, ScalesWithTheLimit) {
  Query query = two_signals();
  const auto small = predict_uncalibrated("small", prior_of(300), query);
  const auto large = predict_uncalibrated("large", prior_of(600), query);
  ASSERT_TRUE(small.has_value() && large.has_value());
  EXPECT_NEAR(large->power.in(watt), 2 * small->power.in(watt), 1e-9 * large->power.in(watt));
  query.flops = 2 * query.flops;
  EXPECT_GT(predict_uncalibrated("small", prior_of(300), query)->power, small->power);
}

TEST(Uncalibrated, NeedsALimitAndAPeak) {
  Prior prior = prior_of(300);
  prior.limit = {};
  EXPECT_EQ(predict_uncalibrated("x", prior, two_signals()).error().code, Errc::usage);
  prior = prior_of(300);
  prior.peak.reset();
  EXPECT_EQ(predict_uncalibrated("x", prior, two_signals()).error().code, Errc::usage);
  Query query = two_signals();
  query.level = 0.999;
  EXPECT_EQ(predict_uncalibrated("x", prior_of(300), query).error().code, Errc::usage);
}

TEST(DevicePriorFile, ReadsBackExactly) {
  const auto prior = shipped_prior();
  ASSERT_TRUE(prior.has_value()) << prior.error().message();
  const std::string text = write_prior(*prior);
  EXPECT_EQ(write_prior(*read_prior(text, "prior.json")), text);
  EXPECT_FALSE(read_prior("{}", "prior.json").has_value());
}

TEST(Shipped, EveryCalibrationReadsAndPredicts) {
  const auto all = shipped_calibrations();
  ASSERT_TRUE(all.has_value()) << all.error().message();
  ASSERT_GE(all->size(), 4U);
  for (const Calibration& c : *all) {
    ASSERT_TRUE(c.saturating) << c.device;
    Query query;
    query.dtype = c.peaks.front().dtype;
    query.flops = 0.2 * c.peaks.front().rate;
    query.batch = 64;
    query.traffic = Traffic{c.ranges.bytes_per_second->lo * units::byte_per_second, {}};
    const auto prediction = predict(c, query);
    ASSERT_TRUE(prediction.has_value()) << prediction.error().message();
    EXPECT_EQ(prediction->form, Form::saturating);
    EXPECT_LT(prediction->lo, prediction->power);
    EXPECT_LT(prediction->power, prediction->hi);
  }
}

TEST(Shipped, AFamilyStandsForItsVariantsWithANote) {
  const auto variant = shipped_calibration("A100-PCIE-80GB", "A100");
  ASSERT_TRUE(variant.has_value()) << variant.error().message();
  EXPECT_EQ(variant->device, "A100");
  EXPECT_THAT(variant->notes.back(), HasSubstr("A100-PCIE-80GB"));
  EXPECT_TRUE(shipped_calibration("L40").has_value());
  const auto none = shipped_calibration("L40S", "L40S");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, Errc::usage);
  EXPECT_THAT(none.error().message(), HasSubstr("MI210"));
}

TEST(FlopRate, TurnsAnMfuIntoARateByTheStoredPeak) {
  EXPECT_DOUBLE_EQ(flop_rate(calibration(), Precision::float16, 0.25)->in(teraflop_per_second), 50);
  EXPECT_FALSE(flop_rate(calibration(), Precision::bfloat16, 0.25).has_value());
  EXPECT_FALSE(flop_rate(calibration(), Precision::float16, -0.25).has_value());
}

TEST(Forms, NamesReadBack) {
  for (const Form form : {Form::automatic, Form::linear, Form::dtype, Form::cell, Form::saturating}) {
    EXPECT_EQ(parse_form(name(form)), form);
  }
  EXPECT_FALSE(parse_form("quadratic"));
}

TEST(CalibrationFile, ReadsBackExactly) {
  const std::string text = write_calibration(calibration());
  const auto read = read_calibration(text, "x100.json");
  ASSERT_TRUE(read.has_value()) << read.error().message();
  EXPECT_EQ(write_calibration(*read), text);
  EXPECT_EQ(read->device, "X100");
  EXPECT_EQ(read->driver, "550.1");
  EXPECT_FALSE(read->clocks);
  EXPECT_DOUBLE_EQ(read->peak(Precision::float16)->rate.in(teraflop_per_second), 200);
  EXPECT_EQ(read->lines.cell.size(), 1U);
  EXPECT_EQ(read->leave_one_model_out.at(Form::cell).folds.at("gpt2").rows, 3U);
  EXPECT_EQ(read->conformal_scores_pct, calibration().conformal_scores_pct);
  EXPECT_EQ(read->saturating->parameter_names.size(), 2U);
  EXPECT_EQ(read->saturating->covariance.size(), 4U);
  EXPECT_EQ(read->ranges.tokens_per_step->hi, 1408);
}

TEST(CalibrationFile, RefusesWhatIsWrongByName) {
  const std::string good = write_calibration(calibration());
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    const auto at_byte = text.find(from);
    EXPECT_NE(at_byte, std::string::npos) << from;
    text.replace(at_byte, from.size(), to);
    return read_calibration(text, "x100.json");
  };
  const auto expect = [](const Result<Calibration>& result, std::string_view key) {
    ASSERT_FALSE(result.has_value()) << key;
    EXPECT_EQ(result.error().code, Errc::bad_data);
    EXPECT_THAT(result.error().message(), HasSubstr("x100.json"));
    EXPECT_THAT(result.error().message(), HasSubstr(std::string{key}));
  };
  expect(with("\"schema\": 1", "\"schema\": 2"), "schema");
  expect(with("\"idle_watts\": 40", "\"idle_watts\": -40"), "idle_watts");
  expect(with("\"mfu_spread_pct2\": 200", "\"mfu_spread_pct2\": 0"), "mfu_spread_pct2");
  expect(with("\"dtype\": \"float16\"", "\"dtype\": \"float17\""), "dtype");
  expect(with("\"notes\"", "\"remarks\""), "remarks");
  expect(read_calibration(good.substr(0, good.size() / 2), "x100.json"), "x100.json");
  expect(read_calibration("", "x100.json"), "x100.json");
  expect(read_calibration("[]", "x100.json"), "x100.json");
}

}  // namespace
}  // namespace flopwatt::power
