// The process that intervals and tests are held against: lognormal durations that depend on the one before (AR(1) with
// rho 0.3) and on their block.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "stats/random.h"

namespace tlstrata::stats {

inline double normal(Random& random) {
  const double u = 1 - random.uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * random.uniform());
}

struct Process {
  std::size_t blocks = 10;
  std::size_t per_block = 100;
  double sigma = 0.5;            // of the logarithm; the median is 1
  double between_blocks = 0.02;  // share of the variance
};

struct Simulated {
  std::vector<double> values;
  std::vector<std::size_t> offsets{0};
};

inline Simulated simulate(const Process& process, Random& random) {
  constexpr double rho = 0.3;
  Simulated result;
  for (std::size_t block = 0; block < process.blocks; ++block) {
    const double of_block = normal(random);
    double noise = normal(random);
    for (std::size_t i = 0; i < process.per_block; ++i) {
      noise = rho * noise + std::sqrt(1 - rho * rho) * normal(random);
      const double z = std::sqrt(1 - process.between_blocks) * noise + std::sqrt(process.between_blocks) * of_block;
      result.values.push_back(std::exp(process.sigma * z));
    }
    result.offsets.push_back(result.values.size());
  }
  return result;
}

}  // namespace tlstrata::stats
