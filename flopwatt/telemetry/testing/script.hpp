#pragma once

/// What the scripted drivers share: settings by device, a load over a time that the test sets, and a gate that hangs.
/// Header only, since every scripted driver is a library of its own that must not depend on the code under test.

#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace flopwatt::telemetry::testing {

/// "key=value; 1.key=value; …": a setting for all devices, or for one, which wins.
class Script {
 public:
  void parse(std::string_view text) {
    const std::lock_guard lock{mutex_};
    settings_.clear();
    while (!text.empty()) {
      const std::size_t semicolon = text.find(';');
      std::string_view entry = text.substr(0, semicolon);
      text.remove_prefix(semicolon == std::string_view::npos ? text.size() : semicolon + 1);
      while (!entry.empty() && entry.front() == ' ') entry.remove_prefix(1);
      const std::size_t equals = entry.find('=');
      if (equals != std::string_view::npos) {
        settings_.insert_or_assign(std::string{entry.substr(0, equals)}, std::string{entry.substr(equals + 1)});
      }
    }
  }

  [[nodiscard]] std::optional<std::string> find(std::size_t device, const std::string& key) const {
    const std::lock_guard lock{mutex_};
    auto found = settings_.find(std::to_string(device) + "." + key);
    if (found == settings_.end()) found = settings_.find(key);
    if (found == settings_.end()) return std::nullopt;
    return found->second;
  }
  [[nodiscard]] double number(std::size_t device, const std::string& key, double otherwise) const {
    const auto value = find(device, key);
    if (!value) return otherwise;
    double result = otherwise;
    std::from_chars(value->data(), value->data() + value->size(), result);
    return result;
  }

  // --- time: the test's, or the real one ---
  void set_time(double seconds) { time_.store(seconds); }
  [[nodiscard]] double time() const {
    const double set = time_.load();
    if (!std::isnan(set)) return set;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  // --- load: low, step=T,high … or square=high,period,duty ---
  /// Joules from 0 to t.
  [[nodiscard]] double energy(std::size_t device, double t) const {
    const double low = number(device, "watts", 400);
    double result = low * t;
    if (find(device, "step_at")) {
      result += (number(device, "high", low) - low) * std::max(0.0, t - number(device, "step_at", 0));
    }
    if (find(device, "period")) {
      const double period = number(device, "period", 1);
      const double on = number(device, "duty", 0.5) * period;
      const double whole = std::floor(t / period);
      result += (number(device, "high", low) - low) * (whole * on + std::min(t - whole * period, on));
    }
    return result;
  }
  [[nodiscard]] double mean_power(std::size_t device, double from, double to) const {
    return (energy(device, to) - energy(device, from)) / (to - from);
  }

  // --- a call that does not return ---
  void wait_if_hung(std::size_t device, const std::string& call) {
    const auto hung = find(device, "hang");
    if (!hung || *hung != call) return;
    std::unique_lock lock{gate_mutex_};
    ++hanging_;
    gate_.wait(lock, [this] { return released_; });
    --hanging_;
  }
  void release() {
    const std::lock_guard lock{gate_mutex_};
    released_ = true;
    gate_.notify_all();
  }
  void hold() {
    const std::lock_guard lock{gate_mutex_};
    released_ = false;
  }

  /// An integer after '!' is a return code: "!3".
  [[nodiscard]] static std::optional<std::uint32_t> code(const std::optional<std::string>& value) {
    if (!value || value->empty() || value->front() != '!') return std::nullopt;
    return static_cast<std::uint32_t>(std::strtoul(value->c_str() + 1, nullptr, 10));
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> settings_;
  std::atomic<double> time_{std::nan("")};
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex gate_mutex_;
  std::condition_variable gate_;
  bool released_ = false;
  int hanging_ = 0;
};

}  // namespace flopwatt::telemetry::testing
