#include "flopwatt/stats/nls.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "flopwatt/stats/sample.hpp"

namespace flopwatt::stats {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kFirstDamping = 0.1;
constexpr double kLeastDamping = 1e-15;
// A parameter that the data hardly determine at this point would take a step without measure.  It is damped as if its
// column were this fraction of the strongest, both taken relative to the sizes of their parameters, and no parameter
// moves by more than its size at once.  (On 240 fits of a saturating model from poor starts 233 found the best optimum
// with both rules, 108 with neither.)
constexpr double kLeastColumn = 0.1;
constexpr double kLongestStep = 1;
// Above this a step is short because it is damped, and its length says nothing about convergence.
constexpr double kLightDamping = 1e-4;
constexpr double kMostDamping = 1e16;

struct LossValue {
  double value;   // ρ(z)
  double first;   // ρ'(z)
  double second;  // ρ''(z)
};

LossValue loss_at(Loss loss, double z) {
  switch (loss) {
    case Loss::huber:
      if (z > 1) {
        const double root = std::sqrt(z);
        return {2 * root - 1, 1 / root, -0.5 / (z * root)};
      }
      break;
    case Loss::soft_l1: {
      const double root = std::sqrt(1 + z);
      return {2 * (root - 1), 1 / root, -0.5 / ((1 + z) * root)};
    }
    case Loss::squared:
      break;
  }
  return {z, 1, 0};
}

// The caller keeps spans; Eigen is handed views of them.
std::span<const double> view(const VectorXd& vector) {
  return {vector.data(), static_cast<std::size_t>(vector.size())};
}

class Solver {
 public:
  Solver(const NlsProblem& problem, const NlsOptions& options)
      : problem_(problem),
        options_(options),
        rows_(static_cast<Index>(problem.residuals)),
        count_(static_cast<Index>(problem.start.size())),
        lower_(VectorXd::Constant(count_, -std::numeric_limits<double>::infinity())),
        upper_(-lower_),
        prior_precision_(VectorXd::Zero(count_)),
        prior_mean_(VectorXd::Zero(count_)),
        typical_(count_),
        point_(Eigen::Map<const VectorXd>(problem.start.data(), count_)),
        residuals_(rows_),
        jacobian_(rows_, count_),
        hessian_(count_, count_),
        gradient_(count_),
        scale_(VectorXd::Zero(count_)),
        trial_residuals_(rows_) {
    for (Index j = 0; j < count_; ++j) {
      const auto index = static_cast<std::size_t>(j);
      if (!problem.bounds.empty()) {
        lower_[j] = problem.bounds[index].lo;
        upper_[j] = problem.bounds[index].hi;
      }
      typical_[j] = problem.typical.empty() ? typical_from_start(j) : problem.typical[index];
    }
    typical_from_start_ = typical_;
    // Several priors on one parameter add up to one: precisions add, means are weighted by them.
    for (const GaussianPrior& prior : problem.priors) {
      const auto j = static_cast<Index>(prior.parameter);
      const double precision = 1 / (prior.sd * prior.sd);
      const double sum = prior_precision_[j] + precision;
      prior_spread_ += prior_precision_[j] * precision / sum * std::pow(prior.mean - prior_mean_[j], 2);
      prior_mean_[j] += precision / sum * (prior.mean - prior_mean_[j]);
      prior_precision_[j] = sum;
    }
  }

  Result<NlsFit> solve() {
    cost_ = evaluate(point_, residuals_);
    if (!std::isfinite(cost_)) {
      return fail(Errc::bad_data, "the residuals are not finite at the start", "", "start from another point");
    }
    central_ = false;
    NlsStatus status = iterate();
    const bool numeric = !problem_.jacobian_function;
    if (numeric && status <= NlsStatus::reduction_small) {
      // Forward differences are good to half the digits; the optimum deserves better.
      central_ = true;
      damping_ = std::min(damping_, kLightDamping * kLightDamping);
      status = iterate();
    }
    // The last step has moved on from where the derivatives were taken.
    if (status == NlsStatus::iteration_limit && !linearise()) status = NlsStatus::no_derivative;
    return report(status);
  }

