#include "http/decoder.h"

#include <algorithm>

namespace tlstrata::http {

void Decoder::select(std::string_view alpn) {
  if (http1_ || http2_) {
    return;
  }
  if (alpn == "h2") {
    http2_.emplace();
  } else if (!alpn.empty()) {
    http1_.emplace();  // anything else than HTTP/1 will say so itself
  }
}

void Decoder::decide(const tls::Item& item) {
  if (item.role != tls::Role::client) {
    return;
  }
  const auto expected = Http2::preface().substr(preface_seen_, item.plaintext.size());
  if (!std::ranges::equal(expected, item.plaintext.first(expected.size()))) {
    http2_.reset();
    return;
  }
  preface_seen_ += expected.size();
  if (preface_seen_ == Http2::preface().size()) {
    http1_.reset();
  }
}

void Decoder::feed(const tls::Item& item) {
  if (!http1_ && !http2_) {
    http1_.emplace();
    http2_.emplace();
  }
  if (undecided()) {
    decide(item);
  }
  if (http1_) {
    http1_->feed(item);
  }
  if (http2_) {
    http2_->feed(item);
  }
}

void Decoder::hole(tls::Role role) {
  if (http1_) {
    http1_->hole(role);
  }
  if (http2_) {
    http2_->hole(role);
  }
}

void Decoder::finish(bool clean) {
  if (undecided()) {
    http2_.reset();
  }
  if (http1_) {
    http1_->finish(clean);
  }
}

Result<std::optional<Event>> Decoder::next() {
  if (undecided()) {
    return std::optional<Event>{};
  }
  return http1_ ? http1_->next() : http2_ ? http2_->next() : std::optional<Event>{};
}

}  // namespace tlstrata::http
