#include "serve/request.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/units.h"
#include "serve/http_text.h"

namespace tlstrata::serve {
namespace {

constexpr std::uint64_t largest_body = std::uint64_t{1} << 40U;  // 1 TiB
constexpr Nanos longest_delay_ns = 60 * nanos_per_second;

// What the header fields say that matters here.
struct Fields {
  bool has_host = false;
  bool close = false;
  bool keep_alive = false;
  bool chunked = false;  // any Transfer-Encoding
  std::optional<std::uint64_t> content_length;
};

bool read_connection(std::string_view value, Fields& fields) {
  while (!value.empty()) {
    const auto comma = value.find(',');
    const std::string_view option = trimmed(value.substr(0, comma));
    fields.close = fields.close || same_name(option, "close");
    fields.keep_alive = fields.keep_alive || same_name(option, "keep-alive");
    value.remove_prefix(comma == std::string_view::npos ? value.size() : comma + 1);
  }
  return true;
}

bool read_length(std::string_view value, Fields& fields) {
  std::uint64_t length = 0;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), length);
  if (value.empty() || parsed.ec != std::errc{} || parsed.ptr != value.data() + value.size() ||
      (fields.content_length && *fields.content_length != length)) {
    return false;
  }
  fields.content_length = length;
  return true;
}

// False: the line breaks the rules, or says what no honest sender says.
bool read_field(std::string_view line, Fields& fields) {
  const auto colon = line.find(':');
  // A leading blank would be a folded line (obs-fold), which RFC 9112 section 5.2 has a server refuse.
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    return false;
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (std::ranges::any_of(value, [](char c) { return c == '\r' || c == '\0'; })) {
    return false;
  }
  if (same_name(name, "host")) {
    const bool is_first = !fields.has_host;
    fields.has_host = true;
    return is_first;
  }
  if (same_name(name, "connection")) {
    return read_connection(value, fields);
  }
  if (same_name(name, "content-length")) {
    return read_length(value, fields);
  }
  fields.chunked = fields.chunked || same_name(name, "transfer-encoding");
  return true;
}

// The path of an absolute-form target ("http://host/4KiB"), or the target itself.
std::string_view path_of(std::string_view target) {
  const auto scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) {
    return target;
  }
  const auto slash = target.find('/', scheme + 3);
  return slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
}

}  // namespace

std::optional<std::uint64_t> size_of_path(std::string_view target) {
  std::string_view path = path_of(target);
  path = path.substr(0, path.find_first_of("?#"));
  if (!path.starts_with('/')) {
    return std::nullopt;
  }
  const auto size = parse_size(path.substr(1));
  return size && *size <= largest_body ? std::optional(*size) : std::nullopt;
}

std::optional<Nanos> delay_of(std::string_view target) {
  constexpr std::string_view name = "delay=";
  const auto question = target.find('?');
  std::string_view query = question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
  query = query.substr(0, query.find('#'));
  while (!query.empty()) {
    const std::string_view parameter = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), parameter.size() + 1));
    if (parameter.starts_with(name)) {
      const auto delay = parse_duration(parameter.substr(name.size()));
      return delay && *delay <= longest_delay_ns ? std::optional(*delay) : std::nullopt;
    }
  }
  return 0;
}

std::expected<std::optional<Request>, Refusal> parse_request(std::string_view received, std::size_t& scanned) {
  const auto refuse = [](std::uint16_t status) { return std::unexpected(Refusal{status}); };
  const std::size_t head_bytes = end_of_head(received, scanned);
  if (head_bytes == std::string_view::npos ? received.size() >= largest_head : head_bytes > largest_head) {
    return refuse(received.find('\n') == std::string_view::npos ? 414 : 431);
  }
  if (head_bytes == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view head = received.substr(0, head_bytes);
  const std::string_view line = take_line(head);
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return refuse(400);
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(method) || target.empty() || target.contains(' ') || !version.starts_with("HTTP/")) {
    return refuse(400);
  }
  Request request;
  request.head_bytes = head_bytes;
  request.is_http_1_0 = version == "HTTP/1.0";
  if (!request.is_http_1_0 && version != "HTTP/1.1") {
    return refuse(505);
  }
  Fields fields;
  while (head.size() > 2 || (!head.empty() && head.front() != '\r' && head.front() != '\n')) {
    if (!read_field(take_line(head), fields)) {
      return refuse(400);
    }
  }
  // Length and coding at once is how requests are smuggled: RFC 9112 section 6.1.
  if ((!request.is_http_1_0 && !fields.has_host) || (fields.chunked && fields.content_length)) {
    return refuse(400);
  }
  request.head_only = method == "HEAD";
  if (method != "GET" && !request.head_only) {
    const bool known = method == "POST" || method == "PUT" || method == "DELETE" || method == "OPTIONS" ||
                       method == "TRACE" || method == "CONNECT" || method == "PATCH";
    return refuse(known ? 405 : 501);
  }
  // A request's own body is not read: its answer is the connection's last.
  const bool has_body = fields.chunked || fields.content_length.value_or(0) != 0;
  request.keep_alive = !fields.close && !has_body && (!request.is_http_1_0 || fields.keep_alive);
  const std::optional<Nanos> delay = delay_of(target);
  request.delay_ns = delay.value_or(0);
  request.body_bytes = delay ? size_of_path(target) : std::nullopt;
  return request;
}

}  // namespace tlstrata::serve
