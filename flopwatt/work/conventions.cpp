#include "flopwatt/work/conventions.hpp"

#include <algorithm>

namespace flopwatt::work {
namespace {

using units::Count;

Logits default_logits(Phase phase) noexcept {
  return phase == Phase::train || phase == Phase::encode ? Logits::all : Logits::last;
}

Workload by_default(const Workload& workload) {
  const Workload defaults;
  Workload result = workload;
  result.mask = defaults.mask;
  result.body = defaults.body;
  result.logits = defaults.logits;
  return result;
}

Convention decides(OpClass op) noexcept {
  if (op == OpClass::attention) return Convention::attention;
  return op == OpClass::lm_head ? Convention::logits : Convention::body;
}

/// Adds a ledger's model FLOPs to one side of the comparison.
void add(const Ledger& ledger, Count ConventionFlops::* side, ConventionEffects& effects) {
  for (const Row& row : ledger.rows()) {
    ConventionEffect& effect = effects.by_cause[static_cast<std::size_t>(decides(row.op))];
    effect.step.*side += row.model_flops;
    if (row.pass == Pass::forward) effect.forward.*side += row.model_flops;
  }
  effects.forward.*side = ledger.totals().forward;
  effects.step.*side = ledger.totals().step;
}

}  // namespace

std::string_view name(Convention convention) noexcept {
  constexpr std::array<std::string_view, kConventions.size()> kNames{"attention", "body", "logits"};
  return kNames[static_cast<std::size_t>(convention)];
}

bool ConventionEffects::all_default() const noexcept {
  return std::ranges::all_of(by_cause, [](const ConventionEffect& e) { return e.chosen == e.by_default; });
}

Result<ConventionEffects> against_default_conventions(const model::Architecture& architecture, const Workload& workload,
                                                      const Ledger& ledger) {
  const Workload defaults = by_default(workload);
  const Logits usual = default_logits(workload.phase);
  ConventionEffects effects;
  effects.by_cause = {{
      {.convention = Convention::attention, .chosen = name(workload.mask), .by_default = name(defaults.mask)},
      {.convention = Convention::body, .chosen = name(workload.body), .by_default = name(defaults.body)},
      {.convention = Convention::logits, .chosen = name(workload.logits.value_or(usual)), .by_default = name(usual)},
  }};
  add(ledger, &ConventionFlops::chosen, effects);
  if (effects.all_default()) {
    add(ledger, &ConventionFlops::by_default, effects);
    return effects;
  }
  FLOPWATT_TRY(const Ledger other, count(architecture, defaults));
  add(other, &ConventionFlops::by_default, effects);
  return effects;
}

}  // namespace flopwatt::work
