#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "flopwatt/base/result.hpp"
#include "flopwatt/model/architecture.hpp"
#include "flopwatt/units/count.hpp"
#include "flopwatt/work/ledger.hpp"
#include "flopwatt/work/workload.hpp"

/// A count beside what the default conventions would give, and where the difference comes from.

namespace flopwatt::work {

/// The choices that change what model FLOPs a pass has, without changing what is computed.
enum class Convention : std::uint8_t {
  attention,  ///< mask convention, default full: scores and values
  body,       ///< products (default) or all body parameters: linear layers, experts, recurrences
  logits,     ///< positions of the vocabulary product: all in training and encode, else the last
};
inline constexpr std::array<Convention, 3> kConventions{Convention::attention, Convention::body, Convention::logits};
/// "attention", "body", "logits".
[[nodiscard]] std::string_view name(Convention convention) noexcept;

/// Model FLOPs under the conventions that were chosen, and under the defaults.
struct ConventionFlops {
  units::Count chosen, by_default;
  [[nodiscard]] units::Count difference() const noexcept { return chosen - by_default; }
};

/// One convention, and the FLOPs that it decides.  The parts sum to the whole.
struct ConventionEffect {
  Convention convention = Convention::attention;
  std::string_view chosen, by_default;  ///< words of the command line: "causal-half", "full"
  ConventionFlops forward, step;        ///< as in Totals
};

struct ConventionEffects {
  std::array<ConventionEffect, kConventions.size()> by_cause{};
  ConventionFlops forward, step;

  [[nodiscard]] bool all_default() const noexcept;
};

/// `ledger` is that of the workload.  Errors: those of count().
[[nodiscard]] Result<ConventionEffects> against_default_conventions(const model::Architecture& architecture,
                                                                    const Workload& workload, const Ledger& ledger);

}  // namespace flopwatt::work
