#include "load/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/version.h"

namespace tlstrata::load {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

std::unexpected<Complaint> wrong(std::string what, std::string where, std::string remedy) {
  return std::unexpected(Complaint{std::move(what), std::move(where), std::move(remedy), ExitCode::usage});
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").contains(c);
  });
}

bool is_field_value(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F); });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Checked<std::pair<std::string, std::string>> parse_header(const std::string& text) {
  constexpr std::array own{"connection", "content-length", "transfer-encoding", "keep-alive", "upgrade", "te"};
  const auto colon = text.find(':');
  if (colon == std::string::npos || !is_token(std::string_view(text).substr(0, colon))) {
    return wrong("not a header", text, "write --header 'Name: value'");
  }
  std::pair<std::string, std::string> field(text.substr(0, colon), trimmed(std::string_view(text).substr(colon + 1)));
  if (!is_field_value(field.second)) {
    return wrong("a control character in a header", text, "leave it out");
  }
  if (std::ranges::find(own, lower(field.first)) != own.end()) {
    return wrong("a header that load sends itself", text, "leave it out: it follows from --body and --requests");
  }
  return field;
}

std::string authority_of(const Url& url) {
  std::string host = url.host.contains(':') ? "[" + url.host.substr(0, url.host.find('%')) + "]" : url.host;
  return url.port != 443 ? host + fmt::format(":{}", url.port) : host;
}

// Takes out the first field of that name.
std::string take(Fields& fields, std::string_view name, std::string otherwise) {
  const auto found = std::ranges::find_if(fields, [&](const auto& field) { return lower(field.first) == name; });
  if (found == fields.end()) {
    return otherwise;
  }
  std::string value = found->second;
  fields.erase(found);
  return value;
}

}  // namespace

Checked<Request> make_request(const Url& url, const RequestOptions& options) {
  Request request;
  request.method = !options.method.empty() ? options.method : options.has_body ? "POST" : "GET";
  if (!is_token(request.method) || request.method == "CONNECT") {
    return wrong("no method that can be measured", request.method, "give one like GET, HEAD, POST or PUT");
  }
  request.has_no_response_body = request.method == "HEAD";
  request.body = options.body;
  Fields fields;
  for (const std::string& header : options.headers) {
    auto field = parse_header(header);
    if (!field) {
      return std::unexpected(field.error());
    }
    fields.push_back(std::move(*field));
  }
  const std::string host = take(fields, "host", authority_of(url));
  const std::string agent = take(fields, "user-agent", fmt::format("tlstrata/{}", version_string()));
  const std::string accept = take(fields, "accept", "*/*");
  fields.insert(fields.begin(), {{"User-Agent", agent}, {"Accept", accept}});
  if (options.has_body) {
    fields.emplace_back("Content-Length", std::to_string(options.body.size()));
  }
  request.text = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", request.method, url.target, host);
  request.fields = {{":method", request.method}, {":scheme", "https"}, {":authority", host}, {":path", url.target}};
  for (const auto& [name, value] : fields) {
    request.text += name + ": " + value + "\r\n";
    request.fields.emplace_back(lower(name), value);
  }
  request.closing_text = request.text + "Connection: close\r\n\r\n" + options.body;
  request.text += "\r\n" + options.body;
  return request;
}

}  // namespace tlstrata::load
