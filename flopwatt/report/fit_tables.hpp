#pragma once

#include <string>
#include <vector>

#include "flopwatt/fit/fit.hpp"
#include "flopwatt/report/document.hpp"

/// The tables of a fit: the terminal prints some of them, a report all.

namespace flopwatt::report {

/// The public study's Table II: power against one predictor.
[[nodiscard]] Table predictors_table(const fit::FitResult& result);
/// Its Table III: the model classes in sample.
[[nodiscard]] Table models_table(const fit::FitResult& result);
/// Its Table IV: residual standard deviations, and the means at the smallest and the largest batch.
[[nodiscard]] Table residuals_table(const fit::FitResult& result);
/// Errors on models that were left out, with the coverage of intervals.
[[nodiscard]] Table held_out_table(const fit::FitResult& result);

/// Its Table I: what was measured, and how much of it was used.
[[nodiscard]] Table devices_table(const fit::FitResult& result);
/// The peak behind every MFU.
[[nodiscard]] Table peaks_table(const fit::FitResult& result);
/// Means at every batch.
[[nodiscard]] Table regimes_table(const fit::FitResult& result);
/// Errors when a batch, or a dtype, is left out.
[[nodiscard]] Table batch_held_out_table(const fit::FitResult& result);
[[nodiscard]] Table dtype_held_out_table(const fit::FitResult& result);
/// Each left-out model: the error of every form, and the coverage of intervals.
[[nodiscard]] Table folds_table(const fit::FitResult& result);
/// Parameters of the saturating form.
[[nodiscard]] Table parameters_table(const fit::FitResult& result);
/// SHA-256 of the file that a calibration is written as.
[[nodiscard]] std::string calibration_sha256(const power::Calibration& calibration);
/// Files that were read, and calibrations that were made of them.
[[nodiscard]] Table sources_table(const fit::FitResult& result);

}  // namespace flopwatt::report
