// data/calibrations/ is what the fit makes of the study's files, no more and no less.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "flopwatt/fit/fit.hpp"
#include "flopwatt/io/json.hpp"
#include "flopwatt/power/embedded.hpp"

namespace flopwatt::fit {
namespace {

/// Where two documents differ by more than `relative`, or nothing.  Scores are rounded to 1e-4 when written.
std::string difference(const io::Json& a, const io::Json& b, const std::string& path, double relative) {
  if (a.is_number() && b.is_number()) {
    const double x = a.get<double>(), y = b.get<double>();
    const bool score = path.find("conformal_scores_pct") != std::string::npos;
    const double allowed = relative * std::max(std::abs(x), std::abs(y)) + (score ? 1.01e-4 : 0);
    return std::abs(x - y) <= allowed ? "" : path + ": " + a.dump() + " against " + b.dump();
  }
  if (a.type() != b.type() || a.size() != b.size()) return path + ": of another kind or size";
  if (a.is_object()) {
    for (const auto& [key, member] : a.items()) {
      if (!b.contains(key)) return path + ": lacks " + key;
      if (auto found = difference(member, b[key], path + "." + key, relative); !found.empty()) return found;
    }
    return {};
  }
  if (a.is_array()) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (auto found = difference(a[i], b[i], path + "[" + std::to_string(i) + "]", relative); !found.empty())
        return found;
    }
    return {};
  }
  return a == b ? "" : path + ": " + a.dump() + " against " + b.dump();
}

TEST(ShippedCalibrations, AreWhatTheFitMakesOfTheStudysFiles) {
  const std::filesystem::path folder = std::filesystem::path{FLOPWATT_SHARED} / "gpu_power_benchmark";
  if (std::string_view{FLOPWATT_SHARED}.empty() || !std::filesystem::exists(folder)) {
    GTEST_SKIP() << "needs the study's files: configure with -DFLOPWATT_SHARED=DIR";
  }
  std::vector<dataset::Dataset> all;
  for (const char* name : {"a100.csv", "l40.csv", "mi210.csv", "quadro_rtx_5000.csv"}) {
    std::ifstream in{folder / name, std::ios::binary};
    std::stringstream text;
    text << in.rdbuf();
    auto data = dataset::read_samples(text.str(), name);
    ASSERT_TRUE(data.has_value());
    for (dataset::Dataset& one : *data) all.push_back(std::move(one));
  }
  FitOptions options;
  options.resamples = 0;  // bootstrap intervals are no part of a calibration
  const auto result = fit(all, options);
  ASSERT_TRUE(result.has_value());
  std::size_t found = 0;
  for (const power::EmbeddedFile& file : power::embedded_files()) {
    const auto shipped = io::parse_json(file.content, file.name);
    ASSERT_TRUE(shipped.has_value());
    std::string made;
    if (file.name == "prior.json") made = power::write_prior(*result->prior);
    for (const DeviceFit& device : result->devices) {
      if (shipped->contains("device") && (*shipped)["device"] == device.device) {
        made = power::write_calibration(device.calibration);
      }
    }
    ASSERT_FALSE(made.empty()) << file.name;
    // The search for the saturating parameters stops within 1e-7 of the minimum, wherever it came from.
    EXPECT_EQ(difference(*shipped, *io::parse_json(made, "made"), std::string{file.name}, 1e-6), "");
    ++found;
  }
  EXPECT_EQ(found, 5U);
}

}  // namespace
}  // namespace flopwatt::fit
