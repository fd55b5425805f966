// Figures as people read them: the same digits in every format.
//
// In:      nanoseconds as double, ratios, counts.
// Out:     plain ASCII except for the unit's name, which each exporter spells its own way.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "report/summary.h"

namespace tlstrata::report {

enum class TimeUnit : std::uint8_t { nanosecond, microsecond, millisecond, second };

// One unit and one number of decimals for figures that are compared with each other.
struct Scale {
  TimeUnit unit = TimeUnit::microsecond;
  int decimals = 0;
};
// For figures whose largest is `largest_ns`: three significant digits of it at least.
Scale scale_for(double largest_ns);
// Of the medians of a measure in all cells.
Scale scale_of(const Summary& summary, std::size_t measure);

std::string_view unit_name(TimeUnit unit);  // "us"
double in_unit(double ns, TimeUnit unit);

std::string scaled(double ns, const Scale& scale);         // "312.4", "1,749"
std::string scaled_signed(double ns, const Scale& scale);  // "+12.1", "-0.3", "0.0"
std::string with_unit(double ns);                          // "1.72 ms": three significant digits
std::string with_unit_signed(double ns);                   // "+41.2 us"

std::string ratio(double value);           // "1.06", "12.3", "123"
std::string delta(double value);           // "-0.04", "7.71"
std::string percent(double share);         // 0.123 as "12.3 %", signed where negative
std::string p_value(double p);             // "0.012", "< 0.001"
std::string grouped(std::uint64_t count);  // "5,998"
std::string bytes(double count);           // "1,551", "1,551.5"

// "1.06 to 1.08": both ends formatted alike.
std::string range(const Interval& interval, std::string (*format)(double));
// "131 to 203 us", "-0.8 to 0.9 us": one unit for both ends.
std::string range_with_unit(const Interval& interval);

}  // namespace tlstrata::report
