// One connection from its SYN to its end: TCP, TLS 1.3 handshake, one GET, the response, an orderly close.
//
//   connecting -> handshaking -> sending -> receiving -> closing -> idle
//        |             |            |           |
//        +-------------+------------+-----------+--any failure, time-out or cancel--> idle
//
// The outcome is decided when `receiving` ends or at the first failure; `closing` only sees to it that the server closes
// first. Where its close_notify and its FIN come together no close_notify is sent in answer: nobody would read it, and
// it would draw a reset.
//
// In:        a Plan, one TLS context, the socket's readiness (edge-triggered: each call goes on until it would block).
// Out:       record(), and failure() in words.
// Ownership: owns socket and TLS connection; an object is used for one transaction after the other.
// Errors:    are outcomes.
// Units:     nanoseconds of CLOCK_MONOTONIC.
// Threads:   one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "io/unique_fd.h"
#include "load/plan.h"
#include "load/record.h"
#include "load/response.h"
#include "ossl/client.h"

namespace tlstrata::load {

class Transaction {
 public:
  // Makes the socket and sends the SYN. `local` may be null. Without a descriptor or a port the outcome is not_started
  // and no socket is open.
  void start(const Plan& plan, const ossl::ClientContext& context, const io::Address* local, const Record& planned);
  // The socket may have become readable or writable.
  void proceed(std::span<std::uint8_t> scratch);
  // The deadline has come.
  void expire();
  void cancel();

  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] bool is_open() const { return static_cast<bool>(socket_); }
  [[nodiscard]] bool is_decided() const { return decided_; }  // the record's outcome stands
  [[nodiscard]] Nanos deadline_ns() const { return deadline_ns_; }
  [[nodiscard]] const Record& record() const { return record_; }
  [[nodiscard]] const std::string& failure() const { return failure_; }  // empty: none

 private:
  enum class State : std::uint8_t { idle, connecting, handshaking, sending, receiving, closing_tls, closing_tcp };

  bool connect_done();
  bool handshake();
  bool send();
  bool receive(std::span<std::uint8_t> scratch);
  bool close_tls(std::span<std::uint8_t> scratch);
  bool close_tcp(std::span<std::uint8_t> scratch);
  void enter(State state, Instant reached, Nanos time_ns);
  void decide(Outcome outcome, std::string failure);
  void fail(Outcome outcome, std::string failure);
  void fail_connect(int error);
  void fail_tls();
  void shut();

  const Plan* plan_ = nullptr;
  const ossl::ClientContext* context_ = nullptr;
  io::UniqueFd socket_;
  std::optional<ossl::ClientConnection> tls_;
  ResponseReader response_;
  State state_ = State::idle;
  Nanos deadline_ns_ = 0;
  Record record_;
  bool decided_ = false;
  bool close_notify_sent_ = false;
  std::string failure_;
};

}  // namespace tlstrata::load
