#include "flopwatt/device/family.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string>

#include "flopwatt/base/check.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::device {
namespace {

using Variants = std::span<const Device* const>;

// What each variant says, or "not known".
std::string values_of(Variants variants, const std::function<std::string(const Device&)>& say) {
  std::vector<std::string> said;
  for (const Device* variant : variants) said.push_back(fmt::format("{} ({})", say(*variant), variant->name));
  return fmt::format("{}", fmt::join(said, ", "));
}

template <class Quantity>
void keep_equal(Variants variants, std::optional<Figure<Quantity>> Device::* member, std::string_view figure,
                Device& merged, std::string (*print)(Quantity, int)) {
  const auto& first = variants.front()->*member;
  const bool equal = std::all_of(variants.begin(), variants.end(), [&](const Device* variant) {
    const auto& other = variant->*member;
    return other.has_value() == first.has_value() && (!other || other->value == first->value);
  });
  if (equal) return;
  (merged.*member).reset();
  merged.differences.push_back({std::string{figure}, std::nullopt, values_of(variants, [&](const Device& variant) {
                                  const auto& value = variant.*member;
                                  return value ? print(value->value, 5) : std::string{"not known"};
                                })});
}

const Peak* find(const Device& device, const PeakKind& wanted) {
  const auto found = std::find_if(device.peaks.begin(), device.peaks.end(),
                                  [&wanted](const Peak& peak) { return kind(peak) == wanted; });
  return found == device.peaks.end() ? nullptr : &*found;
}

void keep_equal_peaks(Variants variants, Device& merged) {
  // Every kind of peak that any variant has, in the order of its first mention.
  std::vector<const Peak*> first_of_kind;
  for (const Device* variant : variants) {
    for (const Peak& peak : variant->peaks) {
      const bool known = std::any_of(first_of_kind.begin(), first_of_kind.end(),
                                     [&peak](const Peak* first) { return kind(*first) == kind(peak); });
      if (!known) first_of_kind.push_back(&peak);
    }
  }
  merged.peaks.clear();
  for (const Peak* first : first_of_kind) {
    const PeakKind wanted = kind(*first);
    const bool equal = std::all_of(variants.begin(), variants.end(), [&](const Device* variant) {
      const Peak* peak = find(*variant, wanted);
      return peak != nullptr && peak->rate == first->rate;
    });
    if (equal) {
      merged.peaks.push_back(*first);
      continue;
    }
    merged.differences.push_back({fmt::format("peak of {} ({}, {} accumulate)", units::name(wanted.precision),
                                              name(wanted.path), name(wanted.accumulate)),
                                  wanted, values_of(variants, [&wanted](const Device& variant) {
                                    const Peak* peak = find(variant, wanted);
                                    return peak == nullptr ? std::string{"not known"} : units::to_text(peak->rate, 5);
                                  })});
  }
}

}  // namespace

Device common(Variants variants) {
  FLOPWATT_CHECK(!variants.empty());
  Device merged = *variants.front();
  if (variants.size() == 1) return merged;

  const auto differs = [&variants](auto member) {
    return std::any_of(variants.begin(), variants.end(),
                       [&](const Device* variant) { return variant->*member != variants.front()->*member; });
  };
  for (const Device* variant : variants) merged.variants.push_back(variant->name);
  merged.name = differs(&Device::family) ? fmt::format("{}", fmt::join(merged.variants, " or ")) : merged.family;
  merged.aliases.clear();
  merged.driver_names.clear();
  for (const auto member : {&Device::chip, &Device::compute_capability, &Device::architecture}) {
    if (differs(member)) (merged.*member).clear();
  }

  keep_equal(variants, &Device::memory, "memory", merged, units::to_binary_text);
  keep_equal<units::Bandwidth>(variants, &Device::memory_bandwidth, "memory bandwidth", merged, units::to_text);
  keep_equal<units::Power>(variants, &Device::board_limit, "board limit", merged, units::to_text);
  keep_equal<units::Power>(variants, &Device::idle, "idle power", merged, units::to_text);
  keep_equal_peaks(variants, merged);

  const auto same_units = [&merged](const Device* variant) {
    const auto &a = merged.compute_units, &b = variant->compute_units;
    return a.has_value() == b.has_value() &&
           (!a || (a->count == b->count && a->clock == b->clock && a->flops_per_clock == b->flops_per_clock));
  };
  if (!std::all_of(variants.begin(), variants.end(), same_units)) merged.compute_units.reset();
  const auto same_links = [&merged](const Device* variant) {
    return std::equal(merged.interconnects.begin(), merged.interconnects.end(), variant->interconnects.begin(),
                      variant->interconnects.end(), [](const Interconnect& a, const Interconnect& b) {
                        return a.kind == b.kind && a.per_direction == b.per_direction && a.note == b.note;
                      });
  };
  if (!std::all_of(variants.begin(), variants.end(), same_links)) {
    merged.interconnects.clear();
    merged.differences.push_back({"interconnects", std::nullopt, fmt::format("{}", fmt::join(merged.variants, ", "))});
  }
  // A precision is refused with a reason only where every variant refuses it; a note is kept where all carry it.
  std::erase_if(merged.unsupported, [&variants](const Unsupported& entry) {
    return !std::all_of(variants.begin(), variants.end(), [&entry](const Device* variant) {
      return std::any_of(variant->unsupported.begin(), variant->unsupported.end(),
                         [&entry](const Unsupported& other) { return other.precision == entry.precision; });
    });
  });
  std::erase_if(merged.notes, [&variants](const std::string& note) {
    return !std::all_of(variants.begin(), variants.end(), [&note](const Device* variant) {
      return std::find(variant->notes.begin(), variant->notes.end(), note) != variant->notes.end();
    });
  });
  return merged;
}

}  // namespace flopwatt::device
