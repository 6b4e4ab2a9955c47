#include "flopwatt/device/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "flopwatt/device/catalogue.hpp"
#include "flopwatt/device/peak.hpp"

namespace flopwatt::device {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using units::Precision;

// A small valid file.  Tests replace a piece of it by something wrong.
constexpr std::string_view kGood = R"({
  "schema": 1,
  "sources": {"sheet": {"title": "Sheet", "url": "https://example.org/sheet"}, "talk": {"title": "A talk"}},
  "devices": [
    {
      "name": "X1-80GB", "family": "X1", "aliases": ["ex one"], "driver_names": ["Acme X1"],
      "vendor": "Acme", "architecture": "alpha", "scope": "card",
      "units": {"name": "SM", "count": 100, "clock_megahertz": 1500, "flops_per_clock": 1000, "source": ["talk"]},
      "peaks": [
        {"precision": "float32", "path": "vector", "accumulate": "fp32", "tflops_per_second": 20, "source": ["sheet"], "confidence": "A"},
        {"precision": "bfloat16", "path": "tensor_dense", "accumulate": "fp32", "tflops_per_second": 150, "range": [140, 160], "source": ["sheet", "talk"], "confidence": "B", "origin": "derived", "note": "rounded"},
        {"precision": "bfloat16", "path": "tensor_sparse", "accumulate": "fp32", "tflops_per_second": 300, "source": ["sheet"], "confidence": "B"}
      ],
      "memory_gibibytes": {"value": 80, "source": ["sheet"], "confidence": "A"},
      "memory_bandwidth_gigabytes_per_second": {"value": 2000, "source": ["sheet"], "confidence": "A"},
      "board_limit_watts": {"value": 400, "source": ["sheet"], "confidence": "A"},
      "interconnects": [{"kind": "pcie", "gigabytes_per_second_per_direction": 32, "source": ["sheet"], "confidence": "A"}],
      "unsupported": [{"precision": "fp8", "reason": "it is old"}],
      "notes": ["one"]
    }
  ]
})";

std::string with(std::string_view from, std::string_view to) {
  std::string text{kGood};
  const std::size_t at = text.find(from);
  if (at == std::string::npos) ADD_FAILURE() << "no such piece: " << from;
  return text.replace(at, from.size(), to);
}
Error refusal(const std::string& text) {
  const auto devices = read_devices(text, "my.json");
  if (devices) ADD_FAILURE() << "was not refused: " << text;
  return devices ? Error{} : devices.error();
}

TEST(DeviceReader, ReadsEveryField) {
  const auto devices = read_devices(kGood, "my.json");
  ASSERT_TRUE(devices) << devices.error().message();
  ASSERT_EQ(devices->size(), 1U);
  const Device& device = devices->front();
  EXPECT_EQ(device.name, "X1-80GB");
  EXPECT_EQ(device.family, "X1");
  EXPECT_EQ(device.scope, Scope::card);
  EXPECT_EQ(device.compute_units->count, 100);
  EXPECT_DOUBLE_EQ(device.compute_units->clock->in(units::megahertz), 1500);
  ASSERT_EQ(device.peaks.size(), 3U);
  EXPECT_EQ(device.peaks[1].precision, Precision::bfloat16);
  EXPECT_DOUBLE_EQ(device.peaks[1].rate.in(units::teraflop_per_second), 150);
  EXPECT_DOUBLE_EQ(device.peaks[1].range->low.in(units::teraflop_per_second), 140);
  EXPECT_EQ(device.peaks[1].origin, Origin::derived);
  EXPECT_EQ(to_text(device.peaks[1].sources), "Sheet, https://example.org/sheet; A talk");
  EXPECT_DOUBLE_EQ(device.memory->value.in(units::byte), 80.0 * 1073741824.0);
  EXPECT_DOUBLE_EQ(device.board_limit->value.in(units::watt), 400);
  EXPECT_FALSE(device.idle);  // absent, not zero
  EXPECT_DOUBLE_EQ(device.interconnects[0].per_direction.in(units::gigabyte_per_second), 32);
  EXPECT_EQ(device.unsupported[0].reason, "it is old");
}

