#include "probe/attempt.h"

#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/iana.h"
#include "io/clock.h"
#include "ossl/key_share.h"
#include "probe/answer.h"

namespace tlstrata::probe {
namespace {

constexpr std::array<std::uint8_t, 6> change_cipher_spec{20, 3, 3, 0, 1, 1};

// Some servers fail on these lengths (tolerance.h): a hello has one only where that is the question.
bool is_odd_length(std::size_t size) {
  return size % 256 == 10 || size % 256 == 14;
}
constexpr std::size_t padding_step = 6;

// So few bytes always come whole; no secret hangs on them.
void fill(std::span<std::uint8_t> bytes) {
  [[maybe_unused]] const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
}

std::string system_text(int error) {
  return std::generic_category().message(error);
}

// One connection from its ClientHello to the server's answer.
//
//   send ──► await_answer ──► ServerHello, alert, end, silence: done
//    ▲            │ HelloRetryRequest, where it is to be answered
//    └────────────┘ once
class Exchange {
 public:
  Exchange(int socket, const std::string& server_name, const Attempt& attempt, Guide& guide)
      : socket_(socket), attempt_(attempt), guide_(guide) {
    hello_.legacy_version = attempt.legacy_version;
    hello_.versions = attempt.versions;
    hello_.groups = attempt.groups;
    hello_.server_name = server_name;
    hello_.alpn = {"h2", "http/1.1"};
    hello_.size = attempt.size;
    fill(hello_.random);
    fill(hello_.session_id);
  }

  Outcome run() {
    for (const std::uint16_t group : attempt_.shares) {
      if (!add_share(group)) {
        end(Ending::stopped, "no key share of " + group_name(group) + " can be made");
        return outcome_;
      }
    }
    Bytes message = write_hello(hello_);
    if (attempt_.size == 0 && is_odd_length(message.size())) {
      hello_.size = message.size() + padding_step;
      message = write_hello(hello_);
    }
    const Bytes wire = in_records(message, attempt_.delivery.most_per_record);
    outcome_.hello_size = static_cast<std::uint32_t>(message.size());
    outcome_.hello_records = static_cast<std::uint32_t>((wire.size() - message.size()) / 5);
    if (send_hello(wire)) {
      while (await_answer()) {
      }
    }
    return outcome_;
  }

 private:
  bool add_share(std::uint16_t group) {
    auto share = ossl::make_key_share(group);
    if (share) {
      hello_.key_shares.push_back({group, std::move(*share)});
    }
    return share.has_value();
  }

  void end(Ending ending, std::string reason) {
    outcome_.ending = ending;
    outcome_.reason = std::move(reason);
    if (sent_ns_ != 0) {
      outcome_.answer_ns = io::monotonic_ns() - sent_ns_;
    }
  }
  void end_by(int error) {
    const bool is_reset = error == ECONNRESET || error == EPIPE;
    end(is_reset ? Ending::reset : Ending::unreachable, system_text(error));
  }

  // The hello in its segments. false: the connection ended before all of it was sent; what the server said is then read.
  bool send_hello(std::span<const std::uint8_t> wire) {
    std::size_t begin = 0;
    for (const std::size_t cut : attempt_.delivery.cuts) {
      if (cut <= begin || cut >= wire.size()) {
        continue;
      }
      if (!send_all(wire.subspan(begin, cut - begin))) {
        return false;
      }
      begin = cut;
      // Who speaks before it has heard all has made up its mind.
      const Waited waited = guide_.await(socket_, POLLIN | POLLRDHUP, io::monotonic_ns() + guide_.limits().pause_ns);
      if (waited == Waited::stopped) {
        end(Ending::stopped, "");
        return false;
      }
      if (waited == Waited::ready) {
        sent_ns_ = io::monotonic_ns();
        return true;
      }
    }
    return send_all(wire.subspan(begin));
  }

  bool send_all(std::span<const std::uint8_t> bytes) {
    const Nanos deadline_ns = io::monotonic_ns() + guide_.limits().answer_timeout_ns;
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        bytes = bytes.subspan(static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN) {
        const Waited waited = guide_.await(socket_, POLLOUT, deadline_ns);
        if (waited != Waited::ready) {
          end(waited == Waited::stopped ? Ending::stopped : Ending::silence, "the hello was not taken");
          return false;
        }
      } else if (errno != EINTR) {
        send_error_ = errno;  // an alert may still be there to be read
        break;
      }
    }
    sent_ns_ = io::monotonic_ns();
    return true;
  }

  // true: go on waiting.
  bool await_answer() {
    const Waited waited = guide_.await(socket_, POLLIN | POLLRDHUP, sent_ns_ + guide_.limits().answer_timeout_ns);
    if (waited != Waited::ready) {
      end(waited == Waited::stopped ? Ending::stopped : Ending::silence, "");
      return false;
    }
    std::array<std::uint8_t, 8192> buffer;
    const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (got < 0) {
      if (errno == EAGAIN || errno == EINTR) {
        return true;
      }
      end_by(errno);
      return false;
    }
    if (got == 0 && send_error_ != 0) {
      end_by(send_error_);
      return false;
    }
    if (got == 0) {
      end(Ending::close, reader_.is_empty() ? "" : "in the middle of its answer");
      return false;
    }
    reader_.feed(std::span(buffer).first(static_cast<std::size_t>(got)));
    auto answer = reader_.next();
    if (!answer) {
      end(answer.error().code == ErrorCode::unsupported ? Ending::not_tls : Ending::malformed, answer.error().what);
      return false;
    }
    return !*answer || take(**answer);
  }

