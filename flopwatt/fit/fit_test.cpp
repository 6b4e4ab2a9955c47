#include "flopwatt/fit/fit.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "flopwatt/power/predict.hpp"

namespace flopwatt::fit {
namespace {

using testing::HasSubstr;
using units::Precision;
using units::teraflop_per_second;

// A device with two cells of three repeats.  float32 was normalised by 100 TFLOP/s and float16 by 200:
//   float32, batch 1: 10 tokens and 1 TFLOP a step, so that 100 tokens/s are 10 TFLOP/s = 10 %
//   float16, batch 4: 40 tokens and 4 TFLOP a step, so that 400 tokens/s are 40 TFLOP/s = 20 %
constexpr std::string_view kHeader =
    "model_name,batch_size,dtype,sequence_length,context_window,cooldown_seconds,tokens_per_second_mean,"
    "mfu_percentage_calflops_mean,gpu_utilization_mean,power_draw_watts_mean,calflops_total_mean\n";
constexpr std::string_view kRows =
    "m,1,float32,10,512,0,100,10,20,100,1e12\n"
    "m,1,float32,10,512,1,200,20,40,112,1e12\n"
    "m,1,float32,10,512,2,300,30,60,118,1e12\n"
    "m,4,float16,10,512,0,400,20,40,130,4e12\n"
    "m,4,float16,10,512,1,600,30,60,138,4e12\n"
    "m,4,float16,10,512,2,800,40,80,152,4e12\n"
    "baseline,0,float32,0,512,0,0,0,0,40,0\n";

std::vector<dataset::Dataset> read(std::string_view rows) {
  auto data = dataset::read_samples(std::string{kHeader} + std::string{rows}, "x100.csv");
  EXPECT_TRUE(data.has_value()) << data.error().message();
  return *data;
}

DeviceFit fit_one(std::string_view rows, const FitOptions& options = {}) {
  const auto result = fit(read(rows), options);
  EXPECT_TRUE(result.has_value()) << result.error().message();
  EXPECT_EQ(result->devices.size(), 1U);
  return result->devices.front();
}

TEST(Fit, AgreesWithTheLinesComputedByHand) {
  const DeviceFit device = fit_one(kRows);
  EXPECT_EQ(device.rows_read, 7U);
  EXPECT_EQ(device.rows, 6U);
  ASSERT_EQ(device.dropped.size(), 1U);
  EXPECT_EQ(device.dropped[0].rows, 1U);

  // All rows: x 10 20 30 20 30 40, y 100 112 118 130 138 152; x̄ 25, ȳ 125, Sxx 550, Sxy 850, Syy 1766.
  const double slope = 850.0 / 550;
  const double intercept = 125 - 25 * slope;
  const double sse = 1766 - 850.0 * 850 / 550;
  EXPECT_NEAR(device.mfu->slope_watts_per_pct, slope, 1e-12);
  EXPECT_NEAR(device.mfu->intercept_watts, intercept, 1e-11);
  EXPECT_NEAR(*device.mfu->r2, 1 - sse / 1766, 1e-12);
  double mape = 0;
  const double x[] = {10, 20, 30, 20, 30, 40}, y[] = {100, 112, 118, 130, 138, 152};
  for (int i = 0; i < 6; ++i) mape += 100 * std::abs(y[i] - intercept - slope * x[i]) / y[i] / 6;
  EXPECT_NEAR(device.mfu->mape_pct, mape, 1e-11);
  // Utilisation is twice the MFU in every row.
  EXPECT_NEAR(device.utilization->slope_watts_per_pct, slope / 2, 1e-12);

  // Cells: x̄ 20, ȳ 110, Sxx 200, Sxy 180, Syy 168; and x̄ 30, ȳ 140, Sxx 200, Sxy 220, Syy 248: SSE 6 each.
  const auto& cells = device.calibration.lines.cell;
  ASSERT_EQ(cells.size(), 2U);
  const power::Line& a = cells.at({Precision::float32, 1});
  EXPECT_NEAR(a.slope_watts_per_pct, 0.9, 1e-12);
  EXPECT_NEAR(a.intercept_watts, 92, 1e-11);
  EXPECT_NEAR(a.residual_sd_watts, std::sqrt(6.0), 1e-11);
  EXPECT_NEAR(a.slope_variance, 6.0 / 200, 1e-12);                        // s²/Sxx
  EXPECT_NEAR(a.intercept_variance, 6 * (1.0 / 3 + 400.0 / 200), 1e-10);  // s²(1/n + x̄²/Sxx)
  EXPECT_NEAR(a.covariance, -20 * 6.0 / 200, 1e-11);                      // −x̄ s²/Sxx
  const power::Line& b = cells.at({Precision::float16, 4});
  EXPECT_NEAR(b.slope_watts_per_pct, 1.1, 1e-12);
  EXPECT_NEAR(b.intercept_watts, 107, 1e-11);
  // By dtype the same two lines.
  EXPECT_NEAR(device.calibration.lines.dtype.at(Precision::float16).intercept_watts, 107, 1e-11);

  const FormSummary& cell = device.models.at(power::Form::cell);
  EXPECT_EQ(cell.cells, 2U);
  EXPECT_NEAR(*cell.r2_mean, (1 - 6.0 / 168 + 1 - 6.0 / 248) / 2, 1e-12);
  EXPECT_NEAR(*cell.r2_median, *cell.r2_mean, 1e-12);
  EXPECT_NEAR(*cell.r2_sd, (6.0 / 168 - 6.0 / 248) / std::sqrt(2.0), 1e-12);
  // |residual| 1 2 1 against 100 112 118, and 1 2 1 against 130 138 152.
  EXPECT_NEAR(cell.mape_pct, 100 * (1 / 100.0 + 2 / 112.0 + 1 / 118.0 + 1 / 130.0 + 2 / 138.0 + 1 / 152.0) / 6, 1e-11);

  EXPECT_NEAR(device.residual_sd_pct.device, 100 * std::sqrt(sse / 4) / 125, 1e-10);
  EXPECT_NEAR(*device.residual_sd_pct.cell, 100 * std::sqrt(12.0 / 4) / 125, 1e-10);
  EXPECT_NEAR(*device.residual_sd_pct.repeat_noise, 100 * (std::sqrt(84.0) + std::sqrt(124.0)) / 2 / 125, 1e-10);

  ASSERT_EQ(device.regimes.size(), 2U);
  EXPECT_EQ(device.regimes[0].batch, 1);
  EXPECT_NEAR(device.regimes[0].mfu_mean, 0.20, 1e-12);
  EXPECT_NEAR(device.regimes[1].power_watts_mean, 140, 1e-12);
}

TEST(Fit, CalibrationSaysWhereItCameFromAndPredictsTheFittedRows) {
  const power::Calibration calibration = fit_one(kRows).calibration;
  ASSERT_EQ(calibration.sources.size(), 1U);
  EXPECT_EQ(calibration.sources[0].name, "x100.csv");
  EXPECT_EQ(calibration.sources[0].sha256.size(), 64U);
  EXPECT_EQ(calibration.rows_read, 7U);
  EXPECT_EQ(calibration.rows_used, 6U);
  EXPECT_DOUBLE_EQ(*calibration.idle_watts, 40);
  EXPECT_NEAR(calibration.peak(Precision::float32)->rate.in(teraflop_per_second), 100, 1e-9);
  EXPECT_NEAR(calibration.peak(Precision::float16)->rate.in(teraflop_per_second), 200, 1e-9);
  EXPECT_NEAR(calibration.ranges.flops_per_second.at(Precision::float32).hi, 30e12, 1);
  EXPECT_DOUBLE_EQ(calibration.ranges.tokens_per_step->hi, 40);

  power::Query query;
  query.dtype = Precision::float16;
  query.flops = 60 * teraflop_per_second;  // 30 % of 200
  query.batch = 4;
  query.sequence = 10;
  const auto prediction = power::predict(calibration, query);
  ASSERT_TRUE(prediction.has_value()) << prediction.error().message();
  EXPECT_NEAR(prediction->power.in(units::watt), 140, 1e-9);
  EXPECT_TRUE(prediction->flags.empty());
}

TEST(Fit, DropsRowsForACountedReason) {
  const DeviceFit device = fit_one(std::string{kRows} +
                                   "m,4,float16,10,512,3,400,,40,130,4e12\n"    // no MFU
                                   "m,4,float16,10,512,3,400,0,40,130,4e12\n"   // MFU zero
                                   "m,4,float16,10,512,3,400,20,40,,4e12\n"     // no power
                                   "m,4,float16,10,512,3,400,20,40,-5,4e12\n"   // negative power
                                   "m,4,float17,10,512,3,400,20,40,130,4e12\n"  // no such dtype
                                   "m,0,float16,10,512,3,400,20,40,130,4e12\n"  // batch zero
                                   "m,1.5,float16,10,512,3,400,20,40,130,4e12\n");
  std::size_t rows = 0;
  for (const auto& entry : device.dropped) rows += entry.rows;
  EXPECT_EQ(device.dropped.size(), 8U);  // seven, and the idle row
  EXPECT_EQ(rows, 8U);
  EXPECT_EQ(device.rows, 6U);
  EXPECT_EQ(device.rows_read, 14U);
  EXPECT_NEAR(device.mfu->slope_watts_per_pct, 850.0 / 550, 1e-12);
}

TEST(Fit, ValuesThatNoDeviceHasAreDroppedNotSummed) {
  const DeviceFit device = fit_one(std::string{kRows} +
                                   "m,4,float16,10,512,3,400,20,40,1e200,4e12\n"   // watts
                                   "m,4,float16,10,512,3,400,20,40,1e-200,4e12\n"  // watts
                                   "m,4,float16,10,512,3,400,1e300,40,130,4e12\n"  // percent MFU
                                   "m,4,float16,10,512,3,1e-300,20,40,130,4e12\n"  // tokens per second
                                   "m,4,float16,1e300,512,3,400,20,40,130,4e12\n");
  EXPECT_EQ(device.rows_read, 12U);
  EXPECT_EQ(device.rows, 8U);  // a wild rate or sequence stands beside a sound MFU
  EXPECT_TRUE(std::isfinite(device.mfu->mape_pct));
  EXPECT_TRUE(power::read_calibration(power::write_calibration(device.calibration), "made.json").has_value());
}

TEST(Fit, PeaksFromAFileReplaceTheRecordedOnes) {
  FitOptions options;
  options.peaks_from = PeaksFrom::file;
  options.peaks = *read_peaks("[\"X-100\"]\nfp32 = 200\nfloat16 = 200\n", "peaks.toml");
  // float32 rows now stand at 5, 10 and 15 %, and a row without recorded MFU comes back: 40 TFLOP/s of 200 is 20 %.
  const DeviceFit device = fit_one(std::string{kRows} + "m,4,float16,10,512,3,400,,40,130,4e12\n", options);
  EXPECT_EQ(device.rows, 7U);
  EXPECT_NEAR(device.regimes[0].mfu_mean, 0.10, 1e-12);
  EXPECT_NEAR(device.calibration.lines.cell.at({Precision::float32, 1}).slope_watts_per_pct, 1.8, 1e-12);
  EXPECT_EQ(device.calibration.peak(Precision::float32)->known_by, "file");

  options.peaks = *read_peaks("[X100]\nfloat16 = 200\n", "peaks.toml");
  const auto missing = fit(read(kRows), options);
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message(), HasSubstr("float32"));
}

TEST(Fit, SaysWhenRowsOfOneDtypeWereDividedByTwoPeaks) {
  const DeviceFit device = fit_one(std::string{kRows} + "m,4,float16,10,512,3,400,40,40,130,4e12\n");  // 100 TFLOP/s
  EXPECT_THAT(device.notes, testing::Contains(HasSubstr("not all divided by one peak")));
}

TEST(Fit, ABusyFlagIsNoUtilisation) {
  std::string rows;
  for (int i = 0; i < 10; ++i)
    rows += fmt::format("m,1,float32,10,512,{},{},{},100,{},1e12\n", i, 100 + 10 * i, 10 + i, 100 + i);
  const DeviceFit device = fit_one(rows);
  EXPECT_FALSE(device.utilization);
  EXPECT_THAT(device.utilization_absent, HasSubstr("busy flag"));
}

TEST(Fit, SameSeedSameNumbersOtherSeedOtherIntervals) {
  FitOptions options;
  options.resamples = 200;
  const DeviceFit a = fit_one(kRows, options), b = fit_one(kRows, options);
  EXPECT_EQ(a.mfu->slope_ci->lo, b.mfu->slope_ci->lo);
  EXPECT_EQ(write_calibration(a.calibration), write_calibration(b.calibration));
  options.seed = 1;
  const DeviceFit c = fit_one(kRows, options);
  EXPECT_NE(a.mfu->slope_ci->lo, c.mfu->slope_ci->lo);
  EXPECT_EQ(a.mfu->slope_watts_per_pct, c.mfu->slope_watts_per_pct);
  EXPECT_LT(a.mfu->slope_ci->lo, a.mfu->slope_watts_per_pct);
  EXPECT_GT(a.mfu->slope_ci->hi, a.mfu->slope_watts_per_pct);
  options.resamples = 0;
  EXPECT_FALSE(fit_one(kRows, options).mfu->slope_ci);
}

TEST(Fit, TooFewRowsNameTheFileAndTheReasons) {
  const auto few = fit(read("m,1,float32,10,512,0,100,10,20,100,1e12\nm,1,float32,10,512,1,200,,40,112,1e12\n"));
  ASSERT_FALSE(few.has_value());
  EXPECT_EQ(few.error().code, Errc::bad_data);
  EXPECT_THAT(few.error().message(), HasSubstr("x100.csv"));
  EXPECT_THAT(few.error().message(), HasSubstr("no MFU recorded"));

  const auto flat =
      fit(read("m,1,float32,10,512,0,100,10,20,100,1e12\n"
               "m,1,float32,10,512,1,100,10,40,112,1e12\n"
               "m,1,float32,10,512,2,100,10,40,112,1e12\n"));
  ASSERT_FALSE(flat.has_value());
  EXPECT_EQ(flat.error().code, Errc::bad_data);
  EXPECT_FALSE(fit({}).has_value());
}

TEST(Fit, OptionsOutOfRangeAreUsageErrors) {
  FitOptions options;
  options.level = 1;
  EXPECT_EQ(fit(read(kRows), options).error().code, Errc::usage);
  options = {};
  options.forms.clear();
  EXPECT_EQ(fit(read(kRows), options).error().code, Errc::usage);
  options = {};
  options.resamples = 2'000'000;
  EXPECT_EQ(fit(read(kRows), options).error().code, Errc::usage);
}

TEST(ReadPeaks, NamesTheLineOfWhatIsWrong) {
  const auto table = read_peaks("[A100]\nfloat32 = 156\nbf16 = 312.5\n", "p.toml");
  ASSERT_TRUE(table.has_value());
  EXPECT_NEAR(find_peak(*table, "a-100", Precision::bfloat16)->in(teraflop_per_second), 312.5, 1e-9);
  EXPECT_FALSE(find_peak(*table, "A100", Precision::fp8));
  EXPECT_FALSE(find_peak(*table, "L40", Precision::float32));
  for (const char* text : {"[A100]\nfloat32 = -1\n", "[A100]\nfloat32 = \"fast\"\n", "[A100]\nfloat99 = 1\n",
                           "[A100]\nfp32 = 1\nfloat32 = 2\n", "[A100]\nfloat32 = nan\n"}) {
    const auto bad = read_peaks(text, "p.toml");
    ASSERT_FALSE(bad.has_value()) << text;
    EXPECT_EQ(bad.error().code, Errc::bad_data);
    EXPECT_THAT(bad.error().message(), HasSubstr("p.toml:"));
  }
  EXPECT_FALSE(read_peaks("", "p.toml").has_value());
  EXPECT_FALSE(read_peaks("A100 = 5\n", "p.toml").has_value());
  EXPECT_FALSE(read_peaks("[A100\n", "p.toml").has_value());
}

}  // namespace
}  // namespace flopwatt::fit
