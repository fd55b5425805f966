#include "report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"

namespace tlstrata::report {
namespace {

constexpr std::array<std::string_view, 4> unit_names{"ns", "us", "ms", "s"};
constexpr std::array<double, 4> unit_factors{1, 1e3, 1e6, 1e9};

// Without "-0.0", which a small negative figure would round to.
std::string fixed(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const bool is_zero = text.find_first_of("123456789") == std::string::npos;
  return is_zero && text.front() == '-' ? text.substr(1) : text;
}

// With commas between thousands of the integer part.
std::string with_commas(std::string text) {
  const std::size_t begin = text.front() == '-' ? 1 : 0;
  for (std::size_t place = std::min(text.find('.'), text.size()); place > begin + 3; place -= 3) {
    text.insert(place - 3, ",");
  }
  return text;
}

std::string with_sign(std::string text) {
  const bool positive = text.front() != '-' && text.find_first_of("123456789") != std::string::npos;
  return positive ? "+" + text : text;
}

}  // namespace

Scale scale_for(double largest_ns) {
  const double largest = std::abs(largest_ns);
  // Microseconds as long as they are readable: the layers of one table should not need a change of unit.
  const TimeUnit unit = largest < 1e3    ? TimeUnit::nanosecond
                        : largest < 10e6 ? TimeUnit::microsecond
                        : largest < 10e9 ? TimeUnit::millisecond
                                         : TimeUnit::second;
  const double shown = in_unit(largest, unit);
  const int decimals = unit == TimeUnit::nanosecond || shown >= 1000 ? 0 : shown >= 100 ? 1 : 2;
  return {unit, decimals};
}

Scale scale_of(const Summary& summary, std::size_t measure) {
  double largest = 0;
  for (const CellSummary& cell : summary.cells) {
    if (cell.main() != nullptr && cell.main()->measures[measure].n > 0) {
      largest = std::max(largest, cell.main()->measures[measure].p50.value);
    }
  }
  return scale_for(largest);
}

std::string_view unit_name(TimeUnit unit) {
  return unit_names[static_cast<std::size_t>(unit)];
}

double in_unit(double ns, TimeUnit unit) {
  return ns / unit_factors[static_cast<std::size_t>(unit)];
}

std::string scaled(double ns, const Scale& scale) {
  return with_commas(fixed(in_unit(ns, scale.unit), scale.decimals));
}

std::string scaled_signed(double ns, const Scale& scale) {
  return with_sign(scaled(ns, scale));
}

std::string with_unit(double ns) {
  return format_duration(static_cast<Nanos>(std::llround(ns)));
}

std::string with_unit_signed(double ns) {
  return with_sign(with_unit(ns));
}

std::string ratio(double value) {
  const double size = std::abs(value);
  return fixed(value, size >= 99.5 ? 0 : size >= 9.95 ? 1 : 2);
}

std::string delta(double value) {
  return fixed(value, std::abs(value) >= 99.5 ? 0 : 2);
}

std::string percent(double share) {
  return fixed(100 * share, 1) + " %";
}

std::string p_value(double p) {
  return p < 0.001 ? "< 0.001" : fixed(p, 3);
}

std::string grouped(std::uint64_t count) {
  return with_commas(std::to_string(count));
}

std::string bytes(double count) {
  const double whole = std::floor(count);
  const std::string text = grouped(static_cast<std::uint64_t>(std::max(0.0, whole)));
  return count == whole ? text : text + fixed(count - whole, 1).substr(1);
}

std::string range(const Interval& interval, std::string (*format)(double)) {
  return format(interval.low) + " to " + format(interval.high);
}

std::string range_with_unit(const Interval& interval) {
  const double largest = std::max(std::abs(interval.low), std::abs(interval.high));
  const std::string example = with_unit(largest);
  const std::string_view name = std::string_view(example).substr(example.rfind(' ') + 1);
  const auto unit = static_cast<TimeUnit>(std::find(unit_names.begin(), unit_names.end(), name) - unit_names.begin());
  const double shown = in_unit(largest, unit);
  const Scale scale{unit, unit == TimeUnit::nanosecond || shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2};
  return fmt::format("{} to {} {}", scaled(interval.low, scale), scaled(interval.high, scale), name);
}

}  // namespace tlstrata::report
