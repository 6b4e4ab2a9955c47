#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/fit/rates.hpp"
#include "flopwatt/fit/saturating.hpp"
#include "flopwatt/fit/selection.hpp"

namespace flopwatt::fit {

/// What is left out together.
enum class Axis { model, batch, dtype };

/// A held-out row: what the fit of the other groups says of it.
struct HeldOut {
  std::size_t fold = 0;           ///< index into `groups`
  std::size_t configuration = 0;  ///< repeats share one
  double batch = 0;
  double measured_watts = 0, predicted_watts = 0;
  const dataset::Observation* observation = nullptr;  ///< the row itself
};
struct HeldOutRows {
  std::vector<std::string> groups;  ///< names of what was left out, in order of appearance
  std::vector<HeldOut> rows;
};

/// Every row predicted by the form fitted to the rows of all other groups of the axis; repeats of a configuration agree
/// in model, batch and dtype and so never straddle a fold.
///
/// A row for which the training rows give no line (a batch or a dtype that was left out) is predicted as the product
/// would: by the mean of the other dtypes' lines where a dtype is missing, by the next simpler form otherwise.  Empty
/// where the axis has fewer than two groups.
[[nodiscard]] Result<HeldOutRows> hold_out_lines(std::span<const Sample> samples, power::Form form, Axis axis);
[[nodiscard]] Result<HeldOutRows> hold_out_saturating(std::span<const RateSample> samples, const SaturatingPrior& prior,
                                                      Axis axis);

[[nodiscard]] Result<power::CrossValidation> errors(const HeldOutRows& held_out);

/// |measured − predicted| in percent of the prediction, one list a configuration in order of appearance.
[[nodiscard]] std::vector<std::vector<double>> conformal_scores(const HeldOutRows& held_out);

/// How often an interval covers what it should: the bound at `level` from the scores of the other folds, counted on
/// each fold.
struct Coverage {
  double pooled = 0;                    ///< share of all rows that their interval covers
  std::map<std::string, double> folds;  ///< by what was held out
};
[[nodiscard]] Result<Coverage> coverage(const HeldOutRows& held_out, double level);

}  // namespace flopwatt::fit
