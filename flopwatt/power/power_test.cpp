#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "flopwatt/power/calibration.hpp"
#include "flopwatt/power/predict.hpp"

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
  c.in_sample[Form::linear] = {3, 1, 2, -0.5};
  c.leave_one_model_out[Form::cell] = {{3, 4, 5, 1}, {{"gpt2", {3, 4, 5, 1}}}};
  c.conformal_scores_pct[Form::saturating] = {1.5, 2.25};
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
  EXPECT_EQ(read->conformal_scores_pct.at(Form::saturating), (std::vector{1.5, 2.25}));
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
