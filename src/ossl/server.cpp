#include "ossl/server.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "ossl/error.h"
#include "ossl/groups.h"
#include "ossl/handle.h"
#include "ossl/provider.h"

namespace tlstrata::ossl {
namespace {

using Context = Handle<SSL_CTX, SSL_CTX_free>;

constexpr std::size_t record_bytes = std::size_t{16} * 1024;  // RFC 8446 section 5.1

// "X25519MLKEM768:X25519", in order of preference: a server's list marks no shares.
std::string preference_list(const std::vector<std::uint16_t>& groups) {
  return group_list(groups, {});
}

// What went wrong, the file whose reading did, what to do.
Complaint complain_of(const char* what, const std::string& where, const char* remedy) {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  return Complaint{std::string(what) + ": " + reason(code), where, remedy};
}

}  // namespace

struct ServerContext::State {
  Context context;
  int key_log_fd = -1;

  // One write(2) a line: with O_APPEND lines of several threads do not mix.
  static void log_keys(const SSL* ssl, const char* line) {
    const auto* const state = static_cast<const State*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
    const std::string text = std::string(line) + '\n';
    (void)!::write(state->key_log_fd, text.data(), text.size());
  }
};

ServerContext::ServerContext(std::unique_ptr<State> state) : state_(std::move(state)) {}
ServerContext::ServerContext(ServerContext&&) noexcept = default;
ServerContext& ServerContext::operator=(ServerContext&&) noexcept = default;
ServerContext::~ServerContext() = default;

Checked<ServerContext> ServerContext::create(const ServerSettings& settings) {
  if (auto provided = provide_groups(settings.groups); !provided) {
    return std::unexpected(provided.error());
  }
  auto state = std::make_unique<State>();
  state->key_log_fd = settings.key_log_fd;
  state->context.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* const context = state->context.get();
  ERR_clear_error();
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1) {
    return std::unexpected(complain_of("the TLS library has no TLS 1.3", "server", "see tlstrata doctor"));
  }
  const std::string groups = preference_list(settings.groups);
  if (!groups.empty() && SSL_CTX_set1_groups_list(context, groups.c_str()) != 1) {
    return std::unexpected(complain_of("the TLS library refuses the groups", groups, "see tlstrata doctor"));
  }
  if (SSL_CTX_use_certificate_chain_file(context, settings.certificate.c_str()) != 1) {
    return std::unexpected(
        complain_of("no certificate chain", settings.certificate, "give a PEM file, the server's certificate first"));
  }
  if (SSL_CTX_use_PrivateKey_file(context, settings.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return std::unexpected(complain_of("no private key for the certificate", settings.key, "give its PEM file"));
  }
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  if (!settings.tickets) {
    (void)SSL_CTX_set_num_tickets(context, 0);
  }
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // A record in one read(2) instead of two: header and content.
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_app_data(context, state.get());
  if (settings.key_log_fd >= 0) {
    SSL_CTX_set_keylog_callback(context, State::log_keys);
  }
  return ServerContext(std::move(state));
}

void ServerConnection::FreeSsl::operator()(ssl_st* ssl) const {
  SSL_free(ssl);
}

Result<ServerConnection> ServerConnection::start(const ServerContext& context, int socket) {
  std::unique_ptr<ssl_st, FreeSsl> ssl(SSL_new(context.state_->context.get()));
  if (ssl == nullptr || SSL_set_fd(ssl.get(), socket) != 1) {
    return std::unexpected(last_error("TLS connection"));
  }
  SSL_set_accept_state(ssl.get());
  return ServerConnection(std::move(ssl));
}

Step ServerConnection::step_of(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_NONE:
      return Step::done;
    case SSL_ERROR_WANT_READ:
      return Step::want_read;
    case SSL_ERROR_WANT_WRITE:
      return Step::want_write;
    case SSL_ERROR_ZERO_RETURN:
      return Step::closed;
    default:
      ERR_clear_error();
      return Step::failed;
  }
}

Step ServerConnection::handshake() {
  ERR_clear_error();
  return step_of(SSL_do_handshake(ssl_.get()));
}

Step ServerConnection::write(std::span<const std::uint8_t> bytes, std::size_t& size) {
  ERR_clear_error();
  return step_of(SSL_write_ex(ssl_.get(), bytes.data(), std::min(bytes.size(), record_bytes), &size));
}

Step ServerConnection::read(std::span<std::uint8_t> buffer, std::size_t& size) {
  ERR_clear_error();
  return step_of(SSL_read_ex(ssl_.get(), buffer.data(), buffer.size(), &size));
}

void ServerConnection::send_close_notify() {
  (void)SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

}  // namespace tlstrata::ossl
