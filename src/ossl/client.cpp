#include "ossl/client.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <system_error>
#include <utility>

#include "base/iana.h"
#include "ossl/error.h"
#include "ossl/groups.h"
#include "ossl/handle.h"
#include "ossl/provider.h"

namespace tlstrata::ossl {
namespace {

using Context = Handle<SSL_CTX, SSL_CTX_free>;
using Session = Handle<SSL_SESSION, SSL_SESSION_free>;

// A server gives one or two per connection, and a run with a ratio below one uses fewer than it gets.
constexpr std::size_t most_tickets = 64;

std::string system_text(int error) {
  return std::generic_category().message(error);
}

}  // namespace

struct ClientContext::State {
  Context context;
  std::string host;
  bool host_is_address = false;
  bool verify = false;
  int key_log_fd = -1;
  int key_log_error = 0;
  std::deque<Session> tickets;  // the oldest first

  static State& of(const SSL* ssl) { return *static_cast<State*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl))); }

  // A new ticket. Kept as a copy: the library marks the session itself as spent when the connection's next ticket comes.
  static int keep_ticket(SSL* ssl, SSL_SESSION* session) {
    auto& tickets = of(ssl).tickets;
    if (Session copy(SSL_SESSION_dup(session)); copy) {
      tickets.push_back(std::move(copy));
    }
    if (tickets.size() > most_tickets) {
      tickets.pop_front();
    }
    return 0;
  }

  // The newest: an old one may have expired. The last one left is lent and not given away, so that a server that gives
  // few does not change the ratio that was asked for. Null: there is none.
  Session take_ticket() {
    while (!tickets.empty()) {
      Session session = std::move(tickets.back());
      tickets.pop_back();
      if (SSL_SESSION_is_resumable(session.get()) != 1) {
        continue;
      }
      if (Session copy(tickets.empty() ? SSL_SESSION_dup(session.get()) : nullptr); copy) {
        tickets.push_back(std::move(copy));
      }
      return session;
    }
    return nullptr;
  }

  void (*before_finished)() = nullptr;

  static void state_changed(const SSL* ssl, int where, int /*result*/) {
    if ((where & SSL_CB_LOOP) != 0 && SSL_get_state(ssl) == TLS_ST_CR_FINISHED) {
      of(ssl).before_finished();
    }
  }

  // One write(2) a line: with O_APPEND lines of several processes do not mix.
  static void log_keys(const SSL* ssl, const char* line) {
    State* const state = &of(ssl);
    std::string text = line;
    text += '\n';
    ssize_t written = 0;
    do {
      written = ::write(state->key_log_fd, text.data(), text.size());
    } while (written < 0 && errno == EINTR);
    if (written != static_cast<ssize_t>(text.size()) && state->key_log_error == 0) {
      state->key_log_error = written < 0 ? errno : ENOSPC;
    }
  }
};

ClientContext::ClientContext(std::unique_ptr<State> state) : state_(std::move(state)) {}
ClientContext::ClientContext(ClientContext&&) noexcept = default;
ClientContext& ClientContext::operator=(ClientContext&&) noexcept = default;
ClientContext::~ClientContext() = default;

int ClientContext::key_log_error() const {
  return state_->key_log_error;
}

std::size_t ClientContext::tickets() const {
  return state_->tickets.size();
}

namespace {

Checked<void> use_identity(SSL_CTX* context, const ClientSettings& settings) {
  if (settings.certificate_file.empty()) {
    return {};
  }
  const auto refuse = [](const std::string& file, const char* remedy) {
    return std::unexpected(
        Complaint{"cannot use the client's certificate: " + reason(last_error("").number), file, remedy});
  };
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(context, settings.certificate_file.c_str()) != 1) {
    return refuse(settings.certificate_file, "give a PEM file with the certificate first");
  }
  if (SSL_CTX_use_PrivateKey_file(context, settings.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return refuse(settings.key_file, "give the certificate's private key as PEM");
  }
  return {};
}

}  // namespace

