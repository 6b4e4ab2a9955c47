#include "flopwatt/engine/chart_assets.hpp"

#include <gtest/gtest.h>

#include "flopwatt/io/file.hpp"

namespace flopwatt::engine {
namespace {

/// A folder with report-assets/ whose renderer is `script`.
std::string folder_with(const std::string& name, const std::string& script) {
  const std::string folder = testing::TempDir() + "chart_assets_" + name;
  EXPECT_TRUE(io::make_folder(folder + "/report-assets"));
  EXPECT_TRUE(io::write_file_atomic(folder + "/report-assets/vega.min.js", ""));
  EXPECT_TRUE(io::write_file_atomic(folder + "/report-assets/render.cjs", script));
  return folder;
}

TEST(FindChartAssets, TakesTheLastFolderThatHasThem) {
  const std::string first = folder_with("first", ""), second = folder_with("second", "");
  EXPECT_EQ(find_chart_assets({first, second}), second + "/report-assets");
  EXPECT_EQ(find_chart_assets({first, testing::TempDir()}), first + "/report-assets");
}

TEST(DrawCharts, SaysWhyNothingWasDrawn) {
  const std::string folder =
      folder_with("broken", "console.error('first'); console.error('the reason'); process.exit(3)");
  const auto drawn = draw_charts(folder + "/report-assets", folder, {"a"});
  ASSERT_FALSE(drawn);
  EXPECT_EQ(drawn.error().code, Errc::unavailable);
  // Without node the reason is another one, and as good.
  if (drawn.error().what.find("exit code") != std::string::npos) {
    EXPECT_EQ(drawn.error().what, "ended with exit code 3: the reason");
  }
}

TEST(DrawCharts, HandsOnFolderAndNames) {
  const std::string folder =
      folder_with("names", "require('fs').writeFileSync(process.argv[2] + '/got', process.argv.slice(3).join(' '))");
  const auto drawn = draw_charts(folder + "/report-assets", folder, {"a", "$b; c"});
  if (!drawn) GTEST_SKIP() << "no node: " << drawn.error().message();
  EXPECT_EQ(*io::read_file(folder + "/got"), "a $b; c");
}

}  // namespace
}  // namespace flopwatt::engine
