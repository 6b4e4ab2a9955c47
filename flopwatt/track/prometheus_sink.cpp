#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flopwatt/io/file.hpp"
#include "flopwatt/track/sink.hpp"

namespace flopwatt::track {
namespace {

/// Metrics of one window.  Only what has a value is added.
class Families {
 public:
  explicit Families(const Identity& who) {
    labels_.push_back({"rank", std::to_string(who.rank)});
    if (!who.device.empty()) labels_.push_back({"device", who.device});
  }
  void gauge(std::string_view name, std::string_view help, std::optional<double> value) {
    if (!value) return;
    prometheus::ClientMetric metric;
    metric.label = labels_;
    metric.gauge.value = *value;
    families_.push_back({std::string{name}, std::string{help}, prometheus::MetricType::Gauge, {metric}});
  }
  [[nodiscard]] std::string text() const { return prometheus::TextSerializer{}.Serialize(families_); }

 private:
  std::vector<prometheus::ClientMetric::Label> labels_;
  std::vector<prometheus::MetricFamily> families_;
};

std::string metrics_of(const Identity& who, const Window& w) {
  Families out{who};
  out.gauge("flopwatt_training_step", "Last finished step, counted from 0", static_cast<double>(w.last_step));
  out.gauge("flopwatt_training_step_time_seconds", "Mean time of a step", w.step_time().in(units::second));
  out.gauge("flopwatt_training_slots_per_second", "Positions a second of this rank, padding included",
            w.slots_per_second.in(units::token_per_second));
  if (w.tokens_per_second) {
    out.gauge("flopwatt_training_tokens_per_second", "Tokens a second of this rank without padding",
              w.tokens_per_second->in(units::token_per_second));
  }
  out.gauge("flopwatt_training_mfu_ratio", "Model FLOPs a second over peak, in steps", w.mfu.value);
  out.gauge("flopwatt_training_hfu_ratio", "Executed FLOPs a second over peak, in steps", w.hfu.value);
  out.gauge("flopwatt_training_mbu_ratio", "Bytes a second over peak bandwidth, in steps", w.mbu.value);
  out.gauge("flopwatt_training_run_mfu_ratio", "Model FLOPs a second over peak, over the wall clock", w.run_mfu.value);
  if (w.energy_per_token) {
    out.gauge("flopwatt_training_energy_per_token_joules", "Energy of the rank's devices a token",
              w.energy_per_token->in(units::joule / units::token));
  }
  out.gauge("flopwatt_training_above_peak", "1: a ratio came out impossible and is withheld",
            w.has(Doubt::above_peak) ? 1.0 : 0.0);
  return out.text();
}

class PrometheusSink final : public Sink {
 public:
  explicit PrometheusSink(std::string path) : path_{std::move(path)} {}
  Result<void> window(const Identity& who, const Window& window) override {
    return io::write_file_atomic(path_, metrics_of(who, window));
  }
  Result<void> run(const Identity& /*who*/, const Window& /*run*/) override { return {}; }

 private:
  std::string path_;
};

}  // namespace

Result<std::unique_ptr<Sink>> prometheus_sink(const std::string& path) {
  if (!path.ends_with(".prom")) {
    return fail(Errc::usage, "the textfile collector reads names that end in .prom", path, "name the file so");
  }
  return std::make_unique<PrometheusSink>(path);
}

}  // namespace flopwatt::track
