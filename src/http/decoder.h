// The HTTP version that a connection speaks, and its reader.
//
// In:        select() with the negotiated ALPN where there is one; then as Http1: feed(), hole(), finish(). Without
//            ALPN the client's first bytes decide (HTTP/2's connection preface, RFC 9113 section 3.4).
// Out:       next(): Events.
// Ownership: nothing of an Item is kept.
// Errors:    none (http1.h, http2.h).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "http/http1.h"
#include "http/http2.h"

namespace tlstrata::http {

class Decoder {
 public:
  void select(std::string_view alpn);
  void feed(const tls::Item& item);
  void hole(tls::Role role);
  void finish(bool clean);
  Result<std::optional<Event>> next();
  [[nodiscard]] std::uint64_t needless(tls::Role role) const;
  // As newly made, but with the memory of before.
  void reset();

 private:
  [[nodiscard]] bool undecided() const { return is_http1_ && http2_; }
  void decide(const tls::Item& item);

  // Neither: nothing was read yet. Both: undecided.
  bool is_http1_ = false;
  Http1 http1_;
  std::unique_ptr<Http2> http2_;  // large, and most connections have none
  std::size_t preface_seen_ = 0;  // while undecided: bytes of the client's that are the preface's
};

}  // namespace tlstrata::http