 private:
  [[nodiscard]] double typical_from_start(Index j) const {
    if (point_[j] != 0) return std::abs(point_[j]);
    const double width = upper_[j] - lower_[j];
    return std::isfinite(width) && width > 0 ? 1e-3 * width : 1;
  }

  [[nodiscard]] bool fixed(Index j) const { return lower_[j] == upper_[j]; }

  /// At a bound with the cost falling beyond it, or fixed.
  [[nodiscard]] bool held(Index j) const {
    return fixed(j) || (point_[j] <= lower_[j] && gradient_[j] > 0) || (point_[j] >= upper_[j] && gradient_[j] < 0);
  }

  /// The cost at `point`; not finite where a residual is not.
  double evaluate(const VectorXd& point, VectorXd& residuals) {
    ++evaluations_;
    problem_.residual_function(view(point), {residuals.data(), problem_.residuals});
    double sum = 0;
    if (problem_.loss == Loss::squared) {
      sum = residuals.squaredNorm();
    } else {
      const double s2 = problem_.loss_scale * problem_.loss_scale;
      for (const double r : residuals) sum += s2 * loss_at(problem_.loss, r * r / s2).value;
    }
    const double priors = (prior_precision_.array() * (point - prior_mean_).array().square()).sum() + prior_spread_;
    return 0.5 * (sum + priors);
  }

  /// Residuals at point_ with parameter j moved to `value`; false where they are not finite.
  bool residuals_at(Index j, double value, VectorXd& out) {
    const double kept = point_[j];
    point_[j] = value;
    ++evaluations_;
    problem_.residual_function(view(point_), {out.data(), problem_.residuals});
    point_[j] = kept;
    return out.allFinite();
  }

  bool differentiate_by(Index j) {
    const double size = std::max(std::abs(point_[j]), 1e-3 * typical_[j]);
    double step = (central_ ? std::cbrt(kEpsilon) : std::sqrt(kEpsilon)) * size;
    const double above = std::min(point_[j] + step, upper_[j]);
    const double below = std::max(point_[j] - step, lower_[j]);
    auto column = jacobian_.col(j);
    if (central_ && above > point_[j] && below < point_[j] && residuals_at(j, above, trial_residuals_)) {
      column = trial_residuals_;
      if (residuals_at(j, below, trial_residuals_)) {
        column = (column - trial_residuals_) / (above - below);
        return true;
      }
    }
    // One side: the farther one within the bounds, or the other where the model has no value there.
    step = std::sqrt(kEpsilon) * size;
    const double up = std::min(point_[j] + step, upper_[j]);
    const double down = std::max(point_[j] - step, lower_[j]);
    const bool up_first = up - point_[j] >= point_[j] - down;
    for (const double value : {up_first ? up : down, up_first ? down : up}) {
      if (value != point_[j] && residuals_at(j, value, trial_residuals_)) {
        column = (trial_residuals_ - residuals_) / (value - point_[j]);
        return true;
      }
    }
    return false;
  }

