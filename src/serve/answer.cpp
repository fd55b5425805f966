#include "serve/answer.h"

#include <fmt/format.h>

#include <array>
#include <ctime>

#include "io/clock.h"

namespace tlstrata::serve {
namespace {

std::string_view phrase(std::uint16_t status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 414:
      return "URI Too Long";
    case 431:
      return "Request Header Fields Too Large";
    case 502:
      return "Bad Gateway";
    case 504:
      return "Gateway Timeout";
    case 501:
      return "Not Implemented";
    default:
      return "HTTP Version Not Supported";
  }
}

}  // namespace

std::string_view DateField::at(Nanos realtime_ns) {
  const std::int64_t second = realtime_ns / nanos_per_second;
  if (second != second_) {
    second_ = second;
    constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::time_t time = second;
    std::tm utc{};
    (void)::gmtime_r(&time, &utc);
    text_ = fmt::format("Date: {}, {:02} {} {} {:02}:{:02}:{:02} GMT\r\n", days[static_cast<std::size_t>(utc.tm_wday)],
                        utc.tm_mday, months[static_cast<std::size_t>(utc.tm_mon)], utc.tm_year + 1900, utc.tm_hour,
                        utc.tm_min, utc.tm_sec);
  }
  return text_;
}

std::string answer_head(const Answer& answer, DateField& date) {
  const std::string_view connection = !answer.keep_alive   ? "Connection: close\r\n"
                                      : answer.is_http_1_0 ? "Connection: keep-alive\r\n"
                                                           : "";
  return fmt::format("HTTP/1.1 {} {}\r\nServer: tlstrata\r\n{}{}Content-Length: {}\r\n{}{}\r\n", answer.status,
                     phrase(answer.status), date.at(io::realtime_ns()),
                     answer.has_type ? "Content-Type: application/octet-stream\r\n" : "", answer.body_bytes,
                     answer.status == 405 ? "Allow: GET, HEAD\r\n" : "", connection);
}

}  // namespace tlstrata::serve
