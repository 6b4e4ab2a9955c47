#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"

/// Nonlinear least squares within bounds, robust where asked for, for a handful of parameters and up to some thousands
/// of rows.
///
/// Minimises  ½ s² Σ ρ((r_i / s)²) + ½ Σ ((p_j - m_j) / σ_j)²  over lo ≤ p ≤ hi, where r are the residuals, s the loss
/// scale and (m, σ) Gaussian priors.  Method: Levenberg–Marquardt on the scaled normal equations with an active set for
/// the bounds (a parameter that a step pushes beyond its bound is put there and the rest is solved again) and Nielsen's
/// damping (Madsen, Nielsen and Tingleff 2004); no parameter moves by more than its own size in one step.  Every step
/// is accepted only if the cost falls, so the result is never worse than the start beyond rounding; a step to where a
/// residual is not finite is rejected like one that raises the cost. Deterministic: no random numbers, no threads.
namespace flopwatt::stats {

/// Writes the residuals at `parameters`.  They may be NaN or infinite where the model has no value, save at the start.
using ResidualFunction = std::function<void(std::span<const double> parameters, std::span<double> residuals)>;

/// Writes ∂r_i/∂p_j to jacobian[j · residuals + i] (column-major: one run of rows per parameter).
using JacobianFunction = std::function<void(std::span<const double> parameters, std::span<double> jacobian)>;

struct Bounds {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();
};

/// What a residual costs; z = (r / s)².
enum class Loss {
  squared,  ///< ρ = z
  huber,    ///< ρ = z up to 1, then 2 √z - 1: an outlier pulls with constant force
  soft_l1,  ///< ρ = 2 (√(1 + z) - 1): a smooth form of the same
};

/// Knowledge from elsewhere that parameter `parameter` is `mean` ± `sd`.  It is weighed against the residuals as they
/// are, so these should be divided by their expected size, as in χ² fitting.
struct GaussianPrior {
  std::size_t parameter = 0;
  double mean = 0;
  double sd = 1;
};

struct NlsProblem {
  std::size_t residuals = 0;  ///< how many the function writes
  ResidualFunction residual_function;
  JacobianFunction jacobian_function;  ///< empty: finite differences, forward on the way and central at the end
  std::vector<double> start;           ///< within the bounds
  std::vector<Bounds> bounds;          ///< one per parameter, or empty; lo == hi holds a parameter fixed
  std::vector<GaussianPrior> priors;
  Loss loss = Loss::squared;
  double loss_scale = 1;  ///< s, in units of the residuals
  /// Typical sizes of the parameters, above zero: for finite differences and the longest step.  Empty: those of the
  /// start, and for a start of zero a thousandth of the width of the bounds, or 1.
  std::vector<double> typical;
};

struct NlsOptions {
  int max_iterations = 200;
  double gradient_tolerance = 1e-10;  ///< on the cosine between the residuals and any free column of the Jacobian
  double step_tolerance = 1e-11;      ///< on the change of every parameter, relative
  double cost_tolerance = 1e-15;      ///< on the reduction that the quadratic model still promises, relative
};

enum class NlsStatus {
  gradient_small,   ///< converged: no direction lowers the cost
  step_small,       ///< converged: the step no longer changes the parameters
  reduction_small,  ///< converged: nothing left to gain
  iteration_limit,  ///< not converged
  stalled,          ///< not converged: no step lowers the cost, although the gradient says one should
  no_derivative,    ///< not converged: the residuals are not finite on either side of the point
};
/// "gradient_small" and so on.
[[nodiscard]] std::string_view name(NlsStatus status);

struct NlsFit {
  NlsStatus status = NlsStatus::iteration_limit;
  std::vector<double> parameters;
  std::vector<bool> at_bound;  ///< the cost would fall beyond the bound, or the parameter is fixed
  std::vector<double> residuals;
  double cost = 0;  ///< the minimised sum
  double sse = 0;   ///< Σ r², whatever the loss
  /// sqrt(sse / (residuals - free parameters)); absent without degrees of freedom.
  std::optional<double> residual_sd;
  /// p × p row-major, of the parameters that are not at a bound, given those that are (whose rows and columns are
  /// zero).  For a robust loss Huber's (1981, 7.6) asymptotic form.  Absent without degrees of freedom and where the
  /// data and priors do not determine the parameters.
  std::optional<std::vector<double>> covariance;
  int iterations = 0;   ///< Jacobians taken
  int evaluations = 0;  ///< calls of the residual function

  [[nodiscard]] bool converged() const { return status <= NlsStatus::reduction_small; }
  [[nodiscard]] std::size_t free_parameters() const;
  /// sqrt of a diagonal entry of the covariance; absent with it and for a parameter at a bound.
  [[nodiscard]] std::optional<double> standard_error(std::size_t parameter) const;
  /// sqrt(gᵀ C g): the standard error of a function of the parameters whose gradient is g.
  [[nodiscard]] std::optional<double> propagated_error(std::span<const double> gradient) const;
};

/// Errc::bad_data for a problem that makes no sense (no residuals, crossed bounds, a start that is outside them or
/// where a residual is not finite, a prior or scale that is not positive).  Not to converge is a status, not an Error.
[[nodiscard]] Result<NlsFit> fit_nls(const NlsProblem& problem, const NlsOptions& options = {});

/// The fit of lowest cost over several starts (`problem.start` is not used), a converged one before any other.  An
/// Error where no start could be fitted: that of the first.
[[nodiscard]] Result<NlsFit> fit_nls_multistart(const NlsProblem& problem, std::span<const std::vector<double>> starts,
                                                const NlsOptions& options = {});

}  // namespace flopwatt::stats
