#include "http/decoder.h"

#include <algorithm>

namespace tlstrata::http {

void Decoder::select(std::string_view alpn) {
  if (!std::holds_alternative<std::monostate>(protocol_)) {
    return;
  }
  if (alpn == "h2") {
    protocol_.emplace<Http2>();
  } else if (!alpn.empty()) {
    protocol_.emplace<Http1>();  // anything else than HTTP/1 will say so itself
  }
}

void Decoder::feed(const tls::Item& item) {
  if (std::holds_alternative<std::monostate>(protocol_)) {
    const auto preface = Http2::preface().substr(0, item.plaintext.size());
    const bool is_http2 = item.role == tls::Role::client && !preface.empty() &&
                          std::ranges::equal(preface, item.plaintext.first(preface.size()));
    if (is_http2) {
      protocol_.emplace<Http2>();
    } else {
      protocol_.emplace<Http1>();
    }
  }
  std::visit(
      [&item](auto& protocol) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(protocol)>, std::monostate>) {
          protocol.feed(item);
        }
      },
      protocol_);
}

void Decoder::hole(tls::Role role) {
  if (auto* http1 = std::get_if<Http1>(&protocol_)) {
    http1->hole(role);
  } else if (auto* http2 = std::get_if<Http2>(&protocol_)) {
    http2->hole(role);
  }
}

void Decoder::finish(bool clean) {
  if (auto* http1 = std::get_if<Http1>(&protocol_)) {
    http1->finish(clean);
  }
}

Result<std::optional<Event>> Decoder::next() {
  if (auto* http1 = std::get_if<Http1>(&protocol_)) {
    return http1->next();
  }
  if (auto* http2 = std::get_if<Http2>(&protocol_)) {
    return http2->next();
  }
  return std::optional<Event>{};
}

}  // namespace tlstrata::http
