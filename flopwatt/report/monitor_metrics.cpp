#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flopwatt/report/monitor_frame.hpp"

namespace flopwatt::report {
namespace {

using answers::MonitorDevice;
using telemetry::Reading;

using Labels = std::vector<prometheus::ClientMetric::Label>;

class Families {
 public:
  void add(std::string_view name, std::string_view help, prometheus::MetricType type, Labels labels, double value) {
    prometheus::MetricFamily* family = nullptr;
    for (prometheus::MetricFamily& known : families_) {
      if (known.name == name) family = &known;
    }
    if (family == nullptr) {
      families_.push_back({std::string{name}, std::string{help}, type, {}});
      family = &families_.back();
    }
    prometheus::ClientMetric metric;
    metric.label = std::move(labels);
    metric.gauge.value = value;
    metric.counter.value = value;
    family->metric.push_back(std::move(metric));
  }
  [[nodiscard]] std::string text() const { return prometheus::TextSerializer{}.Serialize(families_); }

 private:
  std::vector<prometheus::MetricFamily> families_;
};

Labels labels_of(const MonitorDevice& device, std::string_view scope) {
  Labels labels{{"device", device.info.id()}, {"scope", std::string{scope}}, {"source", device.info.source}};
  if (!device.info.name.empty()) labels.push_back({"name", device.info.name});
  if (!device.part_of.empty()) labels.push_back({"part_of", device.part_of});
  if (device.recorded) labels.push_back({"recorded", "true"});
  return labels;
}

class Exposition {
 public:
  void device(const MonitorDevice& device) {
    const telemetry::Snapshot& now = device.snapshot;
    labels_ = labels_of(device, key(device.info.scope));
    reading("power", "flopwatt_power_watts", "Power", now.power.value, units::watt,
            {{"kind", std::string{key(now.power.kind)}}});
    if (now.module_power.value) {
      Labels module = labels_of(device, key(telemetry::Scope::module));
      families_.add("flopwatt_power_watts", "Power", prometheus::MetricType::Gauge, std::move(module),
                    now.module_power.value->in(units::watt));
    }
    reading("limit", "flopwatt_power_limit_watts", "Enforced power limit", now.limit, units::watt);
    reading("utilization", "flopwatt_utilization_ratio", "Share of the time in which a kernel ran", now.utilization);
    reading("tensor_active", "flopwatt_tensor_active_ratio", "Share of the cycles with the tensor pipe busy",
            now.tensor_active);
    reading("memory_used", "flopwatt_memory_used_bytes", "Memory in use", now.memory_used, units::byte);
    reading("memory_total", "flopwatt_memory_total_bytes", "Memory", now.memory_total, units::byte);
    reading("compute_clock", "flopwatt_clock_hertz", "Clock", now.compute_clock, units::hertz, {{"clock", "compute"}});
    reading("memory_clock", "flopwatt_clock_hertz", "Clock", now.memory_clock, units::hertz, {{"clock", "memory"}});
    reading("temperature", "flopwatt_temperature_celsius", "Temperature", now.temperature_celsius);
    if (device.covered > units::Duration{}) {
      families_.add("flopwatt_energy_joules_total", "Energy since the monitor began, of the time that was read",
                    prometheus::MetricType::Counter, labels_, device.energy.in(units::joule));
      families_.add("flopwatt_covered_seconds_total", "Time that the energy tells of", prometheus::MetricType::Counter,
                    labels_, device.covered.in(units::second));
    }
  }
  void finish(const answers::MonitorFrame& frame) {
    families_.add("flopwatt_monitor_uptime_seconds", "Time since the monitor began", prometheus::MetricType::Gauge, {},
                  frame.since_start.in(units::second));
  }
  [[nodiscard]] std::string text() const { return families_.text(); }

 private:
  template <class Quantity>
  void reading(std::string_view what, std::string_view name, std::string_view help, const Reading<Quantity>& value,
               Quantity unit, const Labels& more = {}) {
    reading(what, name, help, value ? Reading<double>{value->in(unit)} : Reading<double>{value.reason()}, more);
  }
  void reading(std::string_view what, std::string_view name, std::string_view help, const Reading<double>& value,
               const Labels& more = {}) {
    Labels labels = labels_;
    if (value) {
      labels.insert(labels.end(), more.begin(), more.end());
      families_.add(name, help, prometheus::MetricType::Gauge, std::move(labels), *value);
    } else if (value.reason() != telemetry::Absence::not_asked) {
      labels.push_back({"reading", std::string{what}});
      labels.push_back({"reason", std::string{key(value.reason())}});
      families_.add("flopwatt_reading_absent", "1: there is no such reading, for this reason",
                    prometheus::MetricType::Gauge, std::move(labels), 1);
    }
  }

  Families families_;
  Labels labels_;
};

/// The text exposition names a counter's family as its sample, OpenMetrics without the "_total"; and it ends with EOF.
std::string as_open_metrics(const std::string& text) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) {
      const std::size_t stop = line.find(' ', 7);
      if (stop != std::string::npos && stop > 6 && line.compare(stop - 6, 6, "_total") == 0) line.erase(stop - 6, 6);
    }
    result += line + "\n";
  }
  return result + "# EOF\n";
}

}  // namespace

std::string monitor_metrics(const answers::MonitorFrame& frame, MetricsFormat format) {
  Exposition exposition;
  for (const MonitorDevice& device : frame.devices) exposition.device(device);
  exposition.finish(frame);
  return format == MetricsFormat::open_metrics ? as_open_metrics(exposition.text()) : exposition.text();
}

}  // namespace flopwatt::report
