#include "load/connection.h"

#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "io/clock.h"
#include "ossl/error.h"

namespace tlstrata::load {
namespace {

// For the server to close after its response; then the client does.
constexpr Nanos close_timeout_ns = nanos_per_second;

std::string words(int error) {
  return std::generic_category().message(error);
}

}  // namespace

void Connection::start(const Plan& plan, const ossl::ClientContext& context, std::span<Record> records,
                       Dialled dialled) {
  plan_ = &plan;
  context_ = &context;
  records_ = records;
  current_ = 0;
  decided_ = 0;
  close_notify_sent_ = false;
  failure_.clear();
  socket_ = std::move(dialled.socket);
  enter(State::connecting, dialled.began_ns);
  switch (dialled.failed) {
    case Dialled::Failed::nothing:
      return;
    case Dialled::Failed::socket:
      fail(Outcome::not_started, "no descriptor: " + words(dialled.error));
      return;
    case Dialled::Failed::bind:
      fail(Outcome::not_started, "no local address: " + words(dialled.error));
      return;
    case Dialled::Failed::connect:
      fail_connect(dialled.error);
      return;
  }
}

void Connection::enter(State state, Nanos time_ns) {
  state_ = state;
  switch (state) {
    case State::connecting:
      deadline_ns_ = time_ns + plan_->timeouts.connect_ns;
      break;
    case State::handshaking:
    case State::sending_early:
      deadline_ns_ = time_ns + plan_->timeouts.handshake_ns;
      break;
    case State::sending:
      deadline_ns_ = time_ns + plan_->timeouts.response_ns;
      break;
    case State::closing_tls:
    case State::closing_tcp:
      deadline_ns_ = time_ns + close_timeout_ns;
      break;
    default:
      break;  // the phase's deadline goes on
  }
}

void Connection::proceed(std::span<std::uint8_t> scratch, Nanos woken_ns) {
  woken_ns_ = woken_ns;
  bool going_on = true;
  if (state_ == State::handshaking || state_ == State::sending_early) {
    meter_.turn_begins(woken_ns);
  }
  while (going_on) {
    switch (state_) {
      case State::idle:
        return;
      case State::connecting:
        going_on = connect_done();
        break;
      case State::sending_early:
        going_on = send_early();
        break;
      case State::handshaking:
        going_on = handshake();
        break;
      case State::sending:
        going_on = send();
        break;
      case State::receiving:
        going_on = receive(scratch);
        break;
      case State::closing_tls:
        going_on = close_tls(scratch);
        break;
      case State::closing_tcp:
        going_on = close_tcp(scratch);
        break;
    }
  }
}

bool Connection::connect_done() {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
    error = errno;
  }
  if (error != 0) {
    fail_connect(error);
    return false;
  }
  const Nanos now = io::monotonic_ns();
  record().mark(Instant::woken, woken_ns_);
  record().mark(Instant::connected, now);
  meter_.connected(plan_->split, woken_ns_, now);
  enter(State::handshaking, now);
  auto tls = ossl::ClientConnection::start(*context_, socket_.get(), {record().resume_asked, plan_->split, now});
  if (!tls) {
    fail(Outcome::handshake_incomplete, ossl::reason(tls.error().number));
    return false;
  }
  tls_.emplace(std::move(*tls));
  record().ticket_offered = tls_->offers_ticket();
  auto begun = exchange_.begin(plan_->protocol, plan_->request);
  if (begun) {
    begun = exchange_.ask(records_.size() == 1);
  }
  if (!begun) {
    fail(Outcome::handshake_incomplete, begun.error().what);
    return false;
  }
  if (plan_->early_data && tls_->may_send_early(exchange_.outgoing().size())) {
    enter(State::sending_early, now);
  }
  plan_->injector.at(InjectionPlace::before_hello, record());
  return true;
}

bool Connection::send_early() {
  const ossl::Step step = tls_->write_early(exchange_.outgoing());
  record().mark(Instant::hello, tls_->io().hello_began_ns);
  if (step == ossl::Step::failed || step == ossl::Step::closed) {
    fail_tls();
    return false;
  }
  if (step != ossl::Step::done) {
    return false;
  }
  record().mark(Instant::request, tls_->io().write_began_ns);
  record().mark(Instant::sent, io::monotonic_ns());
  state_ = State::handshaking;  // its deadline goes on
  return true;
}