Checked<ClientContext> ClientContext::create(const ClientSettings& settings) {
  if (auto provided = provide_groups(settings.groups); !provided) {
    return std::unexpected(provided.error());
  }
  auto state = std::make_unique<State>();
  state->host = settings.host;
  state->host_is_address = settings.host_is_address;
  state->verify = settings.trust != nullptr;
  state->key_log_fd = settings.key_log_fd;
  state->context.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* const context = state->context.get();
  std::string alpn;
  if (!settings.alpn.empty()) {
    alpn = std::string(1, static_cast<char>(settings.alpn.size())) + settings.alpn;
  }
  const std::string groups = group_list(settings.groups, settings.key_shares);
  // SSL_CTX_set_alpn_protos is the one that returns 0 for success.
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set1_groups_list(context, groups.c_str()) != 1 ||
      (!alpn.empty() && SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(alpn.data()),
                                                static_cast<unsigned int>(alpn.size())) != 0)) {
    return std::unexpected(Complaint{"the TLS library refuses the configuration: " + reason(last_error("").number),
                                     groups, "see tlstrata doctor for what the library supports"});
  }
  if (!settings.ciphers.empty() && SSL_CTX_set_ciphersuites(context, settings.ciphers.c_str()) != 1) {
    ERR_clear_error();
    return std::unexpected(Complaint{"no such TLS 1.3 cipher suites", settings.ciphers,
                                     "join IANA's names with ':', like TLS_AES_128_GCM_SHA256", ExitCode::usage});
  }
  if (auto used = use_identity(context, settings); !used) {
    return std::unexpected(used.error());
  }
  if (settings.trust != nullptr) {
    SSL_CTX_set1_cert_store(context, settings.trust->get());
  }
  if (settings.keeps_tickets) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, State::keep_ticket);
  } else {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  }
  SSL_CTX_set_verify(context, state->verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (!state->verify) {
    // Else the library builds and checks the chain all the same, and ignores what comes out.
    SSL_CTX_set_cert_verify_callback(context, [](X509_STORE_CTX*, void*) { return 1; }, nullptr);
  }
  // After the handshake; until then see socket_io.h.
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_app_data(context, state.get());
  state->before_finished = settings.before_finished;
  if (settings.before_finished != nullptr) {
    SSL_CTX_set_info_callback(context, State::state_changed);
  }
  if (settings.key_log_fd >= 0) {
    SSL_CTX_set_keylog_callback(context, State::log_keys);
  }
  return ClientContext(std::move(state));
}

void ClientConnection::FreeSsl::operator()(ssl_st* ssl) const {
  SSL_free(ssl);
}

Result<ClientConnection> ClientConnection::start(const ClientContext& context, int socket, ClientStart how) {
  auto& state = *context.state_;
  ClientConnection connection;
  connection.io_ = std::make_unique<SocketIo>();
  connection.io_->socket = socket;
  connection.costs_ = std::make_unique<PrimitiveCosts>();
  connection.io_->measures = how.measure;
  connection.io_->making.start(how.began_ns);
  connection.measures_ = how.measure;
  connection.ssl_.reset(SSL_new(state.context.get()));
  SSL* const ssl = connection.ssl_.get();
  BIO* const bio = ssl != nullptr ? new_socket_bio(*connection.io_) : nullptr;
  if (bio == nullptr) {
    return std::unexpected(last_error("TLS connection"));
  }
  SSL_set_bio(ssl, bio, bio);
  const char* const host = state.host.c_str();
  bool started = true;
  if (!state.host_is_address) {
    // SSL_set_tlsext_host_name(3), whose macro casts in the old style.
    started = SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>(host)) == 1;
  }
  if (started && state.verify) {
    started = state.host_is_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1
                                    : SSL_set1_host(ssl, host) == 1;
  }
  if (started && how.resume) {
    if (const Session ticket = state.take_ticket()) {
      started = SSL_set_session(ssl, ticket.get()) == 1;
      connection.offers_ticket_ = started;
    }
  }
  if (!started) {
    return std::unexpected(last_error("TLS connection"));
  }
  SSL_set_connect_state(ssl);
  return connection;
}

