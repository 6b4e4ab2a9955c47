#include "flopwatt/dataset/dataset.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace flopwatt::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kAggregated =
    "model_name,batch_size,dtype,sequence_length,context_window,tokens_per_second_mean,mfu_percentage_calflops_mean,"
    "gpu_utilization_mean,power_draw_watts_mean,calflops_total_mean,samples_per_config,cap_reached\n"
    "gpt2,4,float16,10,512,400,20,50,130,4e12,50,False\n"
    "gpt2,4,float16,10,512,600,,60,138,4e12,50,False\n"
    "baseline,0,float16,0,512,0,0,0,40,0,50,False\n";

Dataset only(const Result<std::vector<Dataset>>& result) {
  EXPECT_TRUE(result.has_value()) << result.error().message();
  EXPECT_EQ(result->size(), 1U);
  return result->front();
}

TEST(ReadSamples, KeepsWhatWasRecordedWithItsPlace) {
  const Dataset data = only(read_samples(kAggregated, "runs/quadro_rtx_5000.csv"));
  EXPECT_EQ(data.device, "quadro_rtx_5000");
  EXPECT_EQ(data.device_origin, DeviceOrigin::file_name);
  EXPECT_EQ(data.rows_read(), 3U);
  ASSERT_EQ(data.rows.size(), 2U);
  ASSERT_EQ(data.idle.size(), 1U);
  const Observation& row = data.rows[0];
  EXPECT_EQ(row.line, 2U);
  EXPECT_EQ(data.place(row), "runs/quadro_rtx_5000.csv:2");
  EXPECT_EQ(row.precision, units::Precision::float16);
  EXPECT_DOUBLE_EQ(*row.mfu, 0.20);              // percent in the file
  EXPECT_DOUBLE_EQ(*row.gpu_utilization, 0.50);  // percent in the file
  EXPECT_DOUBLE_EQ(row.power->in(units::watt), 130);
  EXPECT_EQ(row.cap_reached, false);
  EXPECT_FALSE(row.meter_active_power);  // a column that the file lacks
  EXPECT_FALSE(data.rows[1].mfu);        // an empty cell
  EXPECT_DOUBLE_EQ(data.idle[0].power->in(units::watt), 40);
}

TEST(ReadSamples, DerivedRatesComeFromRecordedColumns) {
  const Dataset data = only(read_samples(kAggregated, "x.csv"));
  const Observation& row = data.rows[0];
  // 4 × 10 tokens a step at 400 tokens/s: 0.1 s; 4e12 FLOP in 0.1 s: 40 TFLOP/s; at an MFU of 20 %: a peak of 200.
  EXPECT_DOUBLE_EQ(step_time(row)->in(units::second), 0.1);
  EXPECT_DOUBLE_EQ(counted_flop_rate(row)->in(units::teraflop_per_second), 40);
  EXPECT_DOUBLE_EQ(implied_peak(row)->in(units::teraflop_per_second), 200);
  EXPECT_FALSE(implied_peak(data.rows[1]));  // no MFU
  EXPECT_FALSE(step_time(data.idle[0]));     // batch 0
}

TEST(ReadSamples, RawColumnsHaveNoSuffix) {
  const Dataset data =
      only(read_samples("model_name,batch_size,dtype,power_draw_watts,mfu_percentage_calflops\n"
                        "gpt2,1,bf16,100,5\n",
                        "a.csv"));
  EXPECT_EQ(data.files[0].layout, Layout::raw);
  EXPECT_DOUBLE_EQ(data.rows[0].power->in(units::watt), 100);
  EXPECT_EQ(data.rows[0].precision, units::Precision::bfloat16);
  EXPECT_EQ(data.rows[0].samples, 1);
  EXPECT_THAT(data.files[0].columns_absent, testing::Contains("tokens_per_second"));
}

TEST(ReadSamples, ToolWordsForNoReadingAreMissing) {
  const Dataset data =
      only(read_samples("model_name,batch_size,dtype,power_draw_watts,gpu_utilization\n"
                        "gpt2,1,float32,[Not Supported],[N/A]\n"
                        "gpt2,1,float32,nan,N/A\n",
                        "a.csv"));
  for (const Observation& row : data.rows) {
    EXPECT_FALSE(row.power);
    EXPECT_FALSE(row.gpu_utilization);
  }
}

