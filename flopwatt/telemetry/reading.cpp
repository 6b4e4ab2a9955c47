#include "flopwatt/telemetry/reading.hpp"

#include <array>
#include <cstddef>

namespace flopwatt::telemetry {
namespace {

struct AbsenceText {
  std::string_view key;
  std::string_view text;
};
// In the order of the enumeration.
constexpr std::array kAbsences{
    AbsenceText{"not_asked", "not asked for"},
    AbsenceText{"not_supported", "not supported by the device or its driver"},
    AbsenceText{"no_permission", "no permission"},
    AbsenceText{"not_present", "not present on this machine"},
    AbsenceText{"not_loaded", "the kernel driver is not loaded"},
    AbsenceText{"version_mismatch", "library and kernel driver are of different versions"},
    AbsenceText{"missing_symbol", "the driver's library is too old for it"},
    AbsenceText{"device_lost", "the device is lost"},
    AbsenceText{"timed_out", "the driver did not answer in time"},
    AbsenceText{"garbage", "the driver answered with an impossible value"},
    AbsenceText{"below_resolution", "below the resolution of the counter"},
    AbsenceText{"counter_reset", "the counter was reset"},
    AbsenceText{"counter_stuck", "the counter stands still"},
    AbsenceText{"wrapped_twice", "the counter may have wrapped more than once"},
    AbsenceText{"range_unknown", "the counter fell and its range is not known"},
    AbsenceText{"stale", "the last value is too old"},
    AbsenceText{"no_samples", "too few samples"},
    AbsenceText{"in_other_reading", "part of another device's reading"},
    AbsenceText{"not_held", "no longer kept"},
    AbsenceText{"unknown_error", "unknown error of the driver"},
};
static_assert(kAbsences.size() == static_cast<std::size_t>(Absence::unknown_error) + 1);

constexpr std::array<std::string_view, 6> kPowerKinds{"unknown", "average_1s", "average",
                                                      "instant", "current",    "counter"};
static_assert(kPowerKinds.size() == static_cast<std::size_t>(PowerKind::counter) + 1);

constexpr std::array<std::string_view, 12> kScopes{"device", "module", "partition",      "package",
                                                   "core",   "uncore", "dram",           "platform",
                                                   "rail",   "node",   "external_meter", "unknown"};
static_assert(kScopes.size() == static_cast<std::size_t>(Scope::unknown) + 1);

template <class Enum, std::size_t N>
bool find(const std::array<std::string_view, N>& keys, std::string_view text, Enum& value) {
  for (std::size_t i = 0; i < N; ++i) {
    if (keys[i] == text) {
      value = static_cast<Enum>(i);
      return true;
    }
  }
  return false;
}

}  // namespace

std::string_view text(Absence reason) noexcept { return kAbsences[static_cast<std::size_t>(reason)].text; }
std::string_view key(Absence reason) noexcept { return kAbsences[static_cast<std::size_t>(reason)].key; }
bool parse_key(std::string_view text, Absence& reason) noexcept {
  for (std::size_t i = 0; i < kAbsences.size(); ++i) {
    if (kAbsences[i].key == text) {
      reason = static_cast<Absence>(i);
      return true;
    }
  }
  return false;
}

std::string_view key(PowerKind kind) noexcept { return kPowerKinds[static_cast<std::size_t>(kind)]; }
bool parse_key(std::string_view text, PowerKind& kind) noexcept { return find(kPowerKinds, text, kind); }

std::string_view key(Scope scope) noexcept { return kScopes[static_cast<std::size_t>(scope)]; }
bool parse_key(std::string_view text, Scope& scope) noexcept { return find(kScopes, text, scope); }

SteadyTime steady_now() noexcept { return std::chrono::steady_clock::now().time_since_epoch(); }
WallTime wall_now() noexcept { return std::chrono::system_clock::now().time_since_epoch(); }

Reading<double> power_over_limit(const Snapshot& snapshot) noexcept {
  if (!snapshot.power.value) return snapshot.power.value.reason();
  if (!snapshot.limit) return snapshot.limit.reason();
  if (*snapshot.limit <= units::Power{}) return Absence::not_supported;
  return snapshot.power.value->in(*snapshot.limit);
}

}  // namespace flopwatt::telemetry