TEST(DeviceReader, AFamilyIsTheNameUnlessStated) {
  const auto devices = read_devices(with(R"("family": "X1", )", ""), "my.json");
  ASSERT_TRUE(devices);
  EXPECT_EQ(devices->front().family, "X1-80GB");
}

struct Wrong {
  const char* from;
  const char* to;
  const char* says;
};

TEST(DeviceReader, RefusesWhatIsWrongAndSaysWhere) {
  const Wrong kCases[] = {
      {R"("tflops_per_second": 150)", R"("tflops_per_second": 0)", "devices[0].peaks[1].tflops_per_second"},
      {R"("tflops_per_second": 150)", R"("tflops_per_second": -150)", "positive"},
      {R"("tflops_per_second": 150)", R"("tflops_per_second": "150")", "devices[0].peaks[1].tflops_per_second"},
      {R"("tflops_per_second": 150)", R"("tflops_per_second": 150e12)", "wrong unit"},
      {R"("tflops_per_second": 150)", R"("tflops_per_second": null)", "tflops_per_second"},
      {R"("tflops_per_second": 150)", R"("tflops_per_second": NaN)", "my.json"},
      {R"("tflops_per_second": 150)", R"("tflops_per_second": 1e999)", "my.json"},
      {R"("tflops_per_second": 150)", R"("tflops": 150)", "unknown key"},
      {R"("source": ["sheet", "talk"])", R"("source": [])", "devices[0].peaks[1].source"},
      {R"("source": ["sheet", "talk"], )", "", "devices[0].peaks[1].source"},
      {R"("source": ["sheet", "talk"])", R"("source": ["shet"])", "\"shet\" is not listed"},
      {R"("talk": {"title": "A talk"})", R"("talk": {"title": "A talk"}, "more": {"title": "T"})",
       "cited by no figure"},
      {R"({"title": "A talk"})", R"({"title": " "})", "sources.talk.title"},
      {R"({"title": "A talk"})", R"({"title": "A talk", "link": ""})", "unknown key"},
      {R"("value": 80)", R"("value": -80)", "devices[0].memory_gibibytes.value"},
      {R"("value": 2000)", R"("value": 0)", "memory_bandwidth_gigabytes_per_second.value"},
      {R"("value": 400)", R"("value": 400000)", "wrong unit"},
      {R"("value": 400, "source": ["sheet"])", R"("value": 400)", "board_limit_watts.source"},
      {R"("range": [140, 160])", R"("range": [160, 140])", "range"},
      {R"("range": [140, 160])", R"("range": [151, 160])", "range"},
      {R"("range": [140, 160])", R"("range": [140])", "range"},
      {R"("confidence": "B", "origin")", R"("confidence": "D", "origin")", "confidence"},
      {R"("origin": "derived")", R"("origin": "guessed")", "origin"},
      {R"("precision": "bfloat16", "path": "tensor_dense")", R"("precision": "bf16", "path": "tensor_dense")",
       "precision"},
      {R"("path": "tensor_dense")", R"("path": "tensor")", "path"},
      {R"("path": "vector")", R"("path": 3)", "path"},
      {R"("tflops_per_second": 300)", R"("tflops_per_second": 149)", "below its dense rate"},
      {R"("tflops_per_second": 150, "range": [140, 160])", R"("tflops_per_second": 20)",
       "no faster than the float32 vector"},
      {R"("path": "tensor_sparse")", R"("path": "tensor_dense")", "twice"},
      {R"("precision": "fp8", "reason")", R"("precision": "bfloat16", "reason")", "bfloat16 has a peak"},
      {R"("reason": "it is old")", R"("reason": "")", "reason"},
      {R"("count": 100)", R"("count": 0)", "devices[0].units.count"},
      {R"("count": 100)", R"("count": 1.5)", "devices[0].units.count"},
      {R"("clock_megahertz": 1500)", R"("clock_megahertz": 1500000000)", "wrong unit"},
      {R"("kind": "pcie")", R"("kind": "rope")", "interconnects[0].kind"},
      {R"("scope": "card")", R"("scope": "box")", "scope"},
      {R"("vendor": "Acme", )", "", "devices[0].vendor"},
      {R"("name": "X1-80GB")", R"("name": "")", "devices[0].name"},
      {R"("notes": ["one"])", R"("notes": "one")", "notes"},
      {R"("notes": ["one"])", R"("note": ["one"])", "unknown key"},
      {R"("schema": 1)", R"("schema": 2)", "schema"},
      {R"("schema": 1,)", "", "schema"},
      {R"("devices": [)", R"("device": [)", "unknown key"},
  };
  for (const auto& [from, to, says] : kCases) {
    const Error error = refusal(with(from, to));
    EXPECT_EQ(error.code, Errc::bad_data) << to;
    EXPECT_THAT(error.where, HasSubstr("my.json")) << to;
    EXPECT_THAT(error.message(), HasSubstr(says)) << to;
  }
}

