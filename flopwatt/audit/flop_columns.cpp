#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "flopwatt/audit/subject.hpp"

/// The FLOP columns of a recorder, counted again.

namespace flopwatt::audit {
namespace {

using Observations = std::vector<const dataset::Observation*>;

/// Recorders round to four digits and treat norms, biases and the head differently by a few percent.
constexpr double kAgrees = 0.08;
/// A formula with the recorder's own shapes closes to rounding.
constexpr double kExact = 1e-6;
/// A parameter count this far off is another model's.
constexpr double kParametersDiffer = 0.05;

bool close(double a, double b, double tolerance) { return std::abs(a / b - 1) <= tolerance; }

/// How a recorded count relates to the training FLOPs of a whole step, if by a known mistake.
struct Mistake {
  std::string_view code, text, remedy;
  double ratio;  ///< recorded / counted
};
std::optional<Mistake> step_mistake(double ratio, double tokens) {
  const auto mistakes = std::to_array<Mistake>({
      {"flops_per_token_not_step", "holds the FLOPs of one token where it says a step", "multiply by tokens a step",
       1 / tokens},
      {"flops_forward_only", "holds the forward pass only, a third of a training step", "multiply by 3", 1.0 / 3},
      {"macs_for_flops", "counts multiply-adds: half the FLOPs", "multiply by 2", 0.5},
      {"macs_forward_only", "counts the multiply-adds of the forward pass: a sixth of the FLOPs of a step",
       "multiply by 6", 1.0 / 6},
      {"backward_counted_twice", "multiplies a training step by 3 once more", "divide by 3", 3.0},
  });
  for (const Mistake& mistake : mistakes) {
    if (tokens > 1 + kAgrees && close(ratio, mistake.ratio, kAgrees)) return mistake;
  }
  return std::nullopt;
}

void check_step_column(const Subject& subject, Findings& findings) {
  struct Group {
    Observations rows;
    double ratio = 0;
    std::optional<Mistake> mistake;
  };
  std::map<std::string_view, Group> groups;
  for (const Row& row : subject.rows) {
    const dataset::Observation& seen = *row.observation;
    if (!row.step || !seen.counted_flops) continue;
    const double ratio = seen.counted_flops->in(units::flop) / row.step->step.to_double();
    if (!(ratio > 0) || close(ratio, 1, kAgrees)) continue;
    const auto mistake = step_mistake(ratio, row.step->tokens.to_double());
    Group& group = groups[mistake ? mistake->code : "flops_unexplained"];
    group.rows.push_back(&seen);
    group.ratio = ratio;
    group.mistake = mistake;
  }
  for (const auto& [code, group] : groups) {
    findings.add(code, Severity::error, group.rows,
                 {{"column", std::string{"calflops_total"}}, {"recorded_over_counted", group.ratio}},
                 group.mistake
                     ? fmt::format("calflops_total {}", group.mistake->text)
                     : fmt::format("calflops_total is {:.3g} times the FLOPs of a training step", group.ratio),
                 group.mistake ? std::string{group.mistake->remedy}
                               : "find out what it counts before using an MFU made from it");
  }
}

/// The recorder's formula, seen through its own shape columns: value = passes · (6·N + 12·L·H·Q·T).
struct Formula {
  double passes = 1;  ///< 3: a training formula multiplied by three again
  double parameters = 0;
};
/// Parameter counts that recorders make up from their own shape columns; these close exactly or not at all.
bool is_guess(double parameters, const dataset::Observation& seen) {
  const double width = *seen.heads * *seen.head_dim;
  return close(parameters, 4 * *seen.layers * width * width, kExact) ||
         close(parameters, 12 * *seen.layers * width * width, kExact);
}
/// The model's own, with or without its head, give or take norms, biases and embeddings.
bool is_census(double parameters, const Row& row) {
  const double products = 2 * row.step->tokens.to_double();
  const double body = row.step->body_forward.to_double() / products;
  const double head = row.step->lm_head_forward.to_double() / products;
  return close(parameters, body, kParametersDiffer) || close(parameters, body + head, kParametersDiffer);
}
/// An exact explanation first: 3 · 4·L·d² happens to be GPT-2's own 12·L·d².
std::optional<Formula> solve(const dataset::Observation& seen, const Row& row) {
  const double attention = 12 * *seen.layers * *seen.heads * *seen.head_dim * *seen.sequence;
  const double value = seen.formula_flops_per_token->in(units::flop / units::token);
  const auto parameters = [&](double passes) { return (value / passes - attention) / 6; };
  for (const double passes : {1.0, 3.0}) {
    if (parameters(passes) > 0 && is_guess(parameters(passes), seen)) return Formula{passes, parameters(passes)};
  }
  for (const double passes : {1.0, 3.0}) {
    if (parameters(passes) > 0 && is_census(parameters(passes), row)) return Formula{passes, parameters(passes)};
  }
  return std::nullopt;
}

void check_formula_column(const Subject& subject, Findings& findings) {
  Observations tripled, wrong_parameters, unexplained;
  double recorded_parameters = 0, true_parameters = 0, worst = 0, ratio = 1;
  for (const Row& row : subject.rows) {
    const dataset::Observation& seen = *row.observation;
    if (!row.step || !seen.formula_flops_per_token || !seen.layers || !seen.heads || !seen.head_dim || !seen.sequence) {
      continue;
    }
    const double counted = row.step->step.to_double() / row.step->tokens.to_double();
    const auto formula = solve(seen, row);
    if (!formula) {
      const double r = seen.formula_flops_per_token->in(units::flop / units::token) / counted;
      if (close(r, 1, kAgrees)) continue;
      unexplained.push_back(&seen);
      ratio = r;
      continue;
    }
    if (formula->passes != 1) tripled.push_back(&seen);
    const double parameters =
        (row.step->body_forward + row.step->lm_head_forward).to_double() / (2 * row.step->tokens.to_double());
    const double error = std::abs(std::log(formula->parameters / parameters));
    if (!close(formula->parameters, parameters, kParametersDiffer)) {
      wrong_parameters.push_back(&seen);
      if (error > worst) {
        worst = error;
        recorded_parameters = formula->parameters;
        true_parameters = parameters;
      }
    }
  }
  if (!tripled.empty()) {
    findings.add("formula_backward_counted_twice", Severity::error, tripled,
                 {{"column", std::string{"formula_flops_per_token"}}, {"factor", 3.0}},
                 "the formula column is 3 · (6N + 12·L·H·Q·T): the bracket is forward and backward already",
                 "leave that column and the MFU made from it (mfu_percentage) out");
  }
  if (!wrong_parameters.empty()) {
    findings.add("formula_parameter_count", Severity::error, wrong_parameters,
                 {{"column", std::string{"formula_flops_per_token"}},
                  {"recorded_parameters", recorded_parameters},
                  {"counted_parameters", true_parameters}},
                 fmt::format("the formula column takes N = {:.4g} where the products hold {:.4g} parameters",
                             recorded_parameters, true_parameters),
                 "take N from the model's census: flopwatt count MODEL");
  }
  if (!unexplained.empty()) {
    findings.add("formula_unexplained", Severity::warning, unexplained,
                 {{"column", std::string{"formula_flops_per_token"}}, {"recorded_over_counted", ratio}},
                 fmt::format("the formula column is {:.3g} times the counted training FLOPs of a token", ratio),
                 "find out what it counts before using an MFU made from it");
  }
}

}  // namespace

void check_flop_columns(const Subject& subject, Findings& findings) {
  check_step_column(subject, findings);
  check_formula_column(subject, findings);
}

}  // namespace flopwatt::audit
