#include "ossl/client.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cerrno>
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
  void (*before_finished)() = nullptr;

  static void state_changed(const SSL* ssl, int where, int /*result*/) {
    if ((where & SSL_CB_LOOP) != 0 && SSL_get_state(ssl) == TLS_ST_CR_FINISHED) {
      static_cast<State*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)))->before_finished();
    }
  }

  // One write(2) a line: with O_APPEND lines of several processes do not mix.
  static void log_keys(const SSL* ssl, const char* line) {
    auto* const state = static_cast<State*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
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
  if (settings.trust != nullptr) {
    SSL_CTX_set1_cert_store(context, settings.trust->get());
  }
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_verify(context, state->verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  // A record in one read(2) instead of two: header and content.
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

Result<ClientConnection> ClientConnection::start(const ClientContext& context, int socket) {
  const auto& state = *context.state_;
  std::unique_ptr<ssl_st, FreeSsl> ssl(SSL_new(state.context.get()));
  const char* const host = state.host.c_str();
  bool started = ssl != nullptr && SSL_set_fd(ssl.get(), socket) == 1;
  if (started && !state.host_is_address) {
    // SSL_set_tlsext_host_name(3), whose macro casts in the old style.
    started =
        SSL_ctrl(ssl.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>(host)) == 1;
  }
  if (started && state.verify) {
    started = state.host_is_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl.get()), host) == 1
                                    : SSL_set1_host(ssl.get(), host) == 1;
  }
  if (!started) {
    return std::unexpected(last_error("TLS connection"));
  }
  SSL_set_connect_state(ssl.get());
  return ClientConnection(std::move(ssl));
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

Step ClientConnection::handshake() {
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
  // Only groups with a number in the library's own registry of objects come as that; all others as their code points.
  const long group = SSL_ctrl(ssl_.get(), SSL_CTRL_GET_NEGOTIATED_GROUP, 0, nullptr);
  if ((group & TLSEXT_nid_unknown) != 0) {
    return static_cast<std::uint16_t>(group & 0xFFFF);
  }
  const char* const name = SSL_get0_group_name(ssl_.get());
  const auto code = name != nullptr ? group_code_point(name) : std::nullopt;
  return code.value_or(0);
}

}  // namespace tlstrata::ossl
