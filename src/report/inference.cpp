#include "report/inference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "stats/describe.h"
#include "stats/dominance.h"
#include "stats/effect.h"
#include "stats/permutation.h"
#include "stats/power.h"
#include "stats/trend.h"

namespace tlstrata::report {
namespace {

using Figures = Replicates::Figures;

// The statistic of one sample with its interval.
template <typename Statistic>
Estimate estimate(const Replicates& of, Statistic statistic) {
  Estimate result{statistic(of.all), std::nullopt};
  if (of.resampled.empty()) {
    return result;
  }
  std::vector<double> resampled;
  for (const Figures& figures : of.resampled) {
    resampled.push_back(statistic(figures));
  }
  std::array<stats::LeaveOneOut, 1> left_out;
  for (const Figures& figures : of.left_out) {
    left_out[0].push_back(statistic(figures));
  }
  if (const auto bounds = stats::interval(std::move(resampled), left_out)) {
    result.interval = Interval{bounds->low, bounds->high};
  }
  return result;
}

// The same for a statistic of two samples, whose blocks are drawn and left out independently.
template <typename Statistic>
Estimate estimate(const Replicates& cell, const Replicates& base, Statistic statistic) {
  Estimate result{statistic(cell.all, base.all), std::nullopt};
  const std::size_t draws = std::min(cell.resampled.size(), base.resampled.size());
  if (draws == 0) {
    return result;
  }
  std::vector<double> resampled;
  for (std::size_t i = 0; i < draws; ++i) {
    resampled.push_back(statistic(cell.resampled[i], base.resampled[i]));
  }
  std::array<stats::LeaveOneOut, 2> left_out;
  for (const Figures& figures : cell.left_out) {
    left_out[0].push_back(statistic(figures, base.all));
  }
  for (const Figures& figures : base.left_out) {
    left_out[1].push_back(statistic(cell.all, figures));
  }
  if (const auto bounds = stats::interval(std::move(resampled), left_out)) {
    result.interval = Interval{bounds->low, bounds->high};
  }
  return result;
}

// The layers that a key exchange can lengthen.
constexpr std::array cryptographic_layers{strata::Layer::tcp_to_tls, strata::Layer::tls_handshake,
                                          strata::Layer::tls_to_app};

template <typename Figure>
double share(const Figures& cell, const Figures& base, Figure figure) {
  double sum = 0;
  for (const strata::Layer layer : cryptographic_layers) {
    const auto measure = static_cast<std::size_t>(layer);
    sum += figure(cell[measure]) - figure(base[measure]);
  }
  return sum / figure(cell[total_measure]);
}

double median(const stats::Draw& draw) {
  return draw.quantiles[0];
}

Distribution describe_values(const Sample& sample, std::size_t measure) {
  return sample.sketches[measure] ? describe(*sample.sketches[measure]) : describe(sample.present(measure));
}

stats::Draw draw_of(const Distribution& distribution) {
  stats::Draw draw;
  draw.n = distribution.n;
  if (distribution.n == 0) {
    draw.quantiles.fill(std::numeric_limits<double>::quiet_NaN());
    draw.mean = std::numeric_limits<double>::quiet_NaN();
    return draw;
  }
  draw.quantiles = {distribution.p50.value, distribution.p90.value, distribution.p95.value, distribution.p99.value};
  draw.mean = distribution.mean.value;
  draw.sd = distribution.sd.value_or(0);
  return draw;
}

// The sample as a sketch, whichever way it is kept.
stats::Sketch sketch_of(const Sample& sample, std::size_t measure) {
  if (sample.sketches[measure]) {
    return *sample.sketches[measure];
  }
  stats::Sketch sketch;
  for (const double value : sample.present(measure)) {
    sketch.add(value);
  }
  return sketch;
}

struct Stream {
  std::uint64_t seed;
  std::uint64_t number;
};

void add_dominance(Comparison& result, const Side& cell, const Side& base, std::size_t measure, const Stream& stream) {
  constexpr std::uint64_t apart = 1'000'000;  // from the stream that deals blocks
  const auto blocks_of = [&](const Side& side) {
    return stats::sorted_blocks(side.sample->values[measure], side.sample->offsets);
  };
  const std::size_t draws = std::min(cell.replicates->resampled.size(), base.replicates->resampled.size());
  const auto found = stats::dominance(blocks_of(cell), blocks_of(base), draws, stream.seed, stream.number + apart);
  if (!found) {
    return;
  }
  result.hodges_lehmann = found->shift;
  result.cliff_delta = found->cliff_delta;
  if (const auto& bounds = found->shift_interval) {
    result.hodges_lehmann_interval = Interval{bounds->low, bounds->high};
  }
  if (const auto& bounds = found->cliff_interval) {
    result.cliff_delta_interval = Interval{bounds->low, bounds->high};
  }
}

}  // namespace

std::vector<double> Sample::present(std::size_t measure) const {
  std::vector<double> result;
  result.reserve(values[measure].size());
  std::copy_if(values[measure].begin(), values[measure].end(), std::back_inserter(result),
               [](double value) { return !std::isnan(value); });
  return result;
}

std::vector<double> Sample::block_medians(std::size_t measure) const {
  std::vector<double> medians;
  std::vector<double> block;
  for (std::size_t b = 0; b < blocks(); ++b) {
    block.clear();
    for (std::size_t row = offsets[b]; row < offsets[b + 1]; ++row) {
      if (!std::isnan(values[measure][row])) {
        block.push_back(values[measure][row]);
      }
    }
    if (!block.empty()) {
      medians.push_back(stats::median_of(block));
    }
  }
  return medians;
}

Replicates replicate(const Sample& sample, std::uint64_t resamples, std::uint64_t seed, std::uint64_t stream) {
  Replicates replicates;
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    replicates.described[measure] = describe_values(sample, measure);
  }
  if (sample.blocks() < stats::least_blocks_for_interval) {
    std::ranges::transform(replicates.described, replicates.all.begin(), draw_of);
    return replicates;
  }
  std::vector<stats::RankedSample> ranked;
  for (const auto& values : sample.values) {
    ranked.emplace_back(values);
  }
  const auto figures_of = [&](std::span<const stats::Piece> pieces) {
    Figures figures;
    for (std::size_t measure = 0; measure < measure_count; ++measure) {
      figures[measure] = ranked[measure].statistics(pieces);
    }
    return figures;
  };
  const stats::Piece everything{0, sample.offsets.back()};
  replicates.all = figures_of({&everything, 1});
  stats::Resampler resampler(sample.offsets, seed, stream);
  for (std::uint64_t i = 0; i < resamples; ++i) {
    replicates.resampled.push_back(figures_of(resampler.draw()));
  }
  for (std::size_t block = 0; block < resampler.blocks(); ++block) {
    replicates.left_out.push_back(figures_of(resampler.leave_out(block)));
  }
  return replicates;
}