bool Connection::handshake() {
  const Injector::Scope scope(plan_->injector, record());
  const ossl::Step step = tls_->handshake();
  record().mark(Instant::hello, tls_->io().hello_began_ns);
  meter_.turn_ends(*tls_);
  if (step == ossl::Step::failed) {
    fail_tls();
    return false;
  }
  if (step != ossl::Step::done) {
    return false;
  }
  const Nanos now = io::monotonic_ns();
  record().mark(Instant::finished, tls_->io().write_began_ns);
  record().mark(Instant::handshaken, now);
  meter_.finish(*tls_, record());
  record().group = tls_->group();
  record().resumed = tls_->is_resumed();
  record().early_data = tls_->early_data_taken();
  enter(State::sending, now);
  if (plan_->protocol == Protocol::http2 && tls_->alpn() != "h2") {
    fail(Outcome::no_request, "the server does not speak h2");
    return false;
  }
  if (record().early_data) {
    exchange_.sent(exchange_.outgoing().size());
    state_ = State::receiving;
  } else {
    record().mark(Instant::request, 0);
    record().mark(Instant::sent, 0);
    plan_->injector.at(InjectionPlace::before_request, record());
  }
  return true;
}

// What waits to be sent; false: not all of it could be.
bool Connection::flush() {
  const auto bytes = exchange_.outgoing();
  if (bytes.empty()) {
    return true;
  }
  const ossl::Step step = tls_->write(bytes);
  if (step == ossl::Step::failed || step == ossl::Step::closed) {
    fail_tls();
    return false;
  }
  if (step != ossl::Step::done) {
    return false;
  }
  exchange_.sent(bytes.size());
  return true;
}

bool Connection::send() {
  if (!flush()) {
    return false;
  }
  record().mark(Instant::request, tls_->io().write_began_ns);
  record().mark(Instant::sent, io::monotonic_ns());
  state_ = State::receiving;  // its deadline goes on
  return true;
}

bool Connection::receive(std::span<std::uint8_t> scratch) {
  // Acknowledgements of HTTP/2.
  if (!flush()) {
    return false;
  }
  std::size_t size = 0;
  const ossl::Step step = tls_->read(scratch, size);
  if (step == ossl::Step::want_read || step == ossl::Step::want_write) {
    return false;
  }
  if (step == ossl::Step::failed) {
    fail_tls();
    return false;
  }
  if (step == ossl::Step::closed) {
    return response_done(true);
  }
  const Nanos now = io::monotonic_ns();
  const auto fed = exchange_.feed(scratch.first(size));
  if (exchange_.status() != 0 && record().instant(Instant::first_byte) == 0) {
    // Where it was there before the thread slept again, nothing woke it for this.
    record().mark(Instant::response_woken, woken_ns_ >= record().instant(Instant::request) ? woken_ns_ : 0);
    record().mark(Instant::first_byte, now);
    record().status = exchange_.status();
  }
  if (!fed) {
    fail(exchange_.status() == 0 ? Outcome::no_response : Outcome::truncated, fed.error().what);
    return false;
  }
  return exchange_.is_complete() ? response_done(false) : true;
}

bool Connection::response_done(bool stream_ended) {
  if (stream_ended && !exchange_.end_of_stream()) {
    fail_tls();
    return false;
  }
  const Nanos now = io::monotonic_ns();
  record().mark(Instant::last_byte, now);
  decide(Outcome::complete, {});
  if (decided_ < records_.size()) {
    if (!stream_ended && exchange_.can_ask_again()) {
      return next_request();
    }
    failure_ = "the server ended the connection after fewer requests";
    decided_ = records_.size();
  }
  enter(stream_ended ? State::closing_tcp : State::closing_tls, now);
  if (!stream_ended && plan_->protocol == Protocol::http2) {
    // Nothing else would make the server close.
    exchange_.leave();
    if (flush() && is_open()) {
      close_notify_sent_ = true;
      tls_->send_close_notify();
    }
  }
  return is_open();
}

