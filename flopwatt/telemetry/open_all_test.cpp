#include "flopwatt/telemetry/open_all.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flopwatt/telemetry/sampler.hpp"
#include "flopwatt/telemetry/testing/scripted_driver.hpp"
#include "flopwatt/telemetry/testing/scripted_tree.hpp"

namespace flopwatt::telemetry {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class OpenAll : public ::testing::Test {
 protected:
  OpenAll() {
    options.nvml.library = "/nonexistent/libnvidia-ml.so.1";
    options.amd_smi = {.library = "/nonexistent/libamd_smi.so", .kfd = tree.path("kfd")};
    options.rocm_smi = {.library = "/nonexistent/librocm_smi64.so", .kfd = tree.path("kfd")};
    options.powercap.root = tree.path("powercap");
    options.hwmon.root = tree.path("hwmon");
  }
  static std::vector<std::string> names(const OpenedSources& opened) {
    std::vector<std::string> result;
    for (const auto& source : opened.sources) result.emplace_back(source->name());
    return result;
  }
  testing::ScriptedTree tree;
  OpenOptions options;
};

TEST_F(OpenAll, AMachineWithoutSensorsSaysWhyForEach) {
  const OpenedSources opened = open_all(options);
  EXPECT_TRUE(opened.sources.empty());
  std::vector<std::string> absent;
  for (const SourceAbsence& absence : opened.absent) {
    absent.push_back(absence.source);
    EXPECT_EQ(absence.reason, Absence::not_present) << absence.source;
    EXPECT_FALSE(absence.detail.empty()) << absence.source;
  }
  EXPECT_THAT(absent, UnorderedElementsAre("nvml", "amd_smi", "rocm_smi", "rapl", "hwmon"));
}

TEST_F(OpenAll, OpensWhatThereIs) {
  tree.write("powercap/intel-rapl:0/name", "package-0");
  tree.write("powercap/intel-rapl:0/energy_uj", "1");
  tree.write("hwmon/hwmon0/name", "power_meter");
  tree.write("hwmon/hwmon0/power1_average", "100000000");
  const testing::ScriptedDriver driver{FLOPWATT_SCRIPTED_NVML_LIBRARY};
  ASSERT_TRUE(driver.there());
  driver.script("");
  options.nvml.library = driver.path();
  OpenedSources opened = open_all(options);
  EXPECT_THAT(names(opened), ElementsAre("nvml", "rapl", "hwmon"));
  Sampler sampler{std::move(opened.sources)};
  EXPECT_EQ(sampler.read_now().size(), 3U);
}

TEST_F(OpenAll, ADeviceIsNotOpenedTwice) {
  tree.write("kfd/dev", "");
  tree.write("pci/0000:03:00.0/vendor", "0x1002");
  tree.write("pci/0000:44:00.0/vendor", "0x1002");
  for (const auto& [folder, address] : {std::pair{"hwmon1", "03"}, std::pair{"hwmon2", "44"}}) {
    tree.write(std::string{"hwmon/"} + folder + "/name", "amdgpu");
    tree.write(std::string{"hwmon/"} + folder + "/power1_average", "100000000");
    tree.link(std::string{"hwmon/"} + folder + "/device", std::string{"../../pci/0000:"} + address + ":00.0");
  }
  const testing::ScriptedDriver driver{FLOPWATT_SCRIPTED_ROCM_LIBRARY};
  ASSERT_TRUE(driver.there());
  driver.script("");
  options.rocm_smi.library = driver.path();
  const OpenedSources opened = open_all(options);
  EXPECT_THAT(names(opened), ElementsAre("rocm_smi", "hwmon"));
  ASSERT_EQ(opened.sources[1]->devices().size(), 1U);
  EXPECT_EQ(opened.sources[1]->devices()[0].pci_id, "00000000:44:00.0");
}

TEST_F(OpenAll, ALibraryThatHangsIsGivenUp) {
  const testing::ScriptedDriver driver{FLOPWATT_SCRIPTED_NVML_LIBRARY};
  ASSERT_TRUE(driver.there());
  driver.script("hang=init");
  options.nvml.library = driver.path();
  options.patience = 50 * units::millisecond;
  const OpenedSources opened = open_all(options);
  ASSERT_FALSE(opened.absent.empty());
  EXPECT_EQ(opened.absent[0].source, "nvml");
  EXPECT_EQ(opened.absent[0].reason, Absence::timed_out);
}

}  // namespace
}  // namespace flopwatt::telemetry