// What a call's result means; `system_error` is errno right after it.
Step ClientConnection::step_of(int result, int system_error) {
  const int error = SSL_get_error(ssl_.get(), result);
  switch (error) {
    case SSL_ERROR_NONE:
      return Step::done;
    case SSL_ERROR_WANT_READ:
      return Step::want_read;
    case SSL_ERROR_WANT_WRITE:
      return Step::want_write;
    case SSL_ERROR_ZERO_RETURN:
      return Step::closed;
    case SSL_ERROR_SYSCALL:
      ERR_clear_error();
      if (system_error == 0) {
        failure_ = {FailureKind::end_of_stream, "connection closed"};
      } else {
        const bool is_reset = system_error == ECONNRESET || system_error == EPIPE;
        failure_ = {is_reset ? FailureKind::reset : FailureKind::system, system_text(system_error)};
      }
      return Step::failed;
    default:
      break;
  }
  const unsigned long packed = ERR_get_error();
  ERR_clear_error();
  const int why = ERR_GET_REASON(packed);
  failure_ = {FailureKind::local_alert, reason(packed)};
  if (why == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    failure_ = {FailureKind::end_of_stream, "connection closed"};
  } else if (why >= SSL_AD_REASON_OFFSET) {
    failure_ = {FailureKind::peer_alert, "alert " + alert_name(static_cast<std::uint8_t>(why - SSL_AD_REASON_OFFSET))};
  } else if (why == SSL_R_WRONG_VERSION_NUMBER || why == SSL_R_HTTP_REQUEST || why == SSL_R_HTTPS_PROXY_REQUEST) {
    failure_ = {FailureKind::not_tls, "not a TLS record"};
  } else if (why == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    failure_.text += std::string(": ") + X509_verify_cert_error_string(SSL_get_verify_result(ssl_.get()));
  }
  return Step::failed;
}

Step ClientConnection::write_early(std::span<const std::uint8_t> bytes) {
  const PrimitiveMeter meter(meter_of());
  ERR_clear_error();
  errno = 0;
  std::size_t written = 0;
  const int result = SSL_write_early_data(ssl_.get(), bytes.data(), bytes.size(), &written);
  const int system_error = errno;
  return step_of(result, system_error);
}

Step ClientConnection::handshake() {
  const PrimitiveMeter meter(meter_of());
  ERR_clear_error();
  errno = 0;
  const int result = SSL_do_handshake(ssl_.get());
  const int system_error = errno;
  const Step step = step_of(result, system_error);
  if (step == Step::closed) {
    failure_ = {FailureKind::end_of_stream, "connection closed"};
    return Step::failed;
  }
  return step;
}

Step ClientConnection::write(std::span<const std::uint8_t> bytes) {
  ERR_clear_error();
  errno = 0;
  std::size_t written = 0;
  const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &written);
  const int system_error = errno;
  return step_of(result, system_error);
}

Step ClientConnection::read(std::span<std::uint8_t> buffer, std::size_t& size) {
  ERR_clear_error();
  errno = 0;
  const int result = SSL_read_ex(ssl_.get(), buffer.data(), buffer.size(), &size);
  const int system_error = errno;
  return step_of(result, system_error);
}

void ClientConnection::send_close_notify() {
  (void)SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

std::uint16_t ClientConnection::group() const {
  return negotiated_group(ssl_.get());
}

std::string_view ClientConnection::alpn() const {
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

bool ClientConnection::may_send_early(std::size_t size) const {
  const SSL_SESSION* const session = offers_ticket_ ? SSL_get0_session(ssl_.get()) : nullptr;
  return session != nullptr && SSL_SESSION_get_max_early_data(session) >= size;
}

bool ClientConnection::is_resumed() const {
  return SSL_session_reused(ssl_.get()) == 1;
}

bool ClientConnection::early_data_taken() const {
  return SSL_get_early_data_status(ssl_.get()) == SSL_EARLY_DATA_ACCEPTED;
}

std::string ClientConnection::cipher() const {
  const char* const name = SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl_.get()));
  return name != nullptr ? name : "";
}

}  // namespace tlstrata::ossl
