#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "flopwatt/dataset/dataset.hpp"
#include "flopwatt/io/csv.hpp"
#include "flopwatt/io/json.hpp"
#include "flopwatt/report/figure_data.hpp"
#include "flopwatt/report/figures.hpp"
#include "flopwatt/report/report_page.hpp"

namespace flopwatt::report {
namespace {

using io::Json;
using power::Form;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kEvil = "</script><script>alert(\"1\")</script>";

/// Two devices, three models, two dtypes, three batches, two repeats: 36 rows each and an idle one.  Power is not
/// linear in MFU, so that every form errs; the second device has no meter and a name that no page may run.
std::string samples() {
  std::string csv =
      "device,model_name,batch_size,dtype,sequence_length,tokens_per_second_mean,mfu_percentage_calflops_mean,"
      "gpu_utilization_mean,power_draw_watts_mean,calflops_total_mean,power_meter_active_power_w_mean\n";
  const std::pair<std::string, double> models[] = {{"gpt2", 0.75e9}, {"gpt2-medium", 2.1e9}, {"gpt2-xl", 9.3e9}};
  for (const bool evil : {false, true}) {
    const std::string device = evil ? "\"</script><script>alert(\"\"1\"\")</script>\"" : "Fast 9000";
    csv += fmt::format("{},baseline,0,,,,,,25,,{}\n", device, evil ? "" : "80");
    for (const auto& [model, flops_per_token] : models) {
      for (const std::string dtype : {"float32", "float16"}) {
        for (const int batch : {1, 4, 16}) {
          for (const int repeat : {0, 1}) {
            const double peak = dtype == "float32" ? 50e12 : 100e12;
            const double rate = 2e12 * std::sqrt(flops_per_token / 1e9) * batch / (1 + 0.1 * batch) + 1e10 * repeat;
            const double mfu = 100 * rate / peak;
            const double watts = 60 + 8 * std::sqrt(mfu) * (evil ? 2 : 1) + repeat;
            csv += fmt::format("{},{},{},{},100,{},{},{},{},{},{}\n", device, model, batch, dtype,
                               rate / flops_per_token, mfu, 30 + mfu / 2, watts, flops_per_token * 100 * batch,
                               evil ? "" : fmt::format("{}", 40 + 1.25 * watts));
          }
        }
      }
    }
  }
  return csv;
}

const answers::Fit& answer() {
  static const answers::Fit kAnswer = [] {
    answers::Fit made;
    made.files = {"runs.csv"};
    made.options.resamples = 50;
    made.options.details = true;
    const auto data = dataset::read_samples(samples(), "runs.csv");
    EXPECT_TRUE(data.has_value()) << data.error().message();
    auto result = fit::fit(*data, made.options);
    EXPECT_TRUE(result.has_value()) << result.error().message();
    made.result = std::move(*result);
    return made;
  }();
  return kAnswer;
}

const FigureSet& set() {
  static const FigureSet kSet = figures(answer());
  return kSet;
}

io::CsvTable table(std::string_view name) {
  for (const DataFile& file : set().data) {
    if (file.name == name) return *io::CsvTable::parse(file.text, name);
  }
  ADD_FAILURE() << "no " << name;
  return *io::CsvTable::parse("none\n", name);
}

/// The numbers of a column on the rows where other columns hold these words; missing ones are left out.
std::vector<double> column(const io::CsvTable& csv, std::string_view name,
                           const std::vector<std::pair<std::string, std::string>>& where) {
  std::vector<double> out;
  for (std::size_t row = 0; row < csv.row_count(); ++row) {
    bool wanted = true;
    for (const auto& [key, word] : where) wanted = wanted && csv.cell(row, *csv.find_column(key)) == word;
    if (!wanted) continue;
    if (const auto number = *csv.number(row, *csv.find_column(name))) out.push_back(*number);
  }
  return out;
}

/// Mean of |predicted / measured − 1| in percent over the rows that have a prediction.
double mape(const io::CsvTable& csv, const std::string& device, const std::string& predicted) {
  double sum = 0, n = 0;
  for (std::size_t row = 0; row < csv.row_count(); ++row) {
    if (csv.cell(row, *csv.find_column("device")) != device) continue;
    const auto value = *csv.number(row, *csv.find_column(predicted));
    if (!value) continue;
    const double measured = **csv.number(row, *csv.find_column("power_watts"));
    sum += 100 * std::abs(*value - measured) / measured;
    n += 1;
  }
  return sum / n;
}

/// Every "field" of an encoding or facet, and the names that transforms make.
void collect(const Json& node, std::set<std::string>& used, std::set<std::string>& made) {
  if (node.is_object()) {
    for (const auto& [key, value] : node.items()) {
      if (key == "field" && value.is_string()) used.insert(value.get<std::string>());
      if (key == "as" && value.is_string()) made.insert(value.get<std::string>());
      if (key == "as" && value.is_array()) {
        for (const auto& name : value) made.insert(name.get<std::string>());
      }
      if (key == "fold") {
        for (const auto& name : value) used.insert(name.get<std::string>());
      }
      if (key == "parse") {
        for (const auto& [name, type] : value.items()) used.insert(name);
      }
      if (key == "values" && value.is_array()) {  // data of a layer's own
        for (const auto& row : value) {
          if (!row.is_object()) continue;
          for (const auto& [name, number] : row.items()) made.insert(name);
        }
      }
      collect(value, used, made);
    }
  } else if (node.is_array()) {
    for (const auto& value : node) collect(value, used, made);
  }
}

TEST(Figures, AreTheFiveOfTheStudyAndTheResidualsOnEveryAxis) {
  std::vector<std::string> names;
  for (const Figure& figure : set().figures) names.push_back(figure.name);
  EXPECT_THAT(names, testing::ElementsAre("predictors-mfu", "predictors-utilization", "batches", "errors", "predicted",
                                          "held-out", "residuals-model", "residuals-batch", "residuals-dtype",
                                          "residuals-sequence", "residuals-mfu", "residuals-memory-traffic",
                                          "residuals-power", "meter"));
  // The devices are not in the catalogue, so nobody knows their bandwidth.
  EXPECT_THAT(set().absent, testing::Contains(HasSubstr("MBU")));
}

TEST(Figures, NameOnlyColumnsThatTheirDataHave) {
  for (const Figure& figure : set().figures) {
    const auto spec = io::parse_json(figure.spec, figure.name);
    ASSERT_TRUE(spec.has_value()) << spec.error().message();
    EXPECT_EQ(spec->at("data").at("url"), figure.data);
    std::set<std::string> used, made;
    collect(*spec, used, made);
    const io::CsvTable csv = table(figure.data);
    for (const std::string& name : used)
      EXPECT_TRUE(csv.find_column(name) || made.contains(name)) << figure.name << " draws " << name;
    EXPECT_FALSE(used.empty());
    EXPECT_THAT(figure.spec, Not(HasSubstr("\"@"))) << figure.name;
    EXPECT_FALSE(figure.reading.empty());
  }
}

TEST(Figures, NameUnitsOnEveryQuantitativeAxis) {
  for (const Figure& figure : set().figures) {
    // "power (W)", "MFU (% of …)", "batch (sequences a step)": the unit stands in brackets.
    const auto spec = io::parse_json(figure.spec, figure.name);
    std::size_t titles = 0;
    const std::function<void(const Json&)> visit = [&](const Json& node) {
      if (node.is_object()) {
        for (const std::string axis : {"x", "y"}) {
          if (!node.contains(axis) || !node.at(axis).is_object() || !node.at(axis).contains("title")) continue;
          if (node.at(axis).at("title").is_null()) continue;
          const auto title = node.at(axis).at("title").get<std::string>();
          EXPECT_TRUE(title.find('(') != std::string::npos || title.starts_with("%")) << figure.name << ": " << title;
          ++titles;
        }
      }
      if (node.is_structured()) {
        for (const auto& value : node) visit(value);
      }
    };
    visit(*spec);
    EXPECT_GT(titles, 0U) << figure.name;
  }
}

TEST(FigureData, GiveTheErrorsOfTheAnswer) {
  const io::CsvTable rows = table("rows.csv");
  EXPECT_EQ(rows.row_count(), 72U);
  for (const fit::DeviceFit& device : answer().result.devices) {
    ASSERT_EQ(device.models.size(), 4U) << device.device;
    for (const auto& [form, summary] : device.models) {
      const std::string name{power::name(form)};
      EXPECT_NEAR(mape(rows, device.device, name + "_watts"), summary.mape_pct, 1e-9) << device.device << name;
      EXPECT_NEAR(mape(rows, device.device, name + "_held_out_watts"),
                  device.leave_one_model_out.at(form).pooled.mape_pct, 1e-9)
          << device.device << name;
    }
  }
}

TEST(FigureData, PercentilesMeetTheTables) {
  const io::CsvTable curve = table("held-out.csv");
  for (const fit::DeviceFit& device : answer().result.devices) {
    for (const auto& [form, folds] : device.leave_one_model_out) {
      const std::string name{power::name(form)};
      const auto at95 = column(curve, "error_pct", {{"device", device.device}, {"class", name}, {"share_pct", "95"}});
      ASSERT_EQ(at95.size(), 1U);
      EXPECT_NEAR(at95[0], folds.pooled.p95_pct, 1e-9);
    }
  }
}

TEST(FigureData, MeansOverBatchAreTheRegimes) {
  const io::CsvTable batches = table("batches.csv");
  for (const fit::DeviceFit& device : answer().result.devices) {
    for (const fit::Regime& regime : device.regimes) {
      const std::vector<std::pair<std::string, std::string>> where{
          {"device", device.device}, {"quantity", "MFU"}, {"batch", fmt::format("{}", regime.batch)}};
      ASSERT_EQ(column(batches, "mean_pct", where).size(), 1U);
      EXPECT_NEAR(column(batches, "mean_pct", where)[0], 100 * regime.mfu_mean, 1e-9);
      EXPECT_EQ(column(batches, "rows", where)[0], static_cast<double>(regime.rows));
      EXPECT_LE(column(batches, "p10_pct", where)[0], column(batches, "p90_pct", where)[0]);
    }
  }
}

TEST(FigureData, DistributionsCountEveryRowOnce) {
  const io::CsvTable errors = table("errors.csv");
  for (const fit::DeviceFit& device : answer().result.devices) {
    for (const auto& [form, summary] : device.models) {
      double rows = 0, share = 0;
      for (const double n :
           column(errors, "rows", {{"device", device.device}, {"class", std::string{power::name(form)}}}))
        rows += n;
      for (const double s :
           column(errors, "share_pct", {{"device", device.device}, {"class", std::string{power::name(form)}}}))
        share += s;
      EXPECT_EQ(rows, static_cast<double>(summary.rows));
      EXPECT_NEAR(share, 100, 1e-9);
    }
  }
}

TEST(FigureData, TheMeterLineIsTheOneThatWasPutIn) {
  // The meter was made as 40 + 1.25 times the device's watts.
  const auto& device = answer().result.devices.front();
  ASSERT_TRUE(device.details && device.details->meter);
  EXPECT_NEAR(device.details->meter->slope, 1.25, 1e-9);
  EXPECT_NEAR(device.details->meter->intercept, 40, 1e-6);
  EXPECT_NEAR(*device.details->meter->r2, 1, 1e-9);
  EXPECT_FALSE(answer().result.devices.back().details->meter);
  EXPECT_TRUE(column(table("rows.csv"), "meter_line_watts", {{"device", std::string{kEvil}}}).empty());
}

TEST(FigureData, ManyPointsAreThinnedEvenlyAndSaidSo) {
  answers::Fit many = answer();
  for (fit::DeviceFit& device : many.result.devices) {
    const std::vector<fit::Point> points = device.details->points;
    while (device.details->points.size() < kMostPoints)
      device.details->points.insert(device.details->points.end(), points.begin(), points.end());
  }
  // Two devices of 84 · 36 = 3,024 points: every second would be 3,024 of 6,048 and too many, every third is 2,016.
  ASSERT_EQ(many.result.devices.front().details->points.size(), 3024U);
  EXPECT_EQ(point_stride(answer()), 1U);
  EXPECT_EQ(point_stride(many), 3U);
  EXPECT_EQ(io::CsvTable::parse(rows_csv(many), "rows")->row_count(), 2016U);
  const FigureSet thinned = figures(many);
  EXPECT_THAT(fit_report(many, thinned, std::nullopt).front().content, HasSubstr("one row in 3 of each device"));
}

ChartScripts scripts() {
  return {.scripts = {{"vega.min.js", "var a='</script><!--';"}}, .licences = "licence of <somebody>"};
}

TEST(Page, RunsNothingThatTheDataHold) {
  const auto files = fit_report(answer(), set(), scripts());
  ASSERT_EQ(files.front().name, kReportPage);
  const std::string& page = files.front().content;
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;"));
  EXPECT_THAT(page, HasSubstr("var a='<\\/script><\\!--';"));
  EXPECT_THAT(page, HasSubstr("licence of &lt;somebody&gt;"));
  // As many ends as beginnings: the data, one library, the page's own script.
  const auto count = [&](std::string_view what) {
    std::size_t n = 0;
    for (std::size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("<script"), 3U);
  EXPECT_EQ(count("</script"), 3U);
}

TEST(Page, HoldsTheSpecificationsAndDataOfItsFiles) {
  const auto files = fit_report(answer(), set(), scripts());
  const std::string& page = files.front().content;
  const std::string open = "id=\"report-data\">";
  const std::size_t begin = page.find(open) + open.size();
  const auto data = io::parse_json(std::string_view{page}.substr(begin, page.find("</script>", begin) - begin), "page");
  ASSERT_TRUE(data.has_value()) << data.error().message();
  EXPECT_EQ(data->at("figures").size(), set().figures.size());
  for (const ReportFile& file : files) {
    if (file.name.ends_with(".csv")) {
      EXPECT_EQ(data->at("data").at(file.name), file.content);
    }
    if (file.name.ends_with(".vl.json")) {
      EXPECT_EQ(data->at("figures").at(file.name.substr(0, file.name.find('.'))),
                *io::parse_json(file.content, file.name));
    }
  }
}

TEST(Page, WithoutScriptsHasTablesAndSaysWhatIsMissing) {
  const std::string page = fit_report(answer(), set(), std::nullopt).front().content;
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("<table id=\"table-held-out\">"));
  EXPECT_THAT(page, HasSubstr("Not drawn: meter.vl.json beside this page has it."));
}

TEST(Page, AsksForNothingFromTheNetwork) {
  const std::string page = fit_report(answer(), set(), std::nullopt).front().content;
  for (const std::string_view what : {"src=", "<link", "@import", "url("}) EXPECT_THAT(page, Not(HasSubstr(what)));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST(InlineJson, ReadsBackTheSame) {
  const std::string text = R"({"a":"</script><!-- & \" \\"})";
  EXPECT_THAT(inline_json(text), Not(HasSubstr("<")));
  EXPECT_EQ(*io::parse_json(inline_json(text), "a"), *io::parse_json(text, "b"));
}

}  // namespace
}  // namespace flopwatt::report
