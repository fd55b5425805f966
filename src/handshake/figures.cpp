#include "handshake/figures.h"

#include <algorithm>
#include <utility>

#include "stats/describe.h"
#include "stats/effect.h"
#include "stats/permutation.h"

namespace tlstrata::handshake {
namespace {

constexpr std::uint64_t resamples = 1000;
constexpr double level = 0.05;

// One measure of a configuration, in order of time.
struct Series {
  std::vector<double> values;
  std::vector<std::size_t> offsets{0};
  stats::Draw all;
  std::vector<stats::Draw> resampled;  // empty: too few blocks
  std::vector<stats::Draw> left_out;
};

double value_of(const Sample& sample, std::size_t measure) {
  const auto which = static_cast<Measure>(measure);
  const auto client = static_cast<double>(sample.cpu_ns[at(ossl::Side::client)]);
  const auto server = static_cast<double>(sample.cpu_ns[at(ossl::Side::server)]);
  return which == Measure::client ? client : which == Measure::server ? server : client + server;
}

// Draws the resamples of a series whose values and offsets are there.
void resample(Series& series, std::uint64_t seed, std::uint64_t stream) {
  stats::RankedSample ranked(series.values);
  const stats::Piece everything{0, series.values.size()};
  series.all = ranked.statistics({&everything, 1});
  if (series.offsets.size() - 1 < stats::least_blocks_for_interval) {
    return;
  }
  stats::Resampler resampler(series.offsets, seed, stream);
  for (std::uint64_t i = 0; i < resamples; ++i) {
    series.resampled.push_back(ranked.statistics(resampler.draw()));
  }
  for (std::size_t block = 0; block < resampler.blocks(); ++block) {
    series.left_out.push_back(ranked.statistics(resampler.leave_out(block)));
  }
}

Series series_of(const Measured& measured, std::size_t measure, std::uint64_t seed, std::uint64_t stream) {
  Series series;
  for (const Block& block : measured.blocks) {
    for (const Sample& sample : block.samples) {
      series.values.push_back(value_of(sample, measure));
    }
    series.offsets.push_back(series.values.size());
  }
  resample(series, seed, stream);
  return series;
}

double median(const stats::Draw& draw) {
  return draw.quantiles[0];
}

// A statistic of two series, whose blocks are drawn and left out independently.
template <typename Statistic>
Estimate estimate(const Series& cell, const Series& base, Statistic statistic) {
  Estimate result{statistic(cell.all, base.all), std::nullopt};
  if (cell.resampled.empty() || base.resampled.empty()) {
    return result;
  }
  std::vector<double> drawn;
  for (std::size_t i = 0; i < resamples; ++i) {
    drawn.push_back(statistic(cell.resampled[i], base.resampled[i]));
  }
  std::array<stats::LeaveOneOut, 2> left_out;
  for (const stats::Draw& draw : cell.left_out) {
    left_out[0].push_back(statistic(draw, base.all));
  }
  for (const stats::Draw& draw : base.left_out) {
    left_out[1].push_back(statistic(cell.all, draw));
  }
  result.interval = stats::interval(std::move(drawn), left_out);
  return result;
}

Estimate median_of(const Series& series) {
  Estimate result{median(series.all), std::nullopt};
  if (series.resampled.empty()) {
    return result;
  }
  std::vector<double> drawn;
  std::ranges::transform(series.resampled, std::back_inserter(drawn), median);
  std::array<stats::LeaveOneOut, 1> left_out;
  std::ranges::transform(series.left_out, std::back_inserter(left_out[0]), median);
  result.interval = stats::interval(std::move(drawn), left_out);
  return result;
}

std::vector<double> medians(const Measured& measured, std::size_t measure, bool by_run) {
  std::vector<double> result;
  std::vector<double> values;
  for (std::size_t i = 0; i < measured.blocks.size(); ++i) {
    for (const Sample& sample : measured.blocks[i].samples) {
      values.push_back(value_of(sample, measure));
    }
    const bool goes_on =
        by_run && i + 1 < measured.blocks.size() && measured.blocks[i + 1].run == measured.blocks[i].run;
    if (!goes_on && !values.empty()) {
      result.push_back(stats::median_of(values));
      values.clear();
    }
  }
  return result;
}

CpuFigures cpu_figures(const Measured& measured, const Series& series, std::size_t measure) {
  CpuFigures figures;
  figures.n = series.values.size();
  if (figures.n == 0) {
    return figures;
  }
  figures.median = median_of(series);
  figures.p90 = series.all.quantiles[1];
  figures.p95 = series.all.quantiles[2];
  figures.p99 = series.all.quantiles[3];
  std::vector<double> values = series.values;
  static constexpr std::array probabilities{0.0, 0.999, 1.0};
  std::array<double, probabilities.size()> quantiles{};
  stats::quantiles_of(values, probabilities, quantiles);
  figures.min = quantiles[0];
  if (figures.n >= stats::p999_least_n) {
    figures.p999 = quantiles[1];
  }
  figures.max = quantiles[2];
  figures.mean = series.all.mean;
  figures.sd = stats::sd(series.values);
  figures.run_medians = medians(measured, measure, true);
  std::vector<double> runs = figures.run_medians;
  figures.median_of_runs = stats::median_of(runs);
  const auto [least, largest] = std::ranges::minmax(figures.run_medians);
  figures.spread = (largest - least) / figures.median_of_runs;
  figures.block_medians = medians(measured, measure, false);
  return figures;
}

void add_bytes(const Measured& measured, Figures& figures) {
  for (std::size_t side = 0; side < side_count; ++side) {
    std::vector<double> bytes;
    for (const Block& block : measured.blocks) {
      for (const Sample& sample : block.samples) {
        bytes.push_back(sample.bytes[side]);
      }
    }
    if (bytes.empty()) {
      continue;
    }
    const auto [least, largest] = std::ranges::minmax(bytes);
    ByteFigures& of = figures.bytes[side];
    of = {0, stats::mean(bytes), static_cast<std::uint32_t>(least), static_cast<std::uint32_t>(largest)};
    of.median = stats::median_of(bytes);
    const SideAccount& account = measured.first.account.sides[side];
    if (account.signature_bytes != 0) {
      const std::uint32_t others = account.total - account.signature_bytes;
      figures.signatures[side] = SignatureLengths{of.min - others, of.mean - others, of.max - others};
    }
  }
}

void add_accounts(const Measured& measured, Figures& figures) {
  for (std::size_t side = 0; side < side_count; ++side) {
    figures.account[side] = cpu_account(measured.costs[side]);
    std::vector<double> plain;
    for (const Block& block : measured.blocks) {
      for (const Sample& sample : block.samples) {
        plain.push_back(static_cast<double>(sample.cpu_ns[side]));
      }
    }
    figures.middle_ns[side] = middle_mean(std::move(plain));
    std::vector<double> floor;
    std::ranges::transform(measured.floor, std::back_inserter(floor),
                           [side](const FloorSample& sample) { return static_cast<double>(sample[side]); });
    if (!floor.empty()) {
      figures.floor_ns[side] = stats::median_of(floor);
    }
  }
}

void add_rate(const Measured& measured, std::uint32_t threads, Figures& figures) {
  Nanos wall_ns = 0;
  for (const Block& block : measured.blocks) {
    wall_ns += block.wall_ns;
  }
  if (wall_ns > 0) {
    figures.per_second =
        static_cast<double>(figures.cpu_ns[0].n) * threads * nanos_per_second / static_cast<double>(wall_ns);
  }
}

Comparison compare(const Series& cell, const Series& base, const CpuFigures& figures, const CpuFigures& base_figures,
                   std::uint64_t seed, std::uint64_t stream) {
  Comparison result;
  result.difference = estimate(cell, base, [](const auto& a, const auto& b) { return median(a) - median(b); });
  result.ratio = estimate(cell, base, [](const auto& a, const auto& b) { return median(a) / median(b); });
  result.hodges_lehmann = stats::hodges_lehmann(cell.values, base.values);
  result.glass_delta = stats::glass_delta(cell.values, base.values);
  result.cliff_delta = stats::cliff_delta(cell.values, base.values);
  if (const auto test = stats::permutation_test(figures.block_medians, base_figures.block_medians, seed, stream)) {
    result.p = test->p;
  }
  return result;
}

// Client and server of all configurations are one family; their sum is told and not judged again.
void adjust(std::vector<Figures>& figures) {
  std::vector<double> p;
  std::vector<Comparison*> family;
  for (Figures& each : figures) {
    for (std::size_t measure = 0; each.versus_baseline && measure < measure_count; ++measure) {
      Comparison& comparison = (*each.versus_baseline)[measure];
      if (comparison.p && static_cast<Measure>(measure) != Measure::both) {
        p.push_back(*comparison.p);
        family.push_back(&comparison);
      }
    }
  }
  const std::vector<double> adjusted = stats::holm(p);
  for (std::size_t i = 0; i < family.size(); ++i) {
    family[i]->p_holm = adjusted[i];
    family[i]->flagged = adjusted[i] < level;
  }
}

}  // namespace

std::vector<Figures> figures_of(std::span<const Measured> measured, std::uint64_t seed, std::uint32_t threads) {
  std::vector<Figures> result(measured.size());
  std::array<Series, measure_count> base;
  std::uint64_t stream = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    Figures& figures = result[i];
    std::array<Comparison, measure_count> comparisons;
    for (std::size_t measure = 0; measure < measure_count; ++measure) {
      Series series = series_of(measured[i], measure, seed, ++stream);
      figures.cpu_ns[measure] = cpu_figures(measured[i], series, measure);
      if (i == 0) {
        base[measure] = std::move(series);
      } else if (!series.values.empty() && !base[measure].values.empty()) {
        comparisons[measure] =
            compare(series, base[measure], figures.cpu_ns[measure], result[0].cpu_ns[measure], seed, ++stream);
      }
    }
    if (i != 0) {
      figures.versus_baseline = comparisons;
    }
    add_bytes(measured[i], figures);
    add_accounts(measured[i], figures);
    add_rate(measured[i], threads, figures);
  }
  adjust(result);
  return result;
}

std::optional<stats::Bounds> difference_interval(std::span<const double> blocks, std::span<const double> base_blocks,
                                                 std::uint64_t seed) {
  std::array<Series, 2> series;
  const std::array given{blocks, base_blocks};
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (given[i].size() < stats::least_blocks_for_interval) {
      return std::nullopt;
    }
    for (const double each : given[i]) {
      series[i].values.push_back(each);
      series[i].offsets.push_back(series[i].values.size());
    }
    resample(series[i], seed, i);
  }
  return estimate(series[0], series[1], [](const auto& a, const auto& b) { return median(a) - median(b); }).interval;
}

}  // namespace tlstrata::handshake
