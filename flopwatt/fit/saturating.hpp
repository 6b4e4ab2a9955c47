#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/fit/rates.hpp"
#include "flopwatt/power/calibration.hpp"

namespace flopwatt::fit {

/// Where the cap is expected, over the board limit: a board regulates around its limit, and the public study's energies
/// are divided by somewhat less than the time they took.
inline constexpr double kCapOverLimit = 1.05;

/// What is known of a device beside its rows.
struct SaturatingPrior {
  std::optional<double> idle_watts;                   ///< measured without work
  std::optional<double> limit_watts;                  ///< board limit
  std::map<units::Precision, units::FlopRate> peaks;  ///< only where the search starts
};

/// The two-signal form (power::Saturating) by bounded robust least squares on relative error, in the logarithms of its
/// parameters.  Repeats of a configuration weigh as much as one row.  What the rows do not tell is told by priors
/// (standard deviations of the logarithm): floor 2 × idle (0.3), cap 1.05 × limit (0.1 of the limit; the plateau of the
/// rows and 0.2 where the limit is not known), softness 0.05 × limit (0.7), activation factor 1.25 (0.3), byte factors
/// 1 (0.2, which pools the precisions).  docs/power-models.md shows how they were chosen and how little they matter.
/// Errc::bad_data where the rows are fewer than the parameters.
struct SaturatingFit {
  power::Saturating model;
  bool converged = false;
  std::vector<std::string> notes;
};
[[nodiscard]] Result<SaturatingFit> fit_saturating(std::span<const RateSample> samples, const SaturatingPrior& prior);

/// Watts of a sample; for a dtype that the model was not fitted to, the mean of the others: of the logarithms of what
/// the arithmetic draws at the peak, and of the byte factors.
[[nodiscard]] double watts(const power::Saturating& model, const RateSample& sample,
                           const std::map<units::Precision, units::FlopRate>& peaks);

/// The parameters by name, as the tables print them: "floor_watts", "joules_per_flop.float32", …
[[nodiscard]] std::map<std::string, double> named_parameters(const power::Saturating& model);

}  // namespace flopwatt::fit
