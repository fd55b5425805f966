#include "load/transaction.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
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

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

void Transaction::start(const Plan& plan, const ossl::ClientContext& context, const io::Address* local,
                        const Record& planned) {
  plan_ = &plan;
  context_ = &context;
  record_ = planned;
  decided_ = false;
  close_notify_sent_ = false;
  failure_.clear();
  response_.reset();
  socket_.reset(::socket(plan.server.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_) {
    fail(Outcome::not_started, "no descriptor: " + words(errno));
    return;
  }
  const int on = 1;
  (void)::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (local != nullptr) {
    // The port is left to connect(), which then needs it to be free for this server only.
    (void)::setsockopt(socket_.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (::bind(socket_.get(), local->get(), local->size()) != 0) {
      fail(Outcome::not_started, "no local address: " + words(errno));
      return;
    }
  }
  record_.start_ns = io::realtime_ns();
  enter(State::connecting, Instant::started, io::monotonic_ns());
  const int result = ::connect(socket_.get(), plan.server.get(), plan.server.size());
  const int error = errno;
  // Here and not later: the SYN is on its way, and nothing waits for this call.
  record_.client = io::Address::local_of(socket_.get());
  if (result != 0 && error != EINPROGRESS) {
    fail_connect(error);
  }
}

void Transaction::enter(State state, Instant reached, Nanos time_ns) {
  record_.mark(reached, time_ns);
  state_ = state;
  switch (state) {
    case State::connecting:
      deadline_ns_ = time_ns + plan_->timeouts.connect_ns;
      break;
    case State::handshaking:
      deadline_ns_ = time_ns + plan_->timeouts.handshake_ns;
      break;
    case State::sending:
      deadline_ns_ = time_ns + plan_->timeouts.response_ns;
      break;
    case State::closing_tls:
      deadline_ns_ = time_ns + close_timeout_ns;
      break;
    default:
      break;  // the phase's deadline goes on
  }
}

void Transaction::proceed(std::span<std::uint8_t> scratch) {
  bool going_on = true;
  while (going_on) {
    switch (state_) {
      case State::idle:
        return;
      case State::connecting:
        going_on = connect_done();
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

bool Transaction::connect_done() {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
    error = errno;
  }
  if (error != 0) {
    fail_connect(error);
    return false;
  }
  enter(State::handshaking, Instant::connected, io::monotonic_ns());
  auto tls = ossl::ClientConnection::start(*context_, socket_.get());
  if (!tls) {
    fail(Outcome::handshake_incomplete, ossl::reason(tls.error().number));
    return false;
  }
  tls_.emplace(std::move(*tls));
  plan_->injector.at(InjectionPlace::before_hello, record_);
  return true;
}

bool Transaction::handshake() {
  const Injector::Scope scope(plan_->injector, record_);
  const ossl::Step step = tls_->handshake();
  if (step == ossl::Step::failed) {
    fail_tls();
    return false;
  }
  if (step != ossl::Step::done) {
    return false;
  }
  enter(State::sending, Instant::handshaken, io::monotonic_ns());
  record_.group = tls_->group();
  plan_->injector.at(InjectionPlace::before_request, record_);
  return true;
}

bool Transaction::send() {
  const ossl::Step step = tls_->write(bytes_of(plan_->request));
  if (step == ossl::Step::failed || step == ossl::Step::closed) {
    fail_tls();
    return false;
  }
  if (step != ossl::Step::done) {
    return false;
  }
  enter(State::receiving, Instant::sent, io::monotonic_ns());
  return true;
}

bool Transaction::receive(std::span<std::uint8_t> scratch) {
  std::size_t size = 0;
  const ossl::Step step = tls_->read(scratch, size);
  if (step == ossl::Step::want_read || step == ossl::Step::want_write) {
    return false;
  }
  if (step == ossl::Step::failed) {
    fail_tls();
    return false;
  }
  if (step == ossl::Step::done) {
    const Nanos now = io::monotonic_ns();
    if (record_.instant(Instant::first_byte) == 0) {
      record_.mark(Instant::first_byte, now);
    }
    if (const auto fed = response_.feed(scratch.first(size)); !fed) {
      fail(response_.status() == 0 ? Outcome::no_response : Outcome::truncated, fed.error().what);
      return false;
    }
    record_.status = response_.status();
  }
  const bool is_whole = step == ossl::Step::closed ? response_.end_of_stream() : response_.complete();
  if (is_whole) {
    enter(State::closing_tls, Instant::last_byte, io::monotonic_ns());
    if (step == ossl::Step::closed) {
      state_ = State::closing_tcp;
    }
    decide(Outcome::complete, {});
    return true;
  }
  if (step == ossl::Step::closed) {
    fail_tls();
    return false;
  }
  return true;
}

bool Transaction::close_tls(std::span<std::uint8_t> scratch) {
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

bool Transaction::close_tcp(std::span<std::uint8_t> scratch) {
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

void Transaction::expire() {
  switch (state_) {
    case State::idle:
      return;
    case State::connecting:
      fail(Outcome::tcp_timeout, "no answer to the SYN in time");
      return;
    case State::handshaking:
      fail(Outcome::handshake_incomplete, "handshake timed out");
      return;
    case State::sending:
      fail(Outcome::no_request, "the request could not be sent in time");
      return;
    case State::receiving:
      fail(record_.instant(Instant::first_byte) == 0 ? Outcome::no_response : Outcome::truncated, "response timed out");
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

void Transaction::cancel() {
  if (!decided_ && is_open()) {
    decide(Outcome::cancelled, {});
  }
  shut();
}

void Transaction::decide(Outcome outcome, std::string failure) {
  record_.outcome = outcome;
  failure_ = std::move(failure);
  decided_ = true;
}

void Transaction::fail(Outcome outcome, std::string failure) {
  decide(outcome, std::move(failure));
  shut();
}

void Transaction::fail_connect(int error) {
  switch (error) {
    case EADDRNOTAVAIL:
    case EAGAIN:
      record_.start_ns = 0;
      record_.mark(Instant::started, 0);
      record_.client = {};
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

void Transaction::fail_tls() {
  const ossl::Failure& failure = tls_->failure();
  std::string text = failure.kind == ossl::FailureKind::none ? "connection closed" : failure.text;
  const bool is_reset = failure.kind == ossl::FailureKind::reset;
  switch (state_) {
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
      if (record_.instant(Instant::first_byte) != 0) {
        fail(Outcome::truncated, std::move(text));
      } else {
        fail(is_reset ? Outcome::reset : Outcome::no_response, std::move(text));
      }
      return;
  }
}

void Transaction::shut() {
  tls_.reset();
  socket_.reset();
  state_ = State::idle;
}

}  // namespace tlstrata::load