TEST(ReadSamples, DeviceIsTheOptionThenTheColumnThenTheFile) {
  constexpr std::string_view kTwo =
      "hardware,model_name,batch_size,dtype,power_draw_watts\n"
      "L40,gpt2,1,float32,100\n"
      "T4,gpt2,1,float32,50\n"
      "L40,gpt2,2,float32,101\n";
  const auto by_column = read_samples(kTwo, "all.csv");
  ASSERT_TRUE(by_column.has_value());
  ASSERT_EQ(by_column->size(), 2U);
  EXPECT_EQ((*by_column)[0].device, "L40");
  EXPECT_EQ((*by_column)[0].rows.size(), 2U);
  EXPECT_EQ((*by_column)[1].device, "T4");
  EXPECT_EQ((*by_column)[1].device_origin, DeviceOrigin::column);
  const Dataset by_option = only(read_samples(kTwo, "all.csv", {.device = "A30"}));
  EXPECT_EQ(by_option.device, "A30");
  EXPECT_EQ(by_option.rows.size(), 3U);
  EXPECT_THAT(
      by_option.notes,
      testing::ElementsAre("all.csv says L40, T4; --device A30 stands in its place, and the rows count as those "
                           "of one device"));
}

TEST(ReadSamples, NamesFileLineAndColumnOfWhatItCannotUse) {
  const auto text =
      read_samples("model_name,batch_size,dtype,power_draw_watts\ngpt2,1,float32,100\ngpt2,1,float32,12W\n", "bad.csv");
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, Errc::bad_data);
  EXPECT_THAT(text.error().message(), HasSubstr("bad.csv:3"));
  EXPECT_THAT(text.error().message(), HasSubstr("power_draw_watts"));

  const auto column = read_samples("model_name,batch_size,dtype\ngpt2,1,float32\n", "bad.csv");
  ASSERT_FALSE(column.has_value());
  EXPECT_EQ(column.error().code, Errc::bad_data);
  EXPECT_THAT(column.error().message(), HasSubstr("power_draw_watts"));

  const auto flag =
      read_samples("model_name,batch_size,dtype,power_draw_watts,cap_reached\ngpt2,1,float32,1,maybe\n", "bad.csv");
  ASSERT_FALSE(flag.has_value());
  EXPECT_THAT(flag.error().message(), HasSubstr("cap_reached"));

  const auto empty = read_samples("model_name,batch_size,dtype,power_draw_watts\n", "bad.csv");
  ASSERT_FALSE(empty.has_value());
  EXPECT_EQ(empty.error().code, Errc::bad_data);

  const auto device =
      read_samples("device,model_name,batch_size,dtype,power_draw_watts\n,gpt2,1,float32,1\n", "bad.csv");
  ASSERT_FALSE(device.has_value());
  EXPECT_THAT(device.error().message(), HasSubstr("bad.csv:2"));
}

TEST(ReadSamples, InfinityIsRefused) {
  for (const char* word : {"inf", "-Infinity", "1e999"}) {
    const auto read = read_samples(
        std::string{"model_name,batch_size,dtype,power_draw_watts\ngpt2,1,float32,"} + word + "\n", "x.csv");
    ASSERT_FALSE(read.has_value()) << word;
    EXPECT_EQ(read.error().code, Errc::bad_data);
  }
}

TEST(ReadSamples, EncodingAndLineEndsDoNotMatter) {
  const std::string plain = "model_name,batch_size,dtype,power_draw_watts\r\n\"gpt2\",\"1\",float32,100.5\r\n";
  std::string utf16 = "\xFF\xFE";
  for (const char c : plain) {
    utf16.push_back(c);
    utf16.push_back('\0');
  }
  for (const std::string& text : {plain, "\xEF\xBB\xBF" + plain, utf16}) {
    const Dataset data = only(read_samples(text, "x.csv"));
    ASSERT_EQ(data.rows.size(), 1U);
    EXPECT_EQ(data.rows[0].model, "gpt2");
    EXPECT_DOUBLE_EQ(data.rows[0].power->in(units::watt), 100.5);
  }
}