  /// Jacobian, gradient and Gauss–Newton Hessian at point_; false where there is none.
  bool linearise() {
    ++iterations_;
    if (problem_.jacobian_function) {
      problem_.jacobian_function(view(point_), {jacobian_.data(), static_cast<std::size_t>(jacobian_.size())});
    } else {
      for (Index j = 0; j < count_; ++j) {
        if (fixed(j)) {
          jacobian_.col(j).setZero();
        } else if (!differentiate_by(j)) {
          return false;
        }
      }
    }
    if (!jacobian_.allFinite()) return false;

    if (problem_.loss == Loss::squared) {
      gradient_.noalias() = jacobian_.transpose() * residuals_;
      hessian_.noalias() = jacobian_.transpose() * jacobian_;
    } else {
      const double s2 = problem_.loss_scale * problem_.loss_scale;
      VectorXd force(rows_);
      VectorXd curvature(rows_);
      for (Index i = 0; i < rows_; ++i) {
        const double z = residuals_[i] * residuals_[i] / s2;
        const LossValue loss = loss_at(problem_.loss, z);
        force[i] = loss.first * residuals_[i];
        // The true curvature of an outlier is zero (Huber); a little keeps the Hessian positive far from the optimum.
        curvature[i] = std::max(loss.first + 2 * z * loss.second, 0.1 * loss.first);
      }
      gradient_.noalias() = jacobian_.transpose() * force;
      hessian_.noalias() = jacobian_.transpose() * curvature.asDiagonal() * jacobian_;
    }
    gradient_ += prior_precision_.cwiseProduct(point_ - prior_mean_);
    hessian_.diagonal() += prior_precision_;
    set_scale();
    return hessian_.allFinite() && gradient_.allFinite();
  }

  /// What a change of parameter j is measured by.
  [[nodiscard]] double size_of(Index j) const { return std::max(std::abs(point_[j]), typical_[j]); }

  /// A size taken from the start follows the parameter down, since the start may be far off.
  void forget_start() {
    if (!problem_.typical.empty()) return;
    for (Index j = 0; j < count_; ++j) {
      typical_[j] = std::max({std::abs(point_[j]), 0.5 * typical_[j], 1e-3 * typical_from_start_[j]});
    }
  }

  void set_scale() {
    double strongest = 0;
    for (Index j = 0; j < count_; ++j) {
      if (!fixed(j)) strongest = std::max(strongest, std::sqrt(hessian_(j, j)) * size_of(j));
    }
    for (Index j = 0; j < count_; ++j) {
      scale_[j] = std::max(std::sqrt(hessian_(j, j)), kLeastColumn * strongest / size_of(j));
    }
  }

  void limit_step() {
    double fraction = 1;
    for (Index j = 0; j < count_; ++j) {
      const double longest = kLongestStep * size_of(j);
      if (std::abs(step_[j]) * fraction > longest) fraction = longest / std::abs(step_[j]);
    }
    if (fraction == 1) return;
    trial_ = (point_ + fraction * step_).cwiseMax(lower_).cwiseMin(upper_);
    step_ = trial_ - point_;
  }

  /// Largest cosine between the residual vector and a column of a free parameter.
  [[nodiscard]] double gradient_cosine() const {
    double most = 0;
    for (Index j = 0; j < count_; ++j) {
      const double length = std::sqrt(hessian_(j, j));
      if (!held(j) && length > 0) most = std::max(most, std::abs(gradient_[j]) / length);
    }
    return most / std::sqrt(2 * cost_);
  }

  /// The damped step within the bounds, into step_ and trial_.  False where the equations cannot be solved.
  bool solve_step(double damping) {
    step_.setZero(count_);
    trial_ = point_;
    std::vector<Index> free;
    for (Index j = 0; j < count_; ++j) {
      if (!held(j) && scale_[j] > 0) free.push_back(j);
    }
    while (!free.empty()) {
      const auto m = static_cast<Index>(free.size());
      // What the parameters already put at their bounds (step_ not zero) leave for the others.
      const VectorXd wanted = -gradient_ - hessian_ * step_;
      MatrixXd matrix(m, m);
      VectorXd right(m);
      for (Index a = 0; a < m; ++a) {
        const Index j = free[static_cast<std::size_t>(a)];
        right[a] = wanted[j] / scale_[j];
        for (Index b = 0; b < m; ++b) {
          const Index k = free[static_cast<std::size_t>(b)];
          matrix(a, b) = hessian_(j, k) / (scale_[j] * scale_[k]);
        }
        matrix(a, a) += damping;
      }
      const Eigen::LLT<MatrixXd> llt(matrix);
      if (llt.info() != Eigen::Success) return false;
      const VectorXd solution = llt.solve(right);
      if (!solution.allFinite()) return false;

      std::vector<Index> inside;
      for (Index a = 0; a < m; ++a) {
        const Index j = free[static_cast<std::size_t>(a)];
        const double target = point_[j] + solution[a] / scale_[j];
        if (target > lower_[j] && target < upper_[j]) {
          inside.push_back(j);
          trial_[j] = target;
        } else {
          trial_[j] = target <= lower_[j] ? lower_[j] : upper_[j];
          step_[j] = trial_[j] - point_[j];
        }
      }
      if (inside.size() == free.size()) {
        for (const Index j : free) step_[j] = trial_[j] - point_[j];
        break;
      }
      free = std::move(inside);
    }
    return true;
  }