  bool take(const Answer& answer) {
    if (const auto* const alert = std::get_if<Alert>(&answer)) {
      outcome_.alert = alert->description;
      end(Ending::alert, alert_name(alert->description));
      return false;
    }
    const auto& hello = std::get<ServerHello>(answer);
    outcome_.version = hello.version;
    outcome_.cipher_suite = hello.cipher_suite;
    if (!hello.is_retry) {
      outcome_.group = hello.group.value_or(0);
      end(Ending::hello, "");
      return false;
    }
    if (outcome_.retried) {
      end(Ending::malformed, "a second HelloRetryRequest");
      return false;
    }
    outcome_.retried = true;
    outcome_.retry_group = hello.group.value_or(0);
    return answer_retry(hello);
  }

  bool answer_retry(const ServerHello& retry) {
    hello_.key_shares.clear();
    hello_.cookie = retry.cookie;
    const bool is_offered = std::ranges::find(attempt_.groups, outcome_.retry_group) != attempt_.groups.end();
    if (!is_offered) {
      end(Ending::malformed, "a retry with a group that was not offered");
      return false;
    }
    if (!attempt_.answers_retry || !add_share(outcome_.retry_group)) {
      end(Ending::retry, "");
      return false;
    }
    hello_.size = 0;
    Bytes wire(change_cipher_spec.begin(), change_cipher_spec.end());
    const Bytes records = in_records(write_hello(hello_), 0);
    wire.insert(wire.end(), records.begin(), records.end());
    return send_all(wire);
  }

  int socket_;
  const Attempt& attempt_;
  Guide& guide_;
  Hello hello_;
  AnswerReader reader_;
  Outcome outcome_;
  Nanos sent_ns_ = 0;
  int send_error_ = 0;  // told once by the kernel: a later recv(2) sees only an end
};

}  // namespace

std::string_view name(Ending ending) {
  constexpr std::array<std::string_view, 11> names{"hello",   "retry",       "alert",   "close",
                                                   "reset",   "silence",     "not_tls", "malformed",
                                                   "refused", "unreachable", "stopped"};
  return names[static_cast<std::size_t>(ending)];
}

std::string describe(const Outcome& outcome) {
  switch (outcome.ending) {
    case Ending::hello:
      return "answered";
    case Ending::retry:
      return "answered by a retry";
    case Ending::alert:
      return "alert " + outcome.reason;
    case Ending::close:
      return outcome.reason.empty() ? "closed without a word" : "closed " + outcome.reason;
    case Ending::reset:
      return "reset";
    case Ending::silence:
      return "no answer";
    case Ending::not_tls:
      return "an answer that is no TLS";
    case Ending::malformed:
      return "broken TLS: " + outcome.reason;
    case Ending::refused:
      return "connection refused";
    case Ending::unreachable:
      return outcome.reason.empty() ? "no connection" : outcome.reason;
    case Ending::stopped:
      return outcome.reason.empty() ? "stopped" : outcome.reason;
  }
  return {};
}

Connected connect_to(const io::Address& address, const std::optional<int>& max_segment, Guide& guide) {
  Connected result;
  if (!guide.wait_turn()) {
    result.why = Ending::stopped;
    return result;
  }
  io::UniqueFd socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (!socket || ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
      (max_segment && ::setsockopt(socket.get(), IPPROTO_TCP, TCP_MAXSEG, &*max_segment, sizeof *max_segment) != 0)) {
    result.reason = system_text(errno);
    return result;
  }
  const Nanos began_ns = io::monotonic_ns();
  int error = ::connect(socket.get(), address.get(), address.size()) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    const Waited waited = guide.await(socket.get(), POLLOUT, began_ns + guide.limits().connect_timeout_ns);
    if (waited != Waited::ready) {
      result.why = waited == Waited::stopped ? Ending::stopped : Ending::unreachable;
      result.reason = waited == Waited::stopped ? "" : "no connection within the time-out";
      return result;
    }
    socklen_t size = sizeof error;
    (void)::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error != 0) {
    result.why = error == ECONNREFUSED ? Ending::refused : Ending::unreachable;
    result.reason = system_text(error);
    return result;
  }
  result.tcp_ns = io::monotonic_ns() - began_ns;
  result.socket = std::move(socket);
  return result;
}

Outcome attempt(const io::Address& address, const std::string& server_name, const Attempt& attempt, Guide& guide) {
  Connected connected = connect_to(address, attempt.delivery.max_segment, guide);
  if (!connected.socket) {
    Outcome outcome;
    outcome.ending = connected.why;
    outcome.reason = std::move(connected.reason);
    return outcome;
  }
  Outcome outcome = Exchange(connected.socket.get(), server_name, attempt, guide).run();
  outcome.tcp_ns = connected.tcp_ns;
  return outcome;
}

}  // namespace tlstrata::probe
