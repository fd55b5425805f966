#include "analyze/selection.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/ascii.h"
#include "tcp/address.h"

namespace tlstrata::analyze {
namespace {

bool is_server(const strata::Connection& connection, const std::string& wanted) {
  const std::string endpoint = tcp::to_string(connection.server);
  const std::string port = ":" + std::to_string(connection.server.port);
  std::string address = endpoint.substr(0, endpoint.size() - port.size());
  if (address.starts_with('[')) {
    address = address.substr(1, address.size() - 2);
  }
  return wanted == endpoint || wanted == port || wanted == address || same_name(wanted, connection.server_name);
}

// Up to nine digits behind the point, as nanoseconds.
std::optional<Nanos> parse_fraction(std::string_view digits) {
  if (digits.empty() || digits.size() > 9) {
    return std::nullopt;
  }
  Nanos value = 0;
  for (std::size_t i = 0; i < 9; ++i) {
    const char digit = i < digits.size() ? digits[i] : '0';
    if (digit < '0' || digit > '9') {
      return std::nullopt;
    }
    value = value * 10 + (digit - '0');
  }
  return value;
}

template <typename Integer>
bool read_number(std::string_view text, Integer& value) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc{} && end == text.data() + text.size();
}

// Whole seconds of "YYYY-MM-DDTHH:MM:SS".
std::optional<Nanos> parse_calendar(std::string_view text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  const bool shaped = text.size() == 19 && text[4] == '-' && text[7] == '-' && (text[10] == 'T' || text[10] == ' ') &&
                      text[13] == ':' && text[16] == ':';
  if (!shaped || !read_number(text.substr(0, 4), year) || !read_number(text.substr(5, 2), month) ||
      !read_number(text.substr(8, 2), day) || !read_number(text.substr(11, 2), hour) ||
      !read_number(text.substr(14, 2), minute) || !read_number(text.substr(17, 2), second)) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60 || year < 1970 || year > 2200) {
    return std::nullopt;
  }
  const Nanos days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

}  // namespace

bool Selection::wants(const strata::Transaction& row) const {
  const Nanos start_ns = row.connection.start_ns;
  if ((since_ns && start_ns < *since_ns) || (until_ns && start_ns >= *until_ns)) {
    return false;
  }
  return servers.empty() ||
         std::ranges::any_of(servers, [&row](const std::string& wanted) { return is_server(row.connection, wanted); });
}

Checked<Nanos> parse_time(std::string_view text) {
  const Complaint complaint{"not a time", std::string(text),
                            "write it as 2026-11-30T19:08:45Z or as seconds of the Unix epoch", ExitCode::usage};
  std::string_view rest = text;
  const bool utc = rest.ends_with('Z');
  if (utc) {
    rest.remove_suffix(1);
  }
  const std::size_t point = rest.find('.');
  Nanos fraction_ns = 0;
  if (point != std::string_view::npos) {
    const auto fraction = parse_fraction(rest.substr(point + 1));
    if (!fraction) {
      return std::unexpected(complaint);
    }
    fraction_ns = *fraction;
    rest = rest.substr(0, point);
  }
  Nanos seconds = 0;
  if (const auto calendar = utc ? parse_calendar(rest) : std::nullopt) {
    seconds = *calendar;
  } else if (utc || !read_number(rest, seconds) || seconds < 0 || seconds > 9'000'000'000) {
    return std::unexpected(complaint);
  }
  return seconds * nanos_per_second + fraction_ns;
}

}  // namespace tlstrata::analyze
