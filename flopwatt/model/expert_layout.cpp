#include "flopwatt/model/expert_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <set>
#include <utility>

#include "flopwatt/model/quantized_names.hpp"

namespace flopwatt::model {
namespace {

using units::Count;

enum class Role : std::uint8_t { gate, up, gate_up, down };

struct ExpertName {
  std::string_view scope;              ///< "model.layers.3."
  std::string_view module;             ///< "block_sparse_moe"
  std::optional<std::int64_t> expert;  ///< absent: all experts in one
  Role role = Role::gate;
  bool bias = false;
};

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text.front() == '-' || error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

/// Takes the last part of a dotted name away.
std::string_view pop(std::string_view& name) {
  const std::size_t dot = name.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
  name = dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
  return last;
}
std::string_view last_part(std::string_view name) { return pop(name); }

bool strip(std::string_view& name, std::string_view ending) {
  if (!name.ends_with(ending)) return false;
  name.remove_suffix(ending.size());
  return true;
}

std::optional<Role> role_of(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Role>, 11> kWords{{{"gate_proj", Role::gate},
                                                                      {"w1", Role::gate},
                                                                      {"up_proj", Role::up},
                                                                      {"w3", Role::up},
                                                                      {"v1", Role::up},
                                                                      {"gate_up_proj", Role::gate_up},
                                                                      {"w13", Role::gate_up},
                                                                      {"input_linear", Role::gate_up},
                                                                      {"down_proj", Role::down},
                                                                      {"w2", Role::down},
                                                                      {"output_linear", Role::down}}};
  for (const auto& [known, role] : kWords) {
    if (word == known) return role;
  }
  return std::nullopt;
}

/// Splits "model.layers.3." off "model.layers.3.mlp.gate".
std::optional<std::pair<std::string_view, std::string_view>> at_layer(std::string_view name) {
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t dot = name.find('.', begin);
    if (dot == std::string_view::npos) break;
    if (number(name.substr(begin, dot - begin))) return std::pair{name.substr(0, dot + 1), name.substr(dot + 1)};
    begin = dot + 1;
  }
  return std::nullopt;
}

/// Reads SCOPE.MODULE.experts[.EXPERT].ROLE[.weight], with what stands for `experts` in mlx' and Granite's files.
std::optional<ExpertName> read_name(std::string_view name) {
  ExpertName result;
  if (!strip(name, ".weight")) result.bias = strip(name, ".bias") || strip(name, "_bias");
  const std::string_view word = pop(name);
  const auto role = role_of(word);
  if (!role) return std::nullopt;
  result.role = *role;
  if (const auto expert = number(last_part(name))) {
    result.expert = expert;
    pop(name);
  }
  const std::string_view container = last_part(name);
  if (container == "experts" || container == "switch_mlp") {
    pop(name);
  } else if (container == "mlp" && name.ends_with(".experts.mlp")) {
    strip(name, ".experts.mlp");
  } else if (container != "block_sparse_moe" || !word.ends_with("put_linear")) {
    return std::nullopt;
  }
  const auto split = at_layer(name);
  if (!split) return std::nullopt;
  result.scope = split->first;
  result.module = split->second;
  return result;
}

/// Of one unit of one layer: who of its tensors stand in the census and in the file.
struct Side {
  struct Member {
    std::size_t index;
    Role role;
    std::optional<std::int64_t> expert;
    std::string_view packing;
  };
  std::vector<Member> members;

