#include "flopwatt/sweep/meter.hpp"

#include "flopwatt/stats/random.hpp"

namespace flopwatt::sweep {
namespace {

class NoMeter final : public Meter {
 public:
  [[nodiscard]] MeterInfo info() const override { return {.source = "none", .kind = "", .scope = "", .device_id = ""}; }
  [[nodiscard]] MeterReading read(const Window&) override { return {.power_missing = "not_asked"}; }
};

class SyntheticMeter final : public Meter {
 public:
  SyntheticMeter(const PowerPlan& plan, std::uint64_t seed) : plan_{plan}, seed_{seed} {}

  [[nodiscard]] MeterInfo info() const override {
    return {.source = "synthetic", .kind = "computed", .scope = "none", .device_id = ""};
  }
  [[nodiscard]] MeterReading read(const Window& window) override {
    stats::Random random{seed_ ^ window.seed};
    const double factor = 1 + plan_.noise * (2 * random.uniform() - 1);
    const units::Power power = factor * (plan_.base + window.flops * plan_.per_flop + window.bytes * plan_.per_byte);
    const units::Duration time = (window.end_seconds - window.begin_seconds) * units::second;
    return {.power_watts = power.in(units::watt),
            .energy_joules = (power * time).in(units::joule),
            .energy_uncertainty_joules = {},
            .method = "computed"};
  }

 private:
  PowerPlan plan_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Meter> no_meter() { return std::make_unique<NoMeter>(); }

std::unique_ptr<Meter> synthetic_meter(const PowerPlan& plan, std::uint64_t seed) {
  return std::make_unique<SyntheticMeter>(plan, seed);
}

}  // namespace flopwatt::sweep
