// One connection from its SYN-ACK to its end: TLS 1.3 handshake, requests one after the other, an orderly close.
//
//   connecting -> [sending_early ->] handshaking -> sending -> receiving -> closing_tls -> closing_tcp -> idle
//        |               |               |            |  ^--next--'|
//        +---------------+---------------+------------+------------+--any failure, time-out or cancel--> idle
//
// A transaction's outcome is decided when its `receiving` ends or at the first failure, which leaves the connection's
// further ones not_started; closing only sees to it that the server closes first. Where its close_notify and its FIN come
// together no close_notify is sent in answer: nobody would read it, and it would draw a reset.
//
// In:        a Plan, one TLS context, the socket's readiness (edge-triggered: each call goes on until it would block).
// Out:       the records, in place; failure() in words.
// Ownership: owns socket and TLS connection, not the records; an object is used for one connection after the other.
// Errors:    are outcomes.
// Units:     nanoseconds of CLOCK_MONOTONIC.
// Threads:   one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "io/unique_fd.h"
#include "load/dial.h"
#include "load/exchange.h"
#include "load/plan.h"
#include "load/record.h"
#include "load/split_meter.h"
#include "ossl/client.h"

namespace tlstrata::load {

class Connection {
 public:
  // Takes over a connection whose SYN was sent (load/dial.h). Where there was no descriptor or port the outcome is
  // not_started and no socket is open. `records`, one a request, are written until the connection is closed.
  void start(const Plan& plan, const ossl::ClientContext& context, std::span<Record> records, Dialled dialled);
  // The socket may have become readable or writable; `woken_ns` is when epoll said so.
  void proceed(std::span<std::uint8_t> scratch, Nanos woken_ns);
  // The deadline has come.
  void expire();
  void cancel();

  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] bool is_open() const { return static_cast<bool>(socket_); }
  [[nodiscard]] std::span<const Record> decided() const { return records_.first(decided_); }  // their outcomes stand
  [[nodiscard]] Nanos deadline_ns() const { return deadline_ns_; }
  [[nodiscard]] const std::string& failure() const { return failure_; }  // empty: none

 private:
  enum class State : std::uint8_t {
    idle,
    connecting,
    sending_early,
    handshaking,
    sending,
    receiving,
    closing_tls,
    closing_tcp
  };

  Record& record() { return records_[current_]; }
  bool connect_done();
  bool send_early();
  bool handshake();
  bool begin_http();
  bool send();
  bool receive(std::span<std::uint8_t> scratch);
  bool response_done(bool stream_ended);
  bool next_request();
  bool close_tls(std::span<std::uint8_t> scratch);
  bool close_tcp(std::span<std::uint8_t> scratch);
  bool flush();
  void enter(State state, Nanos time_ns);
  void decide(Outcome outcome, std::string failure);
  void fail(Outcome outcome, std::string failure);
  void fail_connect(int error);
  void fail_tls();
  void shut();

  const Plan* plan_ = nullptr;
  const ossl::ClientContext* context_ = nullptr;
  io::UniqueFd socket_;
  std::optional<ossl::ClientConnection> tls_;
  Exchange exchange_;
  SplitMeter meter_;
  State state_ = State::idle;
  Nanos deadline_ns_ = 0;
  Nanos woken_ns_ = 0;  // epoll's last word on this connection
  std::span<Record> records_;
  std::size_t current_ = 0;  // of the records
  std::size_t decided_ = 0;
  bool close_notify_sent_ = false;
  std::string failure_;
};

}  // namespace tlstrata::load
