// HTTP on one connection, one request after the other: bytes out, bytes in, and where each response begins and ends.
//
//   begin() -> ask() -> outgoing()/sent() -> feed() ... is_complete() -> ask() -> ... -> leave()
//
// In:        the Request, plaintext in pieces of any size. Hostile.
// Out:       bytes to send; status and end of the response that is awaited.
// Ownership: holds bytes that wait to be sent; the Request must outlive it.
// Errors:    malformed, limit; then only begin() may follow.
// Threads:   one.
// Source:    RFC 9112; RFC 9113, by nghttp2 (framing, flow control and HPACK are its).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "load/plan.h"
#include "load/response.h"

struct nghttp2_session;

namespace tlstrata::load {

class Exchange {
 public:
  Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  // For a new connection.
  [[nodiscard]] Result<void> begin(Protocol protocol, const Request& request);
  // Queues the request; `is_last`: nothing will be asked after it.
  [[nodiscard]] Result<void> ask(bool is_last);
  // Says good-bye where the protocol has a word for it.
  void leave();

  [[nodiscard]] std::span<const std::uint8_t> outgoing() const;
  void sent(std::size_t size) { sent_ += size; }

  [[nodiscard]] Result<void> feed(std::span<const std::uint8_t> bytes);
  // The stream was ended in the orderly way; true where that completes the response.
  [[nodiscard]] bool end_of_stream();

  [[nodiscard]] std::uint16_t status() const;  // final, 1xx are passed over; 0: not yet
  [[nodiscard]] bool is_complete() const;
  [[nodiscard]] bool can_ask_again() const;  // the server has not said that it will close

 private:
  struct Http2;

  const Request* request_ = nullptr;
  Protocol protocol_ = Protocol::http1;
  ResponseReader http1_;
  std::unique_ptr<Http2> http2_;
  std::string out_;
  std::size_t sent_ = 0;  // of out_
};

}  // namespace tlstrata::load