  [[nodiscard]] bool step_is_small() const {
    for (Index j = 0; j < count_; ++j) {
      const double size = std::max(std::abs(point_[j]), 1e-3 * options_.step_tolerance * typical_[j]);
      if (std::abs(step_[j]) > options_.step_tolerance * size) return false;
    }
    return true;
  }

  /// A step whose gain is lost in the rounding of the cost still brings digits of the parameters.
  void take_last_step() {
    const double trial_cost = evaluate(trial_, trial_residuals_);
    if (trial_cost <= cost_ * (1 + 4 * kEpsilon)) {
      point_.swap(trial_);
      residuals_.swap(trial_residuals_);
      cost_ = trial_cost;
    }
  }

  NlsStatus iterate() {
    double growth = 2;
    for (int round = 0; round < options_.max_iterations; ++round) {
      if (!linearise()) return NlsStatus::no_derivative;
      if (cost_ <= 0 || gradient_cosine() <= options_.gradient_tolerance) return NlsStatus::gradient_small;
      bool accepted = false;
      while (!accepted) {
        if (damping_ > kMostDamping) {
          // What rounding leaves of the gradient is no direction.
          return gradient_cosine() <= std::sqrt(options_.gradient_tolerance) ? NlsStatus::gradient_small
                                                                             : NlsStatus::stalled;
        }
        bool improves = solve_step(damping_);
        if (improves) {
          limit_step();
          const double promised = -(gradient_.dot(step_) + 0.5 * step_.dot(hessian_ * step_));
          if (damping_ <= kLightDamping) {
            const bool small = step_is_small();
            if (small || promised <= options_.cost_tolerance * cost_) {
              take_last_step();
              return small ? NlsStatus::step_small : NlsStatus::reduction_small;
            }
          }
          const double trial_cost = evaluate(trial_, trial_residuals_);
          improves = std::isfinite(trial_cost) && trial_cost < cost_;
          if (improves) {
            const double ratio = promised > 0 ? (cost_ - trial_cost) / promised : 1;
            damping_ *= std::max(1.0 / 3, 1 - std::pow(2 * std::min(ratio, 1.0) - 1, 3));
            damping_ = std::max(damping_, kLeastDamping);
            growth = 2;
            point_.swap(trial_);
            residuals_.swap(trial_residuals_);
            cost_ = trial_cost;
            accepted = true;
            forget_start();
          }
        }
        if (!improves) {
          damping_ *= growth;
          growth *= 2;
        }
      }
    }
    return NlsStatus::iteration_limit;
  }