Distribution describe(std::vector<double> values) {
  Distribution result;
  result.n = values.size();
  if (values.empty()) {
    return result;
  }
  result.mean.value = stats::mean(values);
  result.sd = stats::sd(values);
  static constexpr std::array probabilities{0.0, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0};
  std::array<double, probabilities.size()> quantiles{};
  stats::quantiles_of(values, probabilities, quantiles);
  result.min = quantiles[0];
  result.p50.value = quantiles[1];
  result.p90.value = quantiles[2];
  result.p95.value = quantiles[3];
  result.p99.value = quantiles[4];
  if (values.size() >= stats::p999_least_n) {
    result.p999 = quantiles[5];
  }
  result.max = quantiles[6];
  return result;
}

Distribution describe(const stats::Sketch& sketch) {
  Distribution result;
  result.n = sketch.n();
  if (result.n == 0) {
    return result;
  }
  result.min = sketch.min();
  result.max = sketch.max();
  result.p50.value = sketch.quantile(0.5);
  result.p90.value = sketch.quantile(0.9);
  result.p95.value = sketch.quantile(0.95);
  result.p99.value = sketch.quantile(0.99);
  if (result.n >= stats::p999_least_n) {
    result.p999 = sketch.quantile(0.999);
  }
  result.mean.value = sketch.mean();
  result.sd = sketch.sd();
  return result;
}

Distribution describe(const Replicates& replicates, std::size_t measure) {
  Distribution result = replicates.described[measure];
  if (result.n == 0) {
    return result;
  }
  const std::array quantiles{&result.p50, &result.p90, &result.p95, &result.p99};
  for (std::size_t q = 0; q < quantiles.size(); ++q) {
    quantiles[q]->interval =
        estimate(replicates, [&](const Figures& figures) { return figures[measure].quantiles[q]; }).interval;
  }
  result.mean.interval = estimate(replicates, [&](const Figures& figures) { return figures[measure].mean; }).interval;
  return result;
}

