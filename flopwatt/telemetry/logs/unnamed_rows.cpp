#include "flopwatt/telemetry/logs/unnamed_rows.hpp"

#include <algorithm>

namespace flopwatt::telemetry {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;  // ns

/// p10 to p90 of the distances from each row to the one `lag` later, and their median.
struct Spread {
  std::int64_t width = 0;
  std::int64_t median = 0;
};
Spread spread(const std::vector<std::int64_t>& times, std::size_t lag) {
  std::vector<std::int64_t> distances;
  for (std::size_t i = lag; i < times.size(); ++i) distances.push_back(times[i] - times[i - lag]);
  std::sort(distances.begin(), distances.end());
  const std::size_t n = distances.size() - 1;
  return {distances[n * 9 / 10] - distances[n / 10], distances[n / 2]};
}

/// Regular from look to look, but not from row to row, and not for want of digits in the times.
bool takes_turns(const std::vector<std::int64_t>& times) {
  constexpr std::size_t kMostDevices = 16;
  if (times.size() < 8) return false;
  std::int64_t digit = kSecond;
  for (const std::int64_t time : times) {
    while (time % digit != 0) digit /= 10;
  }
  const Spread single = spread(times, 1);
  if (single.width < single.median / 5 || single.width < digit * 3 / 2) return false;
  for (std::size_t lag = 2; lag <= kMostDevices && lag * 4 <= times.size(); ++lag) {
    if (spread(times, lag).width < single.width / 10) return true;
  }
  return false;
}

}  // namespace

void UnnamedRows::add(std::size_t device, std::string_view row, std::chrono::nanoseconds time) {
  devices_.resize(std::max(devices_.size(), device + 1));
  Device& rows = devices_[device];
  if (rows.row == row) return;
  rows.row = row;
  rows.times.push_back(time.count());
}

bool UnnamedRows::hold_several() const {
  return std::any_of(devices_.begin(), devices_.end(), [&](const Device& device) { return is_several(device.times); });
}

bool UnnamedRows::is_several(const std::vector<std::int64_t>& times) const {
  std::vector<std::int64_t> steps;
  for (std::size_t i = 1; i < times.size(); ++i) steps.push_back(times[i] - times[i - 1]);
  if (steps.empty()) return false;
  const auto share = [&](const auto& is) {
    return static_cast<double>(std::count_if(steps.begin(), steps.end(), is)) / static_cast<double>(steps.size());
  };
  // Times without fractions are also equal where one device was read more often than once a second, now and then.
  if (share([](std::int64_t step) { return step == 0; }) >= (fractions_ ? 0.05 : 0.4)) return true;
  if (times.size() < 8) return false;
  std::vector<std::int64_t> sorted = steps;
  std::sort(sorted.begin(), sorted.end());
  const std::int64_t long_step = sorted[sorted.size() * 95 / 100];
  const bool whole_seconds =
      std::all_of(times.begin(), times.end(), [](std::int64_t time) { return time % kSecond == 0; });
  const auto is_short = [&](std::int64_t step) { return step >= 0 && step < long_step / 5; };
  return (!whole_seconds && share(is_short) >= 0.4) || takes_turns(times);
}

}  // namespace flopwatt::telemetry