  [[nodiscard]] bool has(Role role) const {
    return std::any_of(members.begin(), members.end(), [role](const Member& m) { return m.role == role; });
  }
  [[nodiscard]] bool split() const { return !members.empty() && members.front().expert.has_value(); }
};

constexpr std::size_t kUnits = 4;  ///< gate and up, down, and the biases of both
std::size_t unit_of(const ExpertName& name) { return (name.role == Role::down ? 1U : 0U) + (name.bias ? 2U : 0U); }

/// What one layer's experts are, from the census.
struct ExpertShape {
  std::int64_t experts = 0;
  std::array<std::int64_t, 2> inputs{};   ///< of one expert: of gate and up, of down
  std::array<std::int64_t, 2> outputs{};  ///< gate and up together
  bool gated = false;
};

struct LayerSides {
  std::string module;
  ExpertShape shape;
  std::array<Side, kUnits> census, listed;
  bool taken = false;  ///< a tensor of the census stands in the file under its own name
};

void add_to_shape(const ExpertName& name, const Tensor& tensor, ExpertShape& shape) {
  if (name.bias || tensor.use != Use::product || tensor.k < 1 || tensor.n < 1) return;
  shape.experts = static_cast<std::int64_t>((elements(tensor) * tensor.copies / Count{tensor.k} / tensor.n).value());
  const std::size_t which = name.role == Role::down ? 1 : 0;
  shape.inputs[which] = tensor.k;
  if (name.role != Role::down && name.role != Role::up) shape.gated = true;
  if (name.expert.value_or(0) == 0) shape.outputs[which] += tensor.n;
}

/// Every role once, or once an expert; gate and up both or together.
bool complete(const Side& side, const ExpertShape& shape, bool down) {
  std::set<std::pair<Role, std::int64_t>> seen;
  for (const Side::Member& m : side.members) {
    if (m.expert.has_value() != side.split() || m.expert.value_or(0) >= shape.experts) return false;
    if (!seen.emplace(m.role, m.expert.value_or(0)).second) return false;
  }
  const std::size_t roles = down || !shape.gated || side.has(Role::gate_up) ? 1 : 2;
  if (roles == 1 && !down && shape.gated != side.has(Role::gate_up)) return false;
  if (roles == 2 && !(side.has(Role::gate) && side.has(Role::up))) return false;
  const std::size_t each = side.split() ? static_cast<std::size_t>(shape.experts) : 1;
  return seen.size() == roles * each;
}

/// Outputs of one expert in a tensor of this role.
std::int64_t outputs_of(Role role, const ExpertShape& shape) {
  if (role == Role::down) return shape.outputs[1];
  return shape.gated && role != Role::gate_up ? shape.outputs[0] / 2 : shape.outputs[0];
}

bool fits(const StoredTensor& stored, const Side::Member& member, bool bias, const ExpertShape& shape) {
  const std::int64_t n = outputs_of(member.role, shape);
  const std::int64_t k = shape.inputs[member.role == Role::down ? 1 : 0];
  const std::int64_t e = shape.experts;
  using Dims = std::vector<std::int64_t>;
  std::vector<Dims> possible;
  if (bias) {
    possible = member.expert ? std::vector<Dims>{{n}} : std::vector<Dims>{{e, n}};
  } else if (member.expert) {
    possible = {{n, k}, {k, n}};
  } else {
    possible = {{e, n, k}, {e, k, n}, {e * n, k}, {e * k, n}};
  }
  return std::any_of(possible.begin(), possible.end(), [&](const Dims& dims) {
    return std::equal(dims.begin(), dims.end(), stored.dims.begin(), stored.dims.end());
  });
}

std::string difference_of(const Side& census, const Side& listed, bool bias) {
  const std::string_view what = bias ? "biases" : "experts";
  std::string cause;
  if (census.split() && !listed.split()) {
    cause = fmt::format("all {} of a layer stand in one tensor where the census has one each", what);
  } else if (!census.split() && listed.split()) {
    cause = fmt::format("the {} have a tensor each where the census has all of a layer in one", what);
  } else {
    cause = fmt::format("the {} stand under other names than in the census", what);
  }
  if (listed.has(Role::gate_up) && !census.has(Role::gate_up)) cause += ", gate and up together";
  if (!listed.has(Role::gate_up) && census.has(Role::gate_up)) cause += ", gate and up apart";
  return cause;
}

}  // namespace