TEST(DeviceReader, RefusesWhatIsNoCatalogue) {
  for (const char* text : {"", "null", "[]", "{}", "{\"schema\": 1", R"({"schema": 1, "sources": {}, "devices": []})",
                           R"({"schema": 1, "sources": {}, "devices": [3]})", "\xff\xfe\x00", "0"}) {
    const Error error = refusal(text);
    EXPECT_EQ(error.code, Errc::bad_data) << text;
    EXPECT_THAT(error.where, HasSubstr("my.json")) << text;
  }
  // Cut anywhere, it is an error and never a crash or a shorter catalogue.
  for (std::size_t length = 0; length < kGood.size(); length += 7) refusal(std::string{kGood.substr(0, length)});
}

TEST(CatalogueFiles, ANameBelongsToOneDevice) {
  const auto second = [](std::string_view name, std::string_view alias, std::string_view driver) {
    std::string text = with(R"("name": "X1-80GB")", "\"name\": \"" + std::string{name} + '"');
    const auto swap = [&text](std::string_view from, std::string_view to) {
      text.replace(text.find(from), from.size(), to);
    };
    swap(R"("aliases": ["ex one"])", "\"aliases\": [\"" + std::string{alias} + "\"]");
    swap(R"("driver_names": ["Acme X1"])", "\"driver_names\": [\"" + std::string{driver} + "\"]");
    return Catalogue::parse(std::vector<Document>{{"a.json", std::string{kGood}}, {"b.json", text}});
  };
  EXPECT_TRUE(second("X2", "ex two", "Acme X2"));
  for (const auto& clash :
       {second("X1-80GB", "ex two", "Acme X2"), second("x1 80gb", "ex two", "Acme X2"),
        second("X2", "EX-ONE", "Acme X2"), second("X2", "ex two", "Acme X1"), second("X2", "Acme X1", "Acme X2")}) {
    ASSERT_FALSE(clash);
    EXPECT_EQ(clash.error().code, Errc::bad_data);
    EXPECT_EQ(clash.error().where, "b.json");
    EXPECT_THAT(clash.error().what, AllOf(HasSubstr("names two devices"), HasSubstr("X1-80GB")));
  }
}

TEST(CatalogueFiles, TheUsersOverrideAndExtend) {
  const std::vector<Document> base{{"a.json", std::string{kGood}}};
  const auto replaced = Catalogue::parse(
      base, std::vector<Document>{
                {"u.json", with(R"("tflops_per_second": 150, "range": [140, 160])", R"("tflops_per_second": 155)")}});
  ASSERT_TRUE(replaced) << replaced.error().message();
  EXPECT_EQ(replaced->devices().size(), 1U);
  EXPECT_DOUBLE_EQ(peak(replaced->devices()[0], Precision::bfloat16)->rate.in(units::teraflop_per_second), 155);

  std::string other = with(R"("name": "X1-80GB")", R"("name": "X1-40GB")");
  other.replace(other.find("ex one"), 6, "ex half");
  other.replace(other.find("Acme X1"), 7, "Acme X1h");
  const auto extended = Catalogue::parse(base, std::vector<Document>{{"u.json", other}});
  ASSERT_TRUE(extended) << extended.error().message();
  EXPECT_EQ(extended->devices().size(), 2U);
  EXPECT_EQ(extended->find_all("X1").size(), 2U);
  // Replacing does not excuse a name that a third device has.
  EXPECT_FALSE(Catalogue::parse(base, std::vector<Document>{{"u.json", other}, {"v.json", other}}));
}

}  // namespace
}  // namespace flopwatt::device
