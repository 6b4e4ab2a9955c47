#include "flopwatt/telemetry/visible_devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flopwatt/telemetry/pci_id.hpp"

namespace flopwatt::telemetry {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<DeviceInfo> four_alike() {
  std::vector<DeviceInfo> devices;
  for (const char* uuid : {"GPU-8932f937-aaaa", "GPU-8932f9ff-bbbb", "GPU-1b5c71f2-cccc", "GPU-ffff0000-dddd"}) {
    devices.push_back({.source = "nvml", .index = devices.size(), .name = "NVIDIA A100", .uuid = uuid});
  }
  return devices;
}

std::vector<std::size_t> seen(const std::optional<std::string>& visible,
                              const std::optional<std::string>& order = std::nullopt) {
  const auto result = visible_devices(four_alike(), {visible, order});
  EXPECT_TRUE(result);
  return result ? result->devices : std::vector<std::size_t>{};
}

TEST(VisibleDevices, UnsetIsAllOfThem) { EXPECT_THAT(seen(std::nullopt), ElementsAre(0, 1, 2, 3)); }
TEST(VisibleDevices, EmptyAndMinusOneAreNone) {
  EXPECT_THAT(seen(""), IsEmpty());
  EXPECT_THAT(seen("  "), IsEmpty());
  EXPECT_THAT(seen("-1"), IsEmpty());
  EXPECT_THAT(seen("NoDevFiles"), IsEmpty());
}
TEST(VisibleDevices, IndicesKeepTheirOrder) { EXPECT_THAT(seen("2,0"), ElementsAre(2, 0)); }
TEST(VisibleDevices, TheListEndsBeforeTheFirstBadEntry) {
  EXPECT_THAT(seen("0,7,1"), ElementsAre(0));
  EXPECT_THAT(seen("1,-1,2"), ElementsAre(1));
  EXPECT_THAT(seen("1,x,2"), ElementsAre(1));
  EXPECT_THAT(seen("3,"), ElementsAre(3));
  const auto result = visible_devices(four_alike(), {"0,7,1", std::nullopt});
  EXPECT_THAT(result->notes, SizeIs(1));
}
TEST(VisibleDevices, UuidsMayBeShortened) {
  EXPECT_THAT(seen("GPU-1b5c71f2-cccc"), ElementsAre(2));
  EXPECT_THAT(seen("GPU-1b5c"), ElementsAre(2));
  EXPECT_THAT(seen("gpu-FFFF"), ElementsAre(3));
  EXPECT_THAT(seen("GPU-8932f93, GPU-8932f9f"), ElementsAre(0, 1));
  EXPECT_THAT(seen("GPU-8932"), IsEmpty());  // two begin so
}
TEST(VisibleDevices, TheSameDeviceTwiceIsNone) {
  EXPECT_THAT(seen("1,1"), IsEmpty());
  EXPECT_THAT(seen("0,GPU-8932f93"), IsEmpty());
}
TEST(VisibleDevices, IndicesAmongUnlikeDevicesNeedAnOrder) {
  std::vector<DeviceInfo> devices = four_alike();
  devices[1].name = "NVIDIA T4";
  EXPECT_FALSE(visible_devices(devices, {"0", std::nullopt}));
  EXPECT_FALSE(visible_devices(devices, {"0", "FASTEST_FIRST"}));
  EXPECT_THAT(visible_devices(devices, {"1", "PCI_BUS_ID"})->devices, ElementsAre(1));
  EXPECT_THAT(visible_devices(devices, {"GPU-1b5c", std::nullopt})->devices, ElementsAre(2));
  EXPECT_THAT(visible_devices(devices, {std::nullopt, std::nullopt})->notes, SizeIs(1));
}
std::vector<DeviceInfo> four_of_amd() {
  std::vector<DeviceInfo> devices;
  for (const char* id : {"0x00000000000000aa", "0x00000000000000bb", "0x00000000000000cc", "0x00000000000000dd"}) {
    devices.push_back({.source = "rocm_smi", .index = devices.size(), .uuid = id});
  }
  return devices;
}

TEST(VisibleDevices, HipSeesWhatRocrLeaves) {
  const auto seen_by_hip = [](const std::optional<std::string>& rocr, const std::optional<std::string>& hip) {
    return visible_hip_devices(four_of_amd(), {rocr, hip}).devices;
  };
  EXPECT_THAT(seen_by_hip(std::nullopt, std::nullopt), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(seen_by_hip("2,3", std::nullopt), ElementsAre(2, 3));
  EXPECT_THAT(seen_by_hip("2,3", "1"), ElementsAre(3));
  EXPECT_THAT(seen_by_hip("2,3", "2"), IsEmpty());
  EXPECT_THAT(seen_by_hip("GPU-00000000000000BB,0", std::nullopt), ElementsAre(1, 0));
  EXPECT_THAT(seen_by_hip("GPU-bb", std::nullopt), IsEmpty());  // ROCr wants the whole id
  EXPECT_THAT(seen_by_hip("GPU-", std::nullopt), IsEmpty());
  EXPECT_THAT(seen_by_hip("", std::nullopt), IsEmpty());
  EXPECT_THAT(seen_by_hip(std::nullopt, "-1"), IsEmpty());
  EXPECT_THAT(seen_by_hip(std::nullopt, "0,0,1"), ElementsAre(0));
  EXPECT_FALSE(visible_hip_devices(four_of_amd(), {std::nullopt, "1"}).notes.empty());
  EXPECT_TRUE(visible_hip_devices(four_of_amd(), {"GPU-00000000000000bb", std::nullopt}).notes.empty());
}

TEST(VisibleDevices, AMeterIsThatOfTheWhole) {
  std::vector<DeviceInfo> devices = four_alike();
  devices[2].part_of = 1;
  devices[1].part_of = 0;
  EXPECT_EQ(meter_of(devices, 2), 0U);
  EXPECT_EQ(meter_of(devices, 3), 3U);
  devices[0].part_of = 2;  // a circle is no way to hang
  EXPECT_LT(meter_of(devices, 2), devices.size());
}

TEST(VisibleDevices, PciAddressesCompareInEveryForm) {
  EXPECT_EQ(normal_pci_id("0000:3B:00.0"), "00000000:3b:00.0");
  EXPECT_EQ(normal_pci_id("00000000:3b:00.0"), "00000000:3b:00.0");
  EXPECT_EQ(normal_pci_id("3b:00.0"), "00000000:3b:00.0");
  EXPECT_EQ(normal_pci_id("00010001:ff:1f.7"), "00010001:ff:1f.7");
  for (const char* bad :
       {"", "3b", "3b:00", "g0:00.0", "100:00.0", "3b:20.0", "3b:00.8", "3b.00:0", ":00.0", "::.", "0000:3b:00.0 "}) {
    EXPECT_EQ(normal_pci_id(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace flopwatt::telemetry