Comparison compare(const Side& cell, const Side& base, std::size_t measure, std::uint64_t seed, std::uint64_t stream) {
  const auto estimated = [&](auto statistic) {
    return estimate(*cell.replicates, *base.replicates,
                    [&](const Figures& a, const Figures& b) { return statistic(a[measure], b[measure]); });
  };
  Comparison result;
  const stats::Draw& whole_base = base.replicates->all[measure];
  if (whole_base.sd > 0) {
    result.glass_delta = estimated([](const auto& a, const auto& b) { return (a.mean - b.mean) / b.sd; });
  }
  for (std::size_t i = 0; i < changed_figures.size(); ++i) {
    const auto figure = [i](const stats::Draw& draw) {
      return i < draw.quantiles.size() ? draw.quantiles[i] : draw.mean;
    };
    result.changes[i].difference = estimated([&](const auto& a, const auto& b) { return figure(a) - figure(b); });
    if (figure(whole_base) > 0) {
      result.changes[i].ratio = estimated([&](const auto& a, const auto& b) { return figure(a) / figure(b); });
    }
  }
  result.difference = result.changes.front().difference;
  result.difference_of_means = result.changes.back().difference;
  result.overhead_factor = result.changes.front().ratio;
  if (cell.sample->sketches[measure] || base.sample->sketches[measure]) {
    const stats::Sketch values = sketch_of(*cell.sample, measure);
    const stats::Sketch base_values = sketch_of(*base.sample, measure);
    result.hodges_lehmann = stats::hodges_lehmann(values, base_values);
    result.cliff_delta = stats::cliff_delta(values, base_values);
  } else {
    add_dominance(result, cell, base, measure, {seed, stream});
  }
  test_blocks(result, cell.sample->block_medians(measure), base.sample->block_medians(measure), seed, stream);
  return result;
}

void test_blocks(Comparison& comparison, std::span<const double> cell, std::span<const double> base, std::uint64_t seed,
                 std::uint64_t stream) {
  if (const auto test = stats::permutation_test(cell, base, seed, stream)) {
    comparison.p = test->p;
    comparison.smallest_p = test->smallest_p;
    comparison.standard_error = stats::standard_error(cell, base);
  }
}

void adjust_family(std::span<Comparison* const> family) {
  std::vector<double> p;
  for (const Comparison* comparison : family) {
    p.push_back(*comparison->p);
  }
  const std::vector<double> adjusted = stats::holm(p);
  for (std::size_t i = 0; i < family.size(); ++i) {
    family[i]->p_holm = adjusted[i];
    family[i]->flagged = adjusted[i] < family_alpha;
  }
}

// Holm's first step, which a lone difference must pass, divides alpha by the family's size.
void add_detectable(std::span<Comparison* const> comparisons, std::size_t family_size) {
  const auto detectable = [](const Comparison& comparison, double alpha) -> std::optional<double> {
    if (!comparison.standard_error || *comparison.smallest_p >= alpha) {
      return std::nullopt;
    }
    const auto& [error, freedom] = *comparison.standard_error;
    return error * stats::detectable_estimated_errors(freedom, alpha, promised_power);
  };
  for (Comparison* comparison : comparisons) {
    comparison->minimum_detectable = detectable(*comparison, family_alpha / static_cast<double>(family_size));
    comparison->minimum_detectable_alone = detectable(*comparison, family_alpha);
  }
}

void describe_course(CellSummary& cell, const Sample& sample) {
  if (!sample.has_blocks) {
    return;
  }
  for (std::size_t measure = 0; measure < measure_count; ++measure) {
    if (const auto found = stats::drift(sample.block_medians(measure))) {
      cell.drift[measure] = DriftSummary{.change = found->change, .tau = found->trend.tau, .p = found->trend.p};
    }
    if (const auto found = stats::warm_up(sample.values[measure], sample.offsets)) {
      cell.warm_up[measure] =
          WarmUpSummary{.rows = found->values, .excess = found->excess, .dominance = found->dominance, .p = found->p};
    }
  }
}

CryptographicShare cryptographic_share(const Side& cell, const Side& base) {
  const auto of_medians = [](const Figures& a, const Figures& b) { return share(a, b, median); };
  const auto of_means = [](const Figures& a, const Figures& b) {
    return share(a, b, [](const stats::Draw& draw) { return draw.mean; });
  };
  return {estimate(*cell.replicates, *base.replicates, of_medians),
          estimate(*cell.replicates, *base.replicates, of_means)};
}

}  // namespace tlstrata::report