  /// Sandwich A⁻¹ B A⁻¹ with A = ψ̄' JᵀJ + P and B = (Σψ² / dof) JᵀJ + P over the free parameters: the errors of the
  /// data, as large as the residuals say, and those of the priors, as large as they say.
  [[nodiscard]] std::optional<std::vector<double>> covariance(const std::vector<Index>& free, double dof) const {
    const auto m = static_cast<Index>(free.size());
    std::vector<double> result(static_cast<std::size_t>(count_ * count_), 0.0);
    if (m == 0) return result;
    const double s2 = problem_.loss_scale * problem_.loss_scale;
    double force_squares = 0;
    double mean_curvature = 0;
    for (const double r : residuals_) {
      const double z = r * r / s2;
      const LossValue loss = loss_at(problem_.loss, z);
      force_squares += loss.first * loss.first * r * r;
      mean_curvature += (loss.first + 2 * z * loss.second) / static_cast<double>(rows_);
    }
    if (!(mean_curvature > 0)) return std::nullopt;

    MatrixXd stacked = MatrixXd::Zero(rows_ + m, m);
    VectorXd norms(m);
    VectorXd precision(m);
    for (Index a = 0; a < m; ++a) {
      const Index j = free[static_cast<std::size_t>(a)];
      stacked.col(a).head(rows_) = std::sqrt(mean_curvature) * jacobian_.col(j);
      precision[a] = prior_precision_[j];
      stacked(rows_ + a, a) = std::sqrt(precision[a]);
      norms[a] = stacked.col(a).norm();
      if (!(norms[a] > 0)) return std::nullopt;
      stacked.col(a) /= norms[a];
    }
    Eigen::ColPivHouseholderQR<MatrixXd> qr(stacked);
    qr.setThreshold(1e-11);
    if (qr.rank() < m) return std::nullopt;
    MatrixXd root = MatrixXd::Identity(m, m);
    qr.matrixR().topLeftCorner(m, m).triangularView<Eigen::Upper>().solveInPlace(root);
    root = norms.cwiseInverse().asDiagonal() * (qr.colsPermutation() * root);
    const MatrixXd inverse = root * root.transpose();
    const double variance = force_squares / dof / mean_curvature;
    const MatrixXd matrix = variance * inverse + (1 - variance) * inverse * precision.asDiagonal() * inverse;
    for (Index a = 0; a < m; ++a) {
      for (Index b = 0; b < m; ++b) {
        const Index at = free[static_cast<std::size_t>(a)] * count_ + free[static_cast<std::size_t>(b)];
        result[static_cast<std::size_t>(at)] = matrix(a, b);
      }
    }
    return result;
  }

  [[nodiscard]] NlsFit report(NlsStatus status) const {
    NlsFit fit;
    fit.status = status;
    fit.parameters.assign(point_.begin(), point_.end());
    fit.residuals.assign(residuals_.begin(), residuals_.end());
    fit.cost = cost_;
    fit.sse = residuals_.squaredNorm();
    fit.iterations = iterations_;
    fit.evaluations = evaluations_;
    std::vector<Index> free;
    for (Index j = 0; j < count_; ++j) {
      fit.at_bound.push_back(held(j));
      if (!held(j)) free.push_back(j);
    }
    const double dof = static_cast<double>(rows_) - static_cast<double>(free.size());
    if (dof > 0) {
      fit.residual_sd = std::sqrt(fit.sse / dof);
      if (status != NlsStatus::no_derivative) fit.covariance = covariance(free, dof);
    }
    return fit;
  }

  const NlsProblem& problem_;
  const NlsOptions& options_;
  Index rows_;
  Index count_;
  VectorXd lower_;
  VectorXd upper_;
  VectorXd prior_precision_;
  VectorXd prior_mean_;
  double prior_spread_ = 0;  // what several priors on one parameter cost by disagreeing, a constant
  VectorXd typical_;
  VectorXd typical_from_start_;

