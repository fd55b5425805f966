#include "report/axis.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "report/figures.h"

namespace tlstrata::report {
namespace {

std::vector<double> linear_ticks(double low, double high, int about) {
  const double raw = (high - low) / about;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double lead = raw / power;
  const double step = power * (lead < 1.414 ? 1 : lead < 3.162 ? 2 : lead < 7.071 ? 5 : 10);
  std::vector<double> ticks;
  // Whole multiples: adding steps up would let rounding show in the labels.
  for (double multiple = std::ceil(low / step - 1e-9); multiple * step <= high + step * 1e-9; ++multiple) {
    ticks.push_back(multiple == 0 ? 0 : multiple * step);
  }
  return ticks;
}

std::vector<double> logarithmic_ticks(double low, double high, int about) {
  const double decades = std::log10(high / low);
  std::vector<double> ticks;
  for (double power = std::floor(std::log10(low)); power <= std::log10(high); ++power) {
    for (const double lead : {1.0, 2.0, 5.0}) {
      const double tick = lead * std::pow(10, power);
      if ((lead == 1 || 3 * decades <= about) && tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) {
        ticks.push_back(tick);
      }
    }
  }
  return ticks;
}

}  // namespace

Axis::Axis(Kind kind, double low, double high, double from, double to)
    : kind_(kind), low_(low), high_(high), from_(from), to_(to) {}

double Axis::place(double figure) const {
  const double share =
      kind_ == Kind::linear ? (figure - low_) / (high_ - low_) : std::log(figure / low_) / std::log(high_ / low_);
  return from_ + share * (to_ - from_);
}

std::vector<double> Axis::ticks(int about) const {
  return kind_ == Kind::linear ? linear_ticks(low_, high_, about) : logarithmic_ticks(low_, high_, about);
}

std::string tick_label(double figure) {
  const double size = std::abs(figure);
  if (size >= 1000) {
    return (figure < 0 ? "-" : "") + grouped(static_cast<std::uint64_t>(std::llround(size)));
  }
  return fmt::format("{:.6g}", figure);
}

}  // namespace tlstrata::report
