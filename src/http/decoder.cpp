#include "http/decoder.h"

#include <algorithm>

namespace tlstrata::http {

void Decoder::reset() {
  if (is_http1_) {
    http1_.reset();
    is_http1_ = false;
  }
  http2_.reset();
  preface_seen_ = 0;
}

// While it is undecided, each byte may matter.
std::uint64_t Decoder::needless(tls::Role role) const {
  if (undecided()) {
    return 0;
  }
  return is_http1_ ? http1_.needless(role) : http2_ ? http2_->needless(role) : 0;
}

void Decoder::select(std::string_view alpn) {
  if (is_http1_ || http2_) {
    return;
  }
  if (alpn == "h2") {
    http2_ = std::make_unique<Http2>();
  } else if (!alpn.empty()) {
    is_http1_ = true;  // anything else than HTTP/1 will say so itself
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
    is_http1_ = false;
  }
}

void Decoder::feed(const tls::Item& item) {
  if (!is_http1_ && !http2_) {
    is_http1_ = true;
    http2_ = std::make_unique<Http2>();
  }
  if (undecided()) {
    decide(item);
  }
  if (is_http1_) {
    http1_.feed(item);
  }
  if (http2_) {
    http2_->feed(item);
  }
}

void Decoder::hole(tls::Role role) {
  if (is_http1_) {
    http1_.hole(role);
  }
  if (http2_) {
    http2_->hole(role);
  }
}

void Decoder::finish(bool clean) {
  if (undecided()) {
    http2_.reset();
  }
  if (is_http1_) {
    http1_.finish(clean);
  }
}

Result<std::optional<Event>> Decoder::next() {
  if (undecided()) {
    return std::optional<Event>{};
  }
  return is_http1_ ? http1_.next() : http2_ ? http2_->next() : std::optional<Event>{};
}

}  // namespace tlstrata::http