  VectorXd point_;
  VectorXd residuals_;
  double cost_ = 0;
  MatrixXd jacobian_;
  MatrixXd hessian_;
  VectorXd gradient_;
  VectorXd scale_;
  VectorXd step_;
  VectorXd trial_;
  VectorXd trial_residuals_;
  double damping_ = kFirstDamping;
  bool central_ = false;
  int iterations_ = 0;
  int evaluations_ = 0;
};

Result<void> require_problem(const NlsProblem& problem) {
  const std::size_t count = problem.start.size();
  if (problem.residuals == 0 || !problem.residual_function) return fail(Errc::bad_data, "no residuals to minimise");
  if (count == 0) return fail(Errc::bad_data, "no parameters to fit");
  FLOPWATT_TRY_VOID(require_finite(problem.start, "start"));
  if (!problem.bounds.empty()) {
    FLOPWATT_TRY_VOID(require_same_length(problem.bounds.size(), "bounds", count, "start"));
  }
  if (!problem.typical.empty()) {
    FLOPWATT_TRY_VOID(require_same_length(problem.typical.size(), "typical", count, "start"));
    FLOPWATT_TRY_VOID(require_finite(problem.typical, "typical"));
    if (std::any_of(problem.typical.begin(), problem.typical.end(), [](double size) { return size <= 0; })) {
      return fail(Errc::bad_data, "a typical size is not positive");
    }
  }
  for (std::size_t j = 0; j < problem.bounds.size(); ++j) {
    const auto [lo, hi] = problem.bounds[j];
    if (!(lo <= hi)) return fail(Errc::bad_data, fmt::format("parameter {}: bounds [{}, {}] are crossed", j, lo, hi));
    if (problem.start[j] < lo || problem.start[j] > hi) {
      return fail(Errc::bad_data,
                  fmt::format("parameter {}: start {} is outside [{}, {}]", j, problem.start[j], lo, hi), "",
                  "start within the bounds");
    }
  }
  for (const GaussianPrior& prior : problem.priors) {
    if (prior.parameter >= count)
      return fail(Errc::bad_data, fmt::format("a prior on parameter {} of {}", prior.parameter, count));
    if (!(prior.sd > 0) || !std::isfinite(prior.sd) || !std::isfinite(prior.mean)) {
      return fail(Errc::bad_data, fmt::format("parameter {}: prior {} ± {}", prior.parameter, prior.mean, prior.sd), "",
                  "give a finite mean and a positive spread");
    }
  }
  if (!(problem.loss_scale > 0) || !std::isfinite(problem.loss_scale)) {
    return fail(Errc::bad_data, fmt::format("loss scale {} is not positive", problem.loss_scale));
  }
  return {};
}

}  // namespace

std::string_view name(NlsStatus status) {
  switch (status) {
    case NlsStatus::gradient_small:
      return "gradient_small";
    case NlsStatus::step_small:
      return "step_small";
    case NlsStatus::reduction_small:
      return "reduction_small";
    case NlsStatus::iteration_limit:
      return "iteration_limit";
    case NlsStatus::stalled:
      return "stalled";
    case NlsStatus::no_derivative:
      return "no_derivative";
  }
  return "unknown";
}

std::size_t NlsFit::free_parameters() const {
  return static_cast<std::size_t>(std::count(at_bound.begin(), at_bound.end(), false));
}

std::optional<double> NlsFit::standard_error(std::size_t parameter) const {
  if (!covariance || at_bound[parameter]) return std::nullopt;
  return std::sqrt((*covariance)[parameter * parameters.size() + parameter]);
}

std::optional<double> NlsFit::propagated_error(std::span<const double> gradient) const {
  if (!covariance) return std::nullopt;
  const std::size_t count = parameters.size();
  double variance = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) variance += gradient[i] * (*covariance)[i * count + j] * gradient[j];
  }
  return std::sqrt(std::max(0.0, variance));
}

Result<NlsFit> fit_nls(const NlsProblem& problem, const NlsOptions& options) {
  FLOPWATT_TRY_VOID(require_problem(problem));
  return Solver(problem, options).solve();
}

Result<NlsFit> fit_nls_multistart(const NlsProblem& problem, std::span<const std::vector<double>> starts,
                                  const NlsOptions& options) {
  if (starts.empty()) return fail(Errc::bad_data, "no start to fit from");
  Result<NlsFit> best = tl::unexpected<Error>{Error{}};
  NlsProblem from_here = problem;
  for (std::size_t s = 0; s < starts.size(); ++s) {
    from_here.start = starts[s];
    auto fit = fit_nls(from_here, options);
    if (s == 0) {
      best = std::move(fit);
    } else if (fit) {
      const bool better = !best || (fit->converged() != best->converged() ? fit->converged() : fit->cost < best->cost);
      if (better) best = std::move(fit);
    }
  }
  return best;
}

}  // namespace flopwatt::stats
