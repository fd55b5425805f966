#include "stats/power.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <cstdint>

#include "stats/describe.h"

namespace tlstrata::stats {
namespace {

double critical_t(double degrees_of_freedom, double alpha) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(degrees_of_freedom), alpha / 2));
}

double chance_beyond(double t, double degrees_of_freedom, double errors) {
  return boost::math::cdf(
      boost::math::complement(boost::math::non_central_t(degrees_of_freedom, std::max(0.0, errors)), t));
}

// The argument at which an ascending function reaches `wanted`, to so many bits.
template <typename Function>
double solve(Function function, double wanted, unsigned bits) {
  std::uintmax_t steps = 200;
  const auto root =
      boost::math::tools::bracket_and_solve_root([&](double at) { return function(at) - wanted; }, 3.5, 1.5, true,
                                                 boost::math::tools::eps_tolerance<double>(bits), steps);
  return root.first + (root.second - root.first) / 2;
}

// Power averaged over the estimate's ratio to the truth, whose square is chi-squared by its degrees of freedom.
double average_power(double errors, double degrees_of_freedom, double critical) {
  const boost::math::chi_squared square(degrees_of_freedom);
  constexpr double tail = 1e-9;
  const double least = std::sqrt(boost::math::quantile(square, tail) / degrees_of_freedom);
  const double most = std::sqrt(boost::math::quantile(boost::math::complement(square, tail)) / degrees_of_freedom);
  const auto at = [&](double ratio) {
    const double density =
        boost::math::pdf(square, ratio * ratio * degrees_of_freedom) * 2 * ratio * degrees_of_freedom;
    return density * chance_beyond(critical, degrees_of_freedom, errors * ratio);
  };
  return boost::math::quadrature::gauss<double, 20>::integrate(at, least, most);
}

}  // namespace

std::optional<StandardError> standard_error(std::span<const double> sample, std::span<const double> base) {
  const auto of_sample = sd(sample);
  const auto of_base = sd(base);
  if (!of_sample || !of_base) {
    return std::nullopt;
  }
  const double a = *of_sample * *of_sample / static_cast<double>(sample.size());
  const double b = *of_base * *of_base / static_cast<double>(base.size());
  if (a + b <= 0) {
    return std::nullopt;
  }
  const double of_squares =
      a * a / static_cast<double>(sample.size() - 1) + b * b / static_cast<double>(base.size() - 1);
  return StandardError{std::sqrt(a + b), (a + b) * (a + b) / of_squares};
}

double power_of_t(double errors, double degrees_of_freedom, double alpha) {
  return chance_beyond(critical_t(degrees_of_freedom, alpha), degrees_of_freedom, errors);
}

double detectable_errors(double degrees_of_freedom, double alpha, double power) {
  const double critical = critical_t(degrees_of_freedom, alpha);
  return solve([&](double errors) { return chance_beyond(critical, degrees_of_freedom, errors); }, power, 46);
}

double detectable_estimated_errors(double degrees_of_freedom, double alpha, double power) {
  const double critical = critical_t(degrees_of_freedom, alpha);
  return solve([&](double errors) { return average_power(errors, degrees_of_freedom, critical); }, power, 24);
}

}  // namespace tlstrata::stats
