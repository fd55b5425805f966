#include "serve/response_head.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "serve/http_text.h"
#include "serve/request.h"

namespace tlstrata::serve {
namespace {

// A number that is all of `text`.
template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size() ? std::optional(value)
                                                                                              : std::nullopt;
}

// False: a field that breaks the rules, or a body that is not relayed.
bool read_field(std::string_view line, ResponseHead& head) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    return false;
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (same_name(name, "content-length")) {
    const auto length = number_of<std::uint64_t>(value);
    const bool agrees = length && (!head.body_bytes || *head.body_bytes == *length);
    head.body_bytes = length;
    return agrees;
  }
  if (same_name(name, "connection")) {
    head.keep_alive = same_name(value, "keep-alive") || (head.keep_alive && !same_name(value, "close"));
  }
  return !same_name(name, "transfer-encoding");
}

bool is_of_connection(std::string_view name) {
  constexpr std::string_view names[] = {"connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade"};
  return std::ranges::any_of(names, [name](std::string_view other) { return same_name(name, other); });
}

bool is_of_body(std::string_view name) {
  return same_name(name, "content-length") || same_name(name, "transfer-encoding") || same_name(name, "expect");
}

}  // namespace

std::expected<std::optional<ResponseHead>, BadResponse> parse_response(std::string_view received,
                                                                       std::size_t& scanned) {
  const std::size_t head_bytes = end_of_head(received, scanned);
  if (head_bytes == std::string_view::npos) {
    if (received.size() >= largest_head) {
      return std::unexpected(BadResponse{});
    }
    return std::nullopt;
  }
  std::string_view rest = received.substr(0, head_bytes);
  const std::string_view line = take_line(rest);
  // "HTTP/1.1 200 OK"
  const auto status = line.size() >= 12 && line.starts_with("HTTP/1.") && line[8] == ' '
                          ? number_of<std::uint16_t>(line.substr(9, 3))
                          : std::nullopt;
  if (!status || *status < 100) {
    return std::unexpected(BadResponse{});
  }
  ResponseHead head;
  head.head_bytes = head_bytes;
  head.status = *status;
  head.keep_alive = line.starts_with("HTTP/1.1");
  for (std::string_view field = take_line(rest); !field.empty(); field = take_line(rest)) {
    if (!read_field(field, head)) {
      return std::unexpected(BadResponse{});
    }
  }
  if (head.status < 200 || head.status == 204 || head.status == 304) {
    head.body_bytes = 0;
  }
  head.keep_alive = head.keep_alive && head.body_bytes.has_value();
  return head;
}

std::string forwarded_fields(std::string_view head, bool with_body) {
  std::string fields;
  (void)take_line(head);
  for (std::string_view field = take_line(head); !field.empty(); field = take_line(head)) {
    const std::string_view name = field.substr(0, field.find(':'));
    if (!is_of_connection(name) && (with_body || !is_of_body(name))) {
      fields.append(field);
      fields += "\r\n";
    }
  }
  return fields;
}

}  // namespace tlstrata::serve