bool Connection::next_request() {
  const Record& first = records_.front();
  ++current_;
  record().start_ns = first.start_ns;
  record().clock_offset_ns = first.clock_offset_ns;
  record().client = first.client;
  record().group = first.group;
  record().resumed = first.resumed;
  if (const auto asked = exchange_.ask(current_ + 1 == records_.size()); !asked) {
    fail(Outcome::no_request, asked.error().what);
    return false;
  }
  enter(State::sending, io::monotonic_ns());
  return true;
}

bool Connection::close_tls(std::span<std::uint8_t> scratch) {
  std::size_t size = 0;
  const ossl::Step step = tls_->read(scratch, size);
  if (step == ossl::Step::failed) {
    shut();
    return false;
  }
  if (step == ossl::Step::closed) {
    state_ = State::closing_tcp;
    return true;
  }
  return step == ossl::Step::done;
}

bool Connection::close_tcp(std::span<std::uint8_t> scratch) {
  const ssize_t got = ::recv(socket_.get(), scratch.data(), scratch.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    // It may be waiting for our close_notify before it closes.
    if (!close_notify_sent_) {
      close_notify_sent_ = true;
      tls_->send_close_notify();
    }
    return false;
  }
  if (got <= 0) {
    shut();
    return false;
  }
  return true;
}

void Connection::expire() {
  switch (state_) {
    case State::idle:
      return;
    case State::connecting:
      fail(Outcome::tcp_timeout, "no answer to the SYN in time");
      return;
    case State::sending_early:
    case State::handshaking:
      fail(Outcome::handshake_incomplete, "handshake timed out");
      return;
    case State::sending:
      fail(Outcome::no_request, "the request could not be sent in time");
      return;
    case State::receiving:
      fail(record().instant(Instant::first_byte) == 0 ? Outcome::no_response : Outcome::truncated,
           "response timed out");
      return;
    case State::closing_tls:
    case State::closing_tcp:
      if (!close_notify_sent_) {
        tls_->send_close_notify();
      }
      shut();
      return;
  }
}

void Connection::cancel() {
  if (decided_ < records_.size() && is_open()) {
    decide(Outcome::cancelled, {});
    decided_ = records_.size();
  }
  shut();
}

void Connection::decide(Outcome outcome, std::string failure) {
  record().outcome = outcome;
  failure_ = std::move(failure);
  ++decided_;
}

// The connection's further requests stay not_started.
void Connection::fail(Outcome outcome, std::string failure) {
  if (decided_ < records_.size()) {
    decide(outcome, std::move(failure));
    decided_ = records_.size();
  }
  shut();
}

void Connection::fail_connect(int error) {
  switch (error) {
    case EADDRNOTAVAIL:
    case EAGAIN:
      record().start_ns = 0;
      record().mark(Instant::started, 0);
      record().client = {};
      fail(Outcome::not_started, "no free port");
      return;
    case ECONNREFUSED:
      fail(Outcome::refused, words(error));
      return;
    case ECONNRESET:
      fail(Outcome::reset, words(error));
      return;
    default:
      fail(Outcome::tcp_timeout, words(error));
      return;
  }
}

void Connection::fail_tls() {
  const ossl::Failure& failure = tls_->failure();
  std::string text = failure.kind == ossl::FailureKind::none ? "connection closed" : failure.text;
  const bool is_reset = failure.kind == ossl::FailureKind::reset;
  switch (state_) {
    case State::sending_early:
    case State::handshaking:
      switch (failure.kind) {
        case ossl::FailureKind::peer_alert:
        case ossl::FailureKind::local_alert:
          fail(Outcome::tls_alert, std::move(text));
          return;
        case ossl::FailureKind::not_tls:
          fail(Outcome::no_tls, std::move(text));
          return;
        default:
          fail(is_reset ? Outcome::reset : Outcome::handshake_incomplete, std::move(text));
          return;
      }
    case State::sending:
      fail(is_reset ? Outcome::reset : Outcome::no_request, std::move(text));
      return;
    default:
      if (record().instant(Instant::first_byte) != 0) {
        fail(Outcome::truncated, std::move(text));
      } else {
        fail(is_reset ? Outcome::reset : Outcome::no_response, std::move(text));
      }
      return;
  }
}

void Connection::shut() {
  tls_.reset();
  socket_.reset();
  state_ = State::idle;
}

}  // namespace tlstrata::load
