#include "flopwatt/audit/audit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "flopwatt/work/ledger.hpp"

namespace flopwatt::audit {
namespace {

using dataset::Observation;
using testing::Contains;
using testing::Not;

const device::Catalogue& devices() {
  static const device::Catalogue catalogue = device::Catalogue::shipped().value();
  return catalogue;
}
const model::Catalogue& models() {
  static const model::Catalogue catalogue = model::Catalogue::builtin();
  return catalogue;
}

/// A fault-free measurement of an A100-PCIE-80GB (300 W, 312 TFLOP/s bfloat16, 19.5 float32 vector, 1.935 TB/s): padded
/// sequences, a compute-bound step at 40 % MFU, power that rises with the rate, repeats that scatter by half a percent.
dataset::Dataset clean() {
  dataset::Dataset data;
  data.device = "A100-PCIE-80GB";
  data.files.push_back({.name = "clean.csv", .sha256 = "", .rows = 0});
  std::size_t line = 1;
  unsigned noise = 12345;
  const auto jitter = [&] {  // uniform in ±0.5 %
    noise = noise * 1664525U + 1013904223U;
    return 1 + 0.01 * (static_cast<double>(noise >> 8) / static_cast<double>(1U << 24) - 0.5);
  };
  Observation idle;
  idle.line = ++line;
  idle.power = 50 * units::watt;
  data.idle.push_back(idle);
  for (const char* model : {"gpt2-xl", "Qwen/Qwen2.5-1.5B"}) {
    const model::Architecture architecture = models().find(model).value();
    for (const auto& [precision, peak] :
         {std::pair{units::Precision::float32, 19.5e12}, {units::Precision::bfloat16, 312e12}}) {
      for (const std::int64_t batch : {1, 2, 4, 8}) {
        for (const std::int64_t sequence : {512, 1024}) {
          for (int repeat = 0; repeat < 3; ++repeat) {
            work::Workload workload;
            workload.batch = batch;
            workload.sequence = sequence;
            workload.precision = precision;
            const work::Totals step = work::count(architecture, workload).value().totals();
            const double mfu = (0.30 + 0.02 * static_cast<double>(batch)) * jitter();
            const double seconds = step.step.to_double() / (mfu * peak);
            Observation row;
            row.line = ++line;
            row.model = model;
            row.dtype = units::name(precision);
            row.precision = precision;
            row.batch = static_cast<double>(batch);
            row.sequence = row.context_window = static_cast<double>(sequence);
            row.tokens_per_second = static_cast<double>(batch * sequence) / seconds * units::token_per_second;
            row.mfu = mfu;
            row.counted_flops = step.step.to_double() * units::flop;
            row.layers = model == std::string_view{"gpt2-xl"} ? 48 : 28;
            row.heads = model == std::string_view{"gpt2-xl"} ? 25 : 12;
            row.head_dim = model == std::string_view{"gpt2-xl"} ? 64 : 128;
            row.formula_flops_per_token =
                step.step.to_double() / static_cast<double>(batch * sequence) * (units::flop / units::token);
            row.power = (120 + 300 * mfu) * jitter() * units::watt;
            row.gpu_utilization = 0.90 * jitter();
            row.temperature_celsius = 60 * jitter();
            row.meter_active_power = (1.1 * row.power->in(units::watt) + 150) * units::watt;
            data.rows.push_back(row);
          }
        }
      }
    }
  }
  data.files[0].rows = data.rows.size() + 1;
  return data;
}

AuditResult run(const dataset::Dataset& data) { return audit(std::span{&data, 1}, devices(), models()); }

/// Codes of all findings but info.
std::set<std::string> codes(const dataset::Dataset& data) {
  std::set<std::string> out;
  for (const Finding& finding : run(data).findings) {
    if (finding.severity != Severity::info) out.insert(finding.code);
  }
  return out;
}

/// Plants a fault in every row and says which codes it brings.
std::set<std::string> with(const std::function<void(Observation&)>& fault) {
  dataset::Dataset data = clean();
  std::for_each(data.rows.begin(), data.rows.end(), fault);
  return codes(data);
}

TEST(Audit, ACleanMeasurementHasNoErrorsAndOnlyTheMixtureOfPeaks) {
  // float32 is divided by the vector peak and bfloat16 by the tensor peak: true, and worth a warning where both are
  // pooled.
  EXPECT_THAT(codes(clean()), testing::ElementsAre("mfu_peaks_mixed"));
  const AuditResult result = run(clean());
  EXPECT_EQ(result.rows, 97U);  // 2 models × 2 dtypes × 4 batches × 2 lengths × 3 repeats + 1 idle row
  EXPECT_EQ(result.devices.at(0).counted, 96U);
  for (const Finding& finding : result.findings) EXPECT_NE(finding.severity, Severity::error) << finding.text;
}

TEST(Audit, NamesTheRowsOfAFinding) {
  dataset::Dataset data = clean();
  for (std::size_t i : {3U, 4U, 5U, 9U}) data.rows[i].power = 350 * units::watt;
  const AuditResult result = run(data);
  const auto found = std::find_if(result.findings.begin(), result.findings.end(),
                                  [](const Finding& f) { return f.code == "power_above_limit"; });
  ASSERT_NE(found, result.findings.end());
  // Line 2 is idle, row i stands on line 3 + i.
  EXPECT_THAT(found->places, testing::ElementsAre("clean.csv:6-8", "clean.csv:12"));
  EXPECT_EQ(found->rows, 4U);
}

TEST(AuditPeaks, AnotherPeakThanTheDtypesOwn) {
  // float32 rows normalised by the tf32 peak of 156 TFLOP/s instead of 19.5: MFU is 8 times too small.
  EXPECT_THAT(with([](Observation& row) {
                if (row.precision == units::Precision::float32) *row.mfu *= 19.5 / 156;
              }),
              Contains("mfu_peak_differs"));
  // The sparse peak halves the MFU of bfloat16.
  EXPECT_THAT(with([](Observation& row) {
                if (row.precision == units::Precision::bfloat16) *row.mfu /= 2;
              }),
              Contains("mfu_peak_differs"));
  EXPECT_THAT(with([](Observation& row) { *row.mfu *= 0.71; }), Contains("mfu_peak_unexplained"));
}

TEST(AuditPeaks, MissingMfuThatWouldPassOne) {
  dataset::Dataset data = clean();
  for (Observation& row : data.rows) {
    if (row.precision != units::Precision::float32 || *row.batch != 8) continue;
    *row.tokens_per_second = 3 * *row.tokens_per_second;  // 0.46 → 1.38 of the vector peak
    row.mfu.reset();
  }
  EXPECT_THAT(codes(data), Contains("mfu_missing_above_one"));
  // Missing for another reason is no finding.
  EXPECT_THAT(with([](Observation& row) {
                if (*row.batch == 8) row.mfu.reset();
              }),
              Not(Contains("mfu_missing_above_one")));
}

TEST(AuditPeaks, AboveOneAndClamped) {
  EXPECT_THAT(with([](Observation& row) { *row.mfu *= 4; }), Contains("mfu_above_one"));
  EXPECT_THAT(with([](Observation& row) {
                if (*row.batch == 8) row.mfu = 1.0;
              }),
              Contains("mfu_clamped"));
}

TEST(AuditSequence, ShorterThanConfigured) {
  EXPECT_THAT(with([](Observation& row) { *row.context_window *= 8; }), Contains("sequence_not_context"));
  // A prompt two tokens short of its window fills it.
  EXPECT_THAT(with([](Observation& row) { *row.context_window += 2; }), Not(Contains("sequence_not_context")));
}

TEST(AuditSequence, AnAxisThatChangesNothing) {
  dataset::Dataset data = clean();
  std::erase_if(data.rows, [](const Observation& row) { return *row.sequence != 512; });
  for (std::size_t i = 0; i < data.rows.size(); ++i) data.rows[i].context_window = i % 2 == 0 ? 512 : 2048;
  EXPECT_THAT(codes(data), Contains("axis_without_effect"));
  for (Observation& row : data.rows) {
    if (*row.context_window == 2048) *row.tokens_per_second = 0.9 * *row.tokens_per_second;
  }
  EXPECT_THAT(codes(data), Not(Contains("axis_without_effect")));
}

TEST(AuditRepeats, OneRunTwiceAndDifferentRuns) {
  dataset::Dataset data = clean();
  data.rows[1].power = data.rows[0].power;
  data.rows[1].tokens_per_second = data.rows[0].tokens_per_second;
  data.rows[1].temperature_celsius = data.rows[0].temperature_celsius;
  EXPECT_THAT(codes(data), Contains("repeats_identical"));

  data = clean();
  *data.rows[4].tokens_per_second = 0.6 * *data.rows[4].tokens_per_second;
  EXPECT_THAT(codes(data), Contains("repeats_differ"));

  data = clean();
  *data.rows[4].layers = 24;
  EXPECT_THAT(codes(data), Contains("repeats_of_other_work"));
}

TEST(AuditFlops, TheStepColumn) {
  const auto scaled = [](double factor) {
    return with([factor](Observation& row) { *row.counted_flops = factor * *row.counted_flops; });
  };
  EXPECT_THAT(scaled(1.01), Not(Contains("flops_unexplained")));  // norms and biases
  EXPECT_THAT(scaled(1.0 / 3), Contains("flops_forward_only"));
  EXPECT_THAT(scaled(0.5), Contains("macs_for_flops"));
  EXPECT_THAT(scaled(1.0 / 6), Contains("macs_forward_only"));
  EXPECT_THAT(scaled(3), Contains("backward_counted_twice"));
  EXPECT_THAT(scaled(0.71), Contains("flops_unexplained"));
  EXPECT_THAT(with([](Observation& row) { *row.counted_flops = *row.counted_flops / (*row.batch * *row.sequence); }),
              Contains("flops_per_token_not_step"));
}

TEST(AuditFlops, TheFormulaColumn) {
  // 3 · (6·4·L·d² + 12·L·H·Q·T): backward twice, and a parameter count of attention alone.
  const auto formula = [](double passes, double per_layer) {
    return with([=](Observation& row) {
      const double width = *row.heads * *row.head_dim;
      row.formula_flops_per_token =
          passes * (6 * per_layer * *row.layers * width * width + 12 * *row.layers * width * *row.sequence) *
          (units::flop / units::token);
    });
  };
  EXPECT_THAT(formula(3, 4), testing::IsSupersetOf({"formula_backward_counted_twice", "formula_parameter_count"}));
  EXPECT_THAT(formula(1, 4), Contains("formula_parameter_count"));
  EXPECT_THAT(formula(1, 4), Not(Contains("formula_backward_counted_twice")));
}

TEST(AuditPower, LimitScopeWindowIdle) {
  const auto scaled = [](double factor) { return with([=](Observation& row) { *row.power = factor * *row.power; }); };
  EXPECT_THAT(scaled(1.05), Not(Contains("power_above_limit")));  // at most 1.05 · 263 W
  EXPECT_THAT(scaled(1.25), Contains("power_above_limit"));
  EXPECT_THAT(scaled(4), Contains("power_scope"));
  EXPECT_THAT(scaled(0.15), Contains("power_below_idle"));
  // A plateau at 330 W on a 300 W board.
  EXPECT_THAT(with([](Observation& row) {
                *row.power =
                    std::min(330 + 0.001 * row.power->in(units::watt), 1.6 * row.power->in(units::watt)) * units::watt;
              }),
              Contains("power_window"));
}

TEST(AuditPower, StuckAndCoarseSensors) {
  EXPECT_THAT(with([](Observation& row) {
                if (row.line % 2 == 0) row.power = 200 * units::watt;
              }),
              Contains("sensor_stuck"));
  EXPECT_THAT(with([](Observation& row) {
                row.power =
                    10 * std::round(row.power->in(units::watt) / 10 + static_cast<double>(row.line % 5)) * units::watt;
              }),
              Contains("sensor_quantised"));
}

TEST(AuditPower, SyntheticPowerIsNoMeasurement) {
  EXPECT_THAT(with([](Observation& row) { row.power_source = "synthetic"; }), Contains("synthetic_power"));
  EXPECT_THAT(with([](Observation& row) { row.power_source = "nvml"; }), Not(Contains("synthetic_power")));
}

TEST(AuditSensors, UtilizationMeterDrift) {
  EXPECT_THAT(with([](Observation& row) { row.gpu_utilization = 1; }), Contains("utilization_binary"));
  EXPECT_THAT(with([](Observation& row) {
                row.meter_active_power = (260 + static_cast<double>(row.line * 37 % 11)) * units::watt;
              }),
              Contains("meter_does_not_follow"));
  EXPECT_THAT(with([](Observation& row) { row.meter_active_power = 0.5 * *row.power; }),
              Contains("meter_below_device"));
  // Three repeats at 50, 60 and 70 °C, 1 % of power for every kelvin.
  EXPECT_THAT(with([](Observation& row) {
                row.temperature_celsius = 50 + 10 * static_cast<double>(row.line % 3);
                *row.power = (1 + 0.01 * (*row.temperature_celsius - 60)) * *row.power;
              }),
              Contains("drift_temperature"));
  EXPECT_THAT(with([](Observation& row) { *row.power = (1 + 0.03 * static_cast<double>(row.line % 3)) * *row.power; }),
              Contains("drift_time"));
}

TEST(AuditHostBound, FlatStepTimesWhoseBytesAreQuick) {
  // Every step takes 2 s whatever the batch; the bytes of the largest (some 100 GB) need 0.1 s.
  EXPECT_THAT(with([](Observation& row) {
                row.tokens_per_second = *row.batch * *row.sequence / 2 * units::token_per_second;
                row.mfu.reset();
              }),
              Contains("host_bound"));
}

TEST(AuditValues, UnitsAndImpossibleValues) {
  EXPECT_THAT(with([](Observation& row) { *row.power = 1000 * *row.power; }), Contains("unit_milliwatts"));
  EXPECT_THAT(with([](Observation& row) { *row.power = 0.001 * *row.power; }), Contains("unit_kilowatts"));
  EXPECT_THAT(with([](Observation& row) { *row.mfu /= 100; }), Contains("unit_fraction_for_percent"));
  EXPECT_THAT(with([](Observation& row) { *row.gpu_utilization /= 100; }), Contains("unit_fraction_for_percent"));
  dataset::Dataset data = clean();
  data.rows[7].temperature_celsius = 4000;
  data.rows[8].gpu_utilization = 1.7;
  EXPECT_THAT(codes(data), Contains("impossible_value"));
}

TEST(Audit, SaysWhatItCouldNotCheck) {
  dataset::Dataset data = clean();
  data.device = "A1000";
  for (Observation& row : data.rows) row.model = "nobody/knows";
  const AuditResult result = run(data);
  EXPECT_EQ(result.devices.at(0).counted, 0U);
  EXPECT_EQ(result.devices.at(0).notes.size(), 2U);
  EXPECT_TRUE(audit({}, devices(), models()).findings.empty());
}

// A tracker's published table for an RTX 4080: GPT-2 medium, batch 8, sequence 512, sdpa, 23.8 k tokens/s, "13.9 %".
// 6 · (302 M products of the body + 51.5 M of the head) + 12·24·1024·512 = 2.27 GFLOP a token: 54 TFLOP/s achieved, of
// which 13.9 % says a peak of 389.  The dense bfloat16 peak with fp32 accumulation is 97.5.
TEST(PublishedMfu, Rtx4080WasDividedByFourTimesItsPeak) {
  const auto check = check_published_mfu({.model = "gpt2-medium",
                                          .device = "RTX 4080",
                                          .precision = units::Precision::bfloat16,
                                          .batch = 8,
                                          .sequence = 512,
                                          .tokens_per_second = 23800 * units::token_per_second,
                                          .mfu = 0.139},
                                         devices(), models());
  ASSERT_TRUE(check) << check.error().message();
  EXPECT_NEAR(check->implied_peak.in(units::teraflop_per_second), 389, 2);
  EXPECT_NEAR(check->catalogue_peak.in(units::teraflop_per_second), 97.5, 0.1);
  EXPECT_NEAR(check->mfu, 0.139 * 389 / 97.5, 0.005);
  EXPECT_FALSE(check->agrees);
  EXPECT_EQ(check_published_mfu({.model = "gpt2", .device = "T4", .sequence = 5}, devices(), models()).error().code,
            Errc::usage);
}

}  // namespace
}  // namespace flopwatt::audit