ExpertLayouts::ExpertLayouts(const std::vector<NamedTensor>& census, const NameFinder& finder,
                             const std::vector<ListedTensor>& listed)
    : finder_{finder} {
  std::map<std::string, LayerSides, std::less<>> layers;
  for (std::size_t i = 0; i < census.size(); ++i) {
    if (census[i].tensor->component != Component::experts) continue;
    const auto name = read_name(census[i].name);
    if (!name) continue;
    LayerSides& layer = layers[std::string{name->scope}];
    layer.module = name->module;
    layer.census[unit_of(*name)].members.push_back({i, name->role, name->expert, {}});
    add_to_shape(*name, *census[i].tensor, layer.shape);
  }
  if (layers.empty()) return;
  for (const auto& [scope, layer] : layers) layers_[scope].module = layer.module;

  std::vector<bool> present(census.size(), false);
  for (std::size_t i = 0; i < listed.size(); ++i) {
    if (const auto place = finder.find(listed[i].name)) {
      present[*place] = true;
      continue;
    }
    for (const std::string& spelling : finder.spellings(listed[i].name)) {
      std::string_view packing;
      std::string weight = spelling;
      if (!read_name(weight)) {
        const auto quantized = quantized_name(spelling, [](std::string_view w) { return read_name(w).has_value(); });
        if (!quantized || quantized->part != QuantizedPart::packed) continue;
        weight = quantized->weight;
        packing = quantized->meaning;
      }
      const ExpertName name = *read_name(weight);
      const auto layer = layers.find(name.scope);
      if (layer == layers.end()) continue;
      layer->second.listed[unit_of(name)].members.push_back({i, name.role, name.expert, packing});
      Layer& known = layers_.find(name.scope)->second;
      known.stored_otherwise = true;
      if (name.module != known.module) known.listed_module = name.module;
      break;
    }
  }

  for (const auto& [scope, layer] : layers) {
    for (std::size_t u = 0; u < kUnits; ++u) {
      const Side& ours = layer.census[u];
      const Side& theirs = layer.listed[u];
      if (ours.members.empty() || theirs.members.empty() || !complete(theirs, layer.shape, u % 2 == 1)) continue;
      if (std::any_of(ours.members.begin(), ours.members.end(), [&](const auto& m) { return present[m.index]; })) {
        continue;
      }
      const bool bias = u >= 2;
      ExpertUnit unit;
      unit.cause = difference_of(ours, theirs, bias);
      for (const Side::Member& m : ours.members) unit.census.push_back(m.index);
      for (const Side::Member& m : theirs.members) {
        const Count each = Count{outputs_of(m.role, layer.shape)} * (bias ? 1 : layer.shape.inputs[u % 2]);
        unit.parts.push_back({m.index, m.expert ? each : each * layer.shape.experts, m.packing});
        const auto& stored = listed[m.index].stored;
        if (unit.misfit || !stored || !m.packing.empty() || fits(*stored, m, bias, layer.shape)) continue;
        unit.misfit = fmt::format("has the shape [{}], which is not that of {} experts with {} inputs and {} outputs",
                                  fmt::join(stored->dims, ", "), m.expert ? 1 : layer.shape.experts,
                                  layer.shape.inputs[u % 2], outputs_of(m.role, layer.shape));
      }
      units_.push_back(std::move(unit));
    }
  }
}

const ExpertLayouts::Layer* ExpertLayouts::layer_of(std::string_view listed, std::string& scope,
                                                    std::string& rest) const {
  for (const std::string& spelling : finder_.spellings(listed)) {
    const auto split = at_layer(spelling);
    if (!split) continue;
    const auto layer = layers_.find(split->first);
    if (layer == layers_.end()) continue;
    scope = split->first;
    rest = split->second;
    return &layer->second;
  }
  return nullptr;
}

bool ExpertLayouts::has_weight(std::string_view listed) const {
  if (layers_.empty()) return false;
  std::string scope;
  std::string rest;
  const Layer* layer = layer_of(listed, scope, rest);
  return layer && layer->stored_otherwise && read_name(scope + rest).has_value();
}

std::optional<std::string> ExpertLayouts::census_name(std::string_view listed) const {
  if (layers_.empty()) return std::nullopt;
  std::string scope;
  std::string rest;
  const Layer* layer = layer_of(listed, scope, rest);
  if (!layer || layer->listed_module.empty() || !rest.starts_with(layer->listed_module + '.')) return std::nullopt;
  return scope + layer->module + rest.substr(layer->listed_module.size());
}

std::string ExpertLayouts::rename_cause(std::string_view listed) const {
  std::string scope;
  std::string rest;
  const Layer* layer = layer_of(listed, scope, rest);
  return layer ? fmt::format("the module of the experts is called '{}' where the census has '{}'", layer->listed_module,
                             layer->module)
               : std::string{};
}

}  // namespace flopwatt::model
