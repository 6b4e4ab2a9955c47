#include "flopwatt/track/sampled_energy.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace flopwatt::track {
namespace {

using telemetry::DeviceInfo;
using telemetry::Snapshot;

/// A board of 200 W and a part of it.
class SteadySource final : public telemetry::Source {
 public:
  SteadySource() {
    devices_.resize(2);
    devices_[0].source = devices_[1].source = "steady";
    devices_[1].index = 1;
    devices_[1].part_of = 0;
  }
  [[nodiscard]] std::string_view name() const override { return "steady"; }
  [[nodiscard]] std::span<const DeviceInfo> devices() const override { return devices_; }
  [[nodiscard]] Snapshot read(std::size_t) override {
    Snapshot snapshot;
    snapshot.time = telemetry::steady_now();
    snapshot.wall = telemetry::wall_now();
    snapshot.power = {.value = 200 * units::watt, .kind = telemetry::PowerKind::instant};
    return snapshot;
  }

 private:
  std::vector<DeviceInfo> devices_;
};

TEST(SampledEnergy, ReadsAtTheEndAndAddsNoPartTwice) {
  std::vector<std::unique_ptr<telemetry::Source>> sources;
  sources.push_back(std::make_unique<SteadySource>());
  const auto sampler = std::make_shared<telemetry::Sampler>(std::move(sources));
  const auto energy_of = sampled_energy(sampler);
  sampler->read_now();
  const telemetry::SteadyTime from = telemetry::steady_now();
  while (telemetry::steady_now() - from < std::chrono::milliseconds{20}) {
  }
  const telemetry::SteadyTime to = telemetry::steady_now();
  const auto energy = energy_of(from, to);
  ASSERT_EQ(energy.size(), 1U);  // the board, not the part
  ASSERT_TRUE(energy[0].energy);
  const double expected_joules = 200 * telemetry::to_duration(to - from).in(units::second);
  EXPECT_NEAR(energy[0].energy->in(units::joule), expected_joules, 1e-6 * expected_joules);
}

}  // namespace
}  // namespace flopwatt::track
