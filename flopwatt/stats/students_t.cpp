#include "flopwatt/stats/students_t.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include <fmt/format.h>

#include "flopwatt/stats/sample.hpp"

namespace flopwatt::stats {
namespace {

namespace policies = boost::math::policies;

// Boost.Math throws by default; with this policy it returns NaN or infinity, which is turned into an Error below.
using NoThrow =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::underflow_error<policies::ignore_error>, policies::denorm_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>,
                     policies::rounding_error<policies::ignore_error>,
                     policies::indeterminate_result_error<policies::ignore_error>, policies::promote_double<false>>;

}  // namespace

Result<double> students_t_quantile(double probability, double degrees_of_freedom) {
  if (!(probability > 0 && probability < 1)) {
    return fail(Errc::usage, fmt::format("probability {} is not between 0 and 1", probability));
  }
  if (!(degrees_of_freedom > 0) || !std::isfinite(degrees_of_freedom)) {
    return fail(Errc::usage, fmt::format("degrees of freedom {} are not positive", degrees_of_freedom));
  }
  const boost::math::students_t_distribution<double, NoThrow> distribution(degrees_of_freedom);
  const double t = boost::math::quantile(distribution, probability);
  if (!std::isfinite(t)) {
    return fail(Errc::usage,
                fmt::format("no finite t quantile at {} with {} degrees of freedom", probability, degrees_of_freedom));
  }
  return t;
}

Result<double> students_t_factor(double level, double degrees_of_freedom) {
  FLOPWATT_TRY_VOID(require_level(level));
  return students_t_quantile(0.5 + level / 2, degrees_of_freedom);
}

}  // namespace flopwatt::stats