TEST(ReadSamples, RowsWithoutModelAreCounted) {
  const Dataset data =
      only(read_samples("model_name,batch_size,dtype,power_draw_watts\n,1,float32,1\ngpt2,1,float32,1\n", "x.csv"));
  ASSERT_EQ(data.dropped.size(), 1U);
  EXPECT_EQ(data.dropped[0].reason, "no model name");
  EXPECT_THAT(data.dropped[0].lines, ElementsAre(2U));
  EXPECT_EQ(data.rows_read(), 2U);
}

TEST(Aggregate, MeansOverTheSamplesOfARun) {
  const Dataset raw =
      only(read_samples("model_name,batch_size,dtype,cooldown_seconds,power_draw_watts,tokens_per_second\n"
                        "gpt2,1,float32,0,100,10\n"
                        "gpt2,1,float32,5,300,11\n"
                        "gpt2,1,float32,0,104,\n",
                        "x.csv"));
  const Dataset runs = aggregate(raw);
  EXPECT_EQ(runs.averaged.runs, runs.rows.size() + runs.idle.size());
  EXPECT_EQ(runs.averaged.samples, raw.rows.size() + raw.idle.size());
  ASSERT_EQ(runs.rows.size(), 2U);  // told apart by the cool-down
  EXPECT_DOUBLE_EQ(runs.rows[0].power->in(units::watt), 102);
  EXPECT_DOUBLE_EQ(runs.rows[0].power_sd->in(units::watt), std::sqrt(8.0));           // ±2 W, n − 1 = 1
  EXPECT_DOUBLE_EQ(runs.rows[0].tokens_per_second->in(units::token_per_second), 10);  // of the sample that has it
  EXPECT_EQ(runs.rows[0].samples, 2);
  EXPECT_EQ(runs.rows[0].line, 2U);
  EXPECT_EQ(runs.rows[1].samples, 1);
  EXPECT_FALSE(runs.rows[1].power_sd);
  EXPECT_EQ(runs.rows_read(), 3U);
}

/// Two runs of one configuration and one of another, which differ in no column that the study has.
TEST(Aggregate, IdentitiesOfTheRecorderKeepRunsAndConfigurationsApart) {
  const Dataset data =
      aggregate(only(read_samples("model_name,batch_size,dtype,power_draw_watts,configuration_id,run_id\n"
                                  "gpt2,1,float16,100,c1,r1\ngpt2,1,float16,102,c1,r1\ngpt2,1,float16,110,c1,r2\n"
                                  "gpt2,1,float16,200,c2,r3\n",
                                  "a.csv")));
  ASSERT_EQ(data.rows.size(), 3U);
  EXPECT_EQ(data.rows[0].power, 101 * units::watt);
  EXPECT_EQ(data.rows[1].power, 110 * units::watt);
  EXPECT_EQ(data.rows[2].power, 200 * units::watt);
  EXPECT_THAT(configurations(data.rows).of_row, ElementsAre(0, 0, 1));
}

TEST(Aggregate, LeavesRunsAlone) {
  const Dataset data = only(read_samples(kAggregated, "x.csv"));
  EXPECT_EQ(aggregate(data).rows.size(), data.rows.size());
}

TEST(Merge, JoinsSpellingsOfOneDevice) {
  Dataset a = only(read_samples(kAggregated, "RTX 5000.csv"));
  Dataset b = only(read_samples(kAggregated, "rtx_5000.csv"));
  Dataset c = only(read_samples(kAggregated, "rtx_4000.csv"));
  const std::vector<Dataset> merged = merge({a, c, b});
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0].rows.size(), 4U);
  EXPECT_EQ(merged[0].files.size(), 2U);
  EXPECT_EQ(merged[0].place(merged[0].rows[2]), "rtx_5000.csv:2");
  EXPECT_EQ(merged[0].rows_read(), 6U);
}

TEST(Configurations, RepeatsShareANumber) {
  const Dataset data =
      only(read_samples("model_name,batch_size,dtype,context_window,warmup_iterations,power_draw_watts\n"
                        "a,1,float32,512,0,1\n"
                        "a,1,float32,2048,0,1\n"
                        "a,1,float32,512,5,1\n"
                        "a,2,float32,512,0,1\n",
                        "x.csv"));
  const Groups groups = configurations(data.rows);
  EXPECT_THAT(groups.of_row, ElementsAre(0, 1, 0, 2));
  EXPECT_EQ(groups.count, 3U);
  EXPECT_THAT(configurations({}).of_row, IsEmpty());
}

}  // namespace
}  // namespace flopwatt::dataset
