#include "flopwatt/model/checkpoint_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace flopwatt::model {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string filled(const std::string& name, std::string_view place, std::size_t index) {
  const std::size_t at = name.find(place);
  if (at == std::string::npos) return name;
  return fmt::format("{}{}{}", std::string_view{name}.substr(0, at), index,
                     std::string_view{name}.substr(at + place.size()));
}

void add_copies(std::vector<NamedTensor>& named, const Tensor& tensor, const std::string& name) {
  for (std::int64_t copy = 0; copy < tensor.copies; ++copy) {
    named.push_back({filled(name, "{expert}", static_cast<std::size_t>(copy)), &tensor});
  }
}

/// Leading parts of a name that could be a module around the model: "", "model.", "model.language_model.".  What is
/// left names a module and its tensor: "ln_f.weight" is no "weight" of another place.
std::vector<std::string_view> prefixes(std::string_view name) {
  constexpr int kDeepest = 3;
  std::vector<std::string_view> found{{}};
  std::size_t begin = 0;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const std::size_t dot = name.find('.', begin);
    if (dot == std::string_view::npos || is_number(name.substr(begin, dot - begin))) break;
    begin = dot + 1;
    if (name.find('.', begin) == std::string_view::npos) break;
    found.push_back(name.substr(0, begin));
  }
  return found;
}

units::Count tensor_count(const Architecture& architecture) {
  units::Count count;
  for (const Stack& stack : architecture.stacks) {
    for (const Tensor& tensor : stack.outside) count += tensor.copies;
    for (std::size_t i = 0; i < stack.blocks.size(); ++i) {
      for (const Tensor& tensor : stack.blocks[i].tensors) count += units::Count{tensor.copies} * stack.block_counts[i];
    }
  }
  return count;
}

}  // namespace

Result<std::vector<NamedTensor>> checkpoint_tensors(const Architecture& architecture, std::size_t limit) {
  const units::Count count = tensor_count(architecture);
  if (count > units::Count{limit}) {
    return fail(Errc::bad_data,
                fmt::format("the model has {} tensors, too many to compare with a file (at most {})",
                            units::to_string(count), limit),
                architecture.source, "check its layers and experts");
  }
  std::vector<NamedTensor> named;
  named.reserve(static_cast<std::size_t>(count.value()));
  for (const Stack& stack : architecture.stacks) {
    for (const Tensor& tensor : stack.outside) add_copies(named, tensor, tensor.name);
    for (std::size_t layer = 0; layer < stack.layers.size(); ++layer) {
      for (const Tensor& tensor : stack.blocks[stack.layers[layer]].tensors) {
        add_copies(named, tensor, filled(tensor.name, "{layer}", layer));
      }
    }
  }
  return named;
}

std::string without_indices(std::string_view name) {
  std::string shown;
  while (!name.empty()) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    const std::string_view part = name.substr(0, dot);
    shown.append(is_number(part) ? "{}" : part);
    if (dot < name.size()) shown.push_back('.');
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  return shown;
}

NameFinder::NameFinder(const std::vector<NamedTensor>& census, const std::vector<std::string_view>& listed) {
  by_name_.reserve(census.size());
  for (std::size_t i = 0; i < census.size(); ++i) by_name_.emplace(census[i].name, i);
  learn(census, listed);
}

/// Names that the census lacks are grouped by their prefixes; a few of each group try every prefix of those census
/// names that the file lacks, and the pair that finds most becomes a rule.  Longer prefixes of the file come first, so
/// that "model.visual." is not taken for a part of "model.".
void NameFinder::learn(const std::vector<NamedTensor>& census, const std::vector<std::string_view>& listed) {
  constexpr std::size_t kSamples = 48;
  constexpr std::size_t kMostPrefixes = 64;  // a checkpoint has a handful
  std::set<std::string_view> present;
  std::map<std::string_view, std::vector<std::string_view>> groups;
  for (const std::string_view name : listed) {
    if (exact(name)) {
      present.insert(name);
      continue;
    }
    for (const std::string_view prefix : prefixes(name)) {
      if (groups.size() < kMostPrefixes || groups.contains(prefix)) groups[prefix].push_back(name);
    }
  }
  if (groups.empty()) return;
  std::set<std::string_view> targets;
  for (const NamedTensor& named : census) {
    if (present.contains(named.name)) continue;
    for (const std::string_view prefix : prefixes(named.name)) {
      if (targets.size() < kMostPrefixes) targets.insert(prefix);
    }
  }
  if (targets.empty()) return;

  for (const auto& [from, names] : groups) {
    PrefixRule best{.listed = std::string{from}};
    const std::size_t step = std::max<std::size_t>(1, names.size() / kSamples);
    for (const std::string_view to : targets) {
      if (to == from) continue;
      std::uint64_t hits = 0;
      for (std::size_t i = 0; i < names.size(); i += step) {
        std::string spelled{to};
        spelled.append(names[i].substr(from.size()));
        hits += exact(spelled) && !present.contains(spelled) ? 1 : 0;
      }
      if (hits > best.tensors) {
        best.tensors = hits;
        best.census = to;
      }
    }
    if (best.tensors > 0) rules_.push_back(std::move(best));
  }
  // Keep only what finds something that a simpler rule does not: the shorter prefixes first.
  std::stable_sort(rules_.begin(), rules_.end(), [](const PrefixRule& a, const PrefixRule& b) {
    return a.listed.size() + a.census.size() < b.listed.size() + b.census.size();
  });
  std::vector<PrefixRule> candidates = std::exchange(rules_, {});
  std::set<std::string_view> open(groups.begin()->second.begin(), groups.begin()->second.end());  // group "": all
  for (PrefixRule& rule : candidates) {
    rule.tensors = 0;
    for (auto name = open.begin(); name != open.end();) {
      std::string spelled = rule.census;
      const bool found = name->starts_with(rule.listed) && exact(spelled.append(name->substr(rule.listed.size()))) &&
                         !present.contains(spelled);
      rule.tensors += found ? 1 : 0;
      name = found ? open.erase(name) : std::next(name);
    }
    if (rule.tensors > 0) rules_.push_back(std::move(rule));
  }
}

std::optional<std::size_t> NameFinder::exact(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

const PrefixRule* NameFinder::rule_for(std::string_view listed) const {
  if (exact(listed)) return nullptr;
  for (const PrefixRule& rule : rules_) {
    if (!listed.starts_with(rule.listed)) continue;
    if (exact(rule.census + std::string{listed.substr(rule.listed.size())})) return &rule;
  }
  return nullptr;
}

std::optional<std::size_t> NameFinder::find(std::string_view listed) const {
  if (const auto found = exact(listed)) return found;
  const PrefixRule* rule = rule_for(listed);
  if (!rule) return std::nullopt;
  return exact(rule->census + std::string{listed.substr(rule->listed.size())});
}

std::vector<std::string> NameFinder::spellings(std::string_view listed) const {
  std::vector<std::string> names{std::string{listed}};
  for (const PrefixRule& rule : rules_) {
    if (listed.starts_with(rule.listed)) names.push_back(rule.census + std::string{listed.substr(rule.listed.size())});
  }
  return names;
}

}  // namespace flopwatt::model
