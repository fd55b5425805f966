#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace tlstrata {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array duration_units{Unit{"ns", 1},  Unit{"us", 1e3}, Unit{"ms", 1e6},
                                    Unit{"s", 1e9}, Unit{"m", 60e9}, Unit{"h", 3600e9}};
constexpr std::array size_units{
    Unit{"", 1},     Unit{"B", 1},        Unit{"KB", 1e3},        Unit{"MB", 1e6},
    Unit{"GB", 1e9}, Unit{"KiB", 1024.0}, Unit{"MiB", 1048576.0}, Unit{"GiB", 1073741824.0}};
constexpr std::array rate_units{Unit{"", 1}, Unit{"/s", 1}, Unit{"k", 1e3}, Unit{"M", 1e6}};

template <std::size_t N>
Result<double> parse_with(std::string_view text, const std::array<Unit, N>& units, const char* what) {
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (status != std::errc{} || !std::isfinite(number) || number < 0 || text.starts_with('-')) {
    return std::unexpected(Error{ErrorCode::malformed, what});
  }
  const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : units) {
    if (unit.name == suffix) {
      return number * unit.factor;
    }
  }
  return std::unexpected(Error{ErrorCode::malformed, what, static_cast<std::uint64_t>(end - text.data())});
}

// 2^62: every integer below it fits a Nanos and a double without surprise.
constexpr double largest = 4.6e18;

}  // namespace

Result<Nanos> parse_duration(std::string_view text) {
  const auto value = parse_with(text, duration_units, "not a duration (like 100us, 5ms, 10s, 5m)");
  if (!value) {
    return std::unexpected(value.error());
  }
  if (*value > largest) {
    return std::unexpected(Error{ErrorCode::limit, "a duration of more than a century"});
  }
  return static_cast<Nanos>(std::llround(*value));
}

Result<std::uint64_t> parse_size(std::string_view text) {
  const auto value = parse_with(text, size_units, "not a size (like 4KiB, 40KiB, 1MB)");
  if (!value) {
    return std::unexpected(value.error());
  }
  if (*value > largest || *value != std::floor(*value)) {
    return std::unexpected(Error{ErrorCode::malformed, "a size is a whole number of bytes"});
  }
  return static_cast<std::uint64_t>(*value);
}

Result<double> parse_rate(std::string_view text) {
  const auto value = parse_with(text, rate_units, "not a rate per second (like 100, 2.5k)");
  if (value && *value <= 0) {
    return std::unexpected(Error{ErrorCode::malformed, "a rate is more than zero"});
  }
  return value;
}

Result<double> parse_share(std::string_view text) {
  constexpr Error wrong{ErrorCode::malformed, "not a share (like 1%, from 0% to 100%)"};
  if (!text.ends_with('%')) {
    return std::unexpected(wrong);
  }
  double percent = 0;
  const char* const end = text.data() + text.size() - 1;
  const auto [stop, status] = std::from_chars(text.data(), end, percent);
  if (status != std::errc{} || stop != end || !(percent >= 0 && percent <= 100)) {
    return std::unexpected(wrong);
  }
  return percent / 100;
}

Result<double> parse_bit_rate(std::string_view text) {
  constexpr Error wrong{ErrorCode::malformed, "not a rate in bits (like 20Mbit, from 1kbit to 100Gbit)"};
  constexpr std::array units{std::pair(std::string_view("kbit"), 1e3), std::pair(std::string_view("Mbit"), 1e6),
                             std::pair(std::string_view("Gbit"), 1e9)};
  for (const auto& [unit, factor] : units) {
    if (!text.ends_with(unit)) {
      continue;
    }
    double value = 0;
    const char* const end = text.data() + text.size() - unit.size();
    const auto [stop, status] = std::from_chars(text.data(), end, value);
    const bool is_rate = status == std::errc{} && stop == end && value * factor >= 1e3 && value * factor <= 1e11;
    return is_rate ? Result<double>(value * factor) : std::unexpected(wrong);
  }
  return std::unexpected(wrong);
}

std::string format_duration(Nanos duration_ns) {
  const double magnitude = std::abs(static_cast<double>(duration_ns));
  double value = static_cast<double>(duration_ns);
  const char* unit = "ns";
  if (magnitude >= 999.5e6) {
    value /= 1e9;
    unit = "s";
  } else if (magnitude >= 999.5e3) {
    value /= 1e6;
    unit = "ms";
  } else if (magnitude >= 1e3) {
    value /= 1e3;
    unit = "us";
  } else {
    return fmt::format("{} ns", duration_ns);
  }
  const double shown = std::abs(value);
  const int decimals = shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

std::string format_size(std::uint64_t bytes) {
  if (bytes >= 1024 && bytes % 1024 == 0) {
    return bytes % (1024 * 1024) == 0 ? fmt::format("{} MiB", bytes / (1024 * 1024))
                                      : fmt::format("{} KiB", bytes / 1024);
  }
  if (bytes >= 1'000'000) {
    return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  }
  if (bytes >= 10'000) {
    return fmt::format("{:.1f} KB", static_cast<double>(bytes) / 1e3);
  }
  return fmt::format("{} B", bytes);
}

}  // namespace tlstrata
