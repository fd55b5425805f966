#include "ossl/endpoint.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "ossl/error.h"
#include "ossl/groups.h"
#include "ossl/handle.h"
#include "ossl/provider.h"

namespace tlstrata::ossl {
namespace {

using Context = Handle<SSL_CTX, SSL_CTX_free>;
using Session = Handle<SSL_SESSION, SSL_SESSION_free>;
using Certificate = Handle<X509, X509_free>;
using Key = Handle<EVP_PKEY, EVP_PKEY_free>;
using Store = Handle<X509_STORE, X509_STORE_free>;
using Memory = Handle<BIO, BIO_free_all>;

Memory reader_of(const std::string& text) {
  return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Certificate next_certificate(BIO* pem) {
  Certificate certificate(PEM_read_bio_X509(pem, nullptr, nullptr, nullptr));
  if (!certificate) {
    ERR_clear_error();  // the end of the text
  }
  return certificate;
}

bool use_identity(SSL_CTX* context, const EndpointSettings& settings) {
  const Memory chain = reader_of(settings.chain_pem);
  const Memory key_text = reader_of(settings.key_pem);
  const Certificate leaf = next_certificate(chain.get());
  const Key key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  if (!leaf || !key || SSL_CTX_use_certificate(context, leaf.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return false;
  }
  while (const Certificate issuer = next_certificate(chain.get())) {
    // SSL_CTX_add1_chain_cert(3), whose macro casts in the old style.
    if (SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, issuer.get()) != 1) {
      return false;
    }
  }
  return true;
}

bool use_trust(SSL_CTX* context, const EndpointSettings& settings) {
  Store store(X509_STORE_new());
  const Memory text = reader_of(settings.trusted_pem);
  if (!store) {
    return false;
  }
  while (const Certificate root = next_certificate(text.get())) {
    if (X509_STORE_add_cert(store.get(), root.get()) != 1) {
      return false;
    }
  }
  SSL_CTX_set_cert_store(context, store.release());
  return true;
}

}  // namespace

struct Endpoint::State {
  Context context;
  Side side = Side::client;
  bool verifies = false;
  std::string host;
  int key_log_fd = -1;
  Session ticket;

  static int keep_ticket(SSL* ssl, SSL_SESSION* session) {
    auto& state = *static_cast<State*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
    state.ticket.reset(SSL_SESSION_dup(session));
    // One ticket serves all further connections: with its cache on, the library would spoil it at its first use.
    SSL_CTX_set_session_cache_mode(SSL_get_SSL_CTX(ssl), SSL_SESS_CACHE_OFF);
    return 0;
  }

  // One write(2) a line: with O_APPEND lines of several threads do not mix.
  static void log_keys(const SSL* ssl, const char* line) {
    const auto* const state = static_cast<const State*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
    const std::string text = std::string(line) + '\n';
    (void)!::write(state->key_log_fd, text.data(), text.size());
  }
};

Endpoint::Endpoint(std::unique_ptr<State> state) : state_(std::move(state)) {}
Endpoint::Endpoint(Endpoint&&) noexcept = default;
Endpoint& Endpoint::operator=(Endpoint&&) noexcept = default;
Endpoint::~Endpoint() = default;

bool Endpoint::has_ticket() const {
  return state_->ticket != nullptr;
}

namespace {

bool use_groups(SSL_CTX* context, const EndpointSettings& settings) {
  const std::string groups = group_list(settings.groups, settings.key_shares);
  return groups.empty() || SSL_CTX_set1_groups_list(context, groups.c_str()) == 1;
}

void use_verification(SSL_CTX* context, const EndpointSettings& settings) {
  const bool verifies = !settings.trusted_pem.empty();
  const int mode = settings.side == Side::client ? SSL_VERIFY_PEER : SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  SSL_CTX_set_verify(context, verifies ? mode : SSL_VERIFY_NONE, nullptr);
  if (!verifies) {
    // Else the library builds and checks the chain all the same, and ignores what comes out.
    SSL_CTX_set_cert_verify_callback(context, [](X509_STORE_CTX*, void*) { return 1; }, nullptr);
  }
}

}  // namespace

Checked<Endpoint> Endpoint::create(const EndpointSettings& settings) {
  if (auto provided = provide_groups(settings.groups); !provided) {
    return std::unexpected(provided.error());
  }
  ERR_clear_error();
  auto state = std::make_unique<State>();
  const bool is_client = settings.side == Side::client;
  state->side = settings.side;
  state->verifies = !settings.trusted_pem.empty();
  state->host = settings.host;
  state->context.reset(SSL_CTX_new(is_client ? TLS_client_method() : TLS_server_method()));
  SSL_CTX* const context = state->context.get();
  const char* const where = is_client ? "client" : "server";
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 || !use_groups(context, settings) ||
      (!settings.chain_pem.empty() && !use_identity(context, settings)) ||
      (state->verifies && !use_trust(context, settings))) {
    return std::unexpected(Complaint{"the TLS library refuses the configuration: " + reason(last_error("").number),
                                     where, "see tlstrata doctor for what the library supports"});
  }
  if (!settings.ciphers.empty() && SSL_CTX_set_ciphersuites(context, settings.ciphers.c_str()) != 1) {
    ERR_clear_error();
    return std::unexpected(Complaint{"no such TLS 1.3 cipher suites", settings.ciphers,
                                     "join IANA's names with ':', like TLS_AES_128_GCM_SHA256", ExitCode::usage});
  }
  use_verification(context, settings);
  SSL_CTX_set_app_data(context, state.get());
  state->key_log_fd = settings.key_log_fd;
  if (settings.key_log_fd >= 0) {
    SSL_CTX_set_keylog_callback(context, State::log_keys);
  }
  if (is_client) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, State::keep_ticket);
  } else {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    constexpr std::array<unsigned char, 9> session_context{'t', 'l', 's', 't', 'r', 'a', 't', 'a', '1'};
    (void)SSL_CTX_set_session_id_context(context, session_context.data(), session_context.size());
  }
  return Endpoint(std::move(state));
}

namespace {

void record_event(int is_sent, int /*version*/, int type, const void* bytes, std::size_t size, SSL* /*ssl*/,
                  void* trace) {
  if (is_sent == 0) {
    return;
  }
  TraceEvent event;
  switch (type) {
    case SSL3_RT_HEADER:
      event.kind = TraceEvent::Kind::record;
      break;
    case SSL3_RT_INNER_CONTENT_TYPE:
      event.kind = TraceEvent::Kind::inner;
      break;
    case SSL3_RT_HANDSHAKE:
      event.kind = TraceEvent::Kind::handshake;
      break;
    case SSL3_RT_CHANGE_CIPHER_SPEC:
      event.kind = TraceEvent::Kind::change_cipher_spec;
      break;
    case SSL3_RT_ALERT:
      event.kind = TraceEvent::Kind::alert;
      break;
    default:
      return;
  }
  const auto* const first = static_cast<const std::uint8_t*>(bytes);
  event.bytes.assign(first, first + size);
  static_cast<Trace*>(trace)->push_back(std::move(event));
}

}  // namespace

void Peer::FreeSsl::operator()(ssl_st* ssl) const {
  SSL_free(ssl);
}

Result<Peer> Peer::start(const Endpoint& endpoint, Wire& wire, PeerStart how) {
  const Endpoint::State& state = *endpoint.state_;
  Peer peer;
  peer.ssl_.reset(SSL_new(state.context.get()));
  SSL* const ssl = peer.ssl_.get();
  BIO* const bio = ssl != nullptr ? new_wire_bio(wire) : nullptr;
  if (bio == nullptr) {
    return std::unexpected(last_error("TLS connection"));
  }
  SSL_set_bio(ssl, bio, bio);
  if (how.trace != nullptr) {  // before the side is set, which makes the record layer that asks for it
    SSL_set_msg_callback(ssl, record_event);
    SSL_ctrl(ssl, SSL_CTRL_SET_MSG_CALLBACK_ARG, 0, how.trace);
  }
  bool started = true;
  if (state.side == Side::client) {
    if (!state.host.empty()) {
      // SSL_set_tlsext_host_name(3), whose macro casts in the old style.
      started = SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                         const_cast<char*>(state.host.c_str())) == 1 &&
                (!state.verifies || SSL_set1_host(ssl, state.host.c_str()) == 1);
    }
    if (how.resume && state.ticket != nullptr) {
      started = started && SSL_set_session(ssl, state.ticket.get()) == 1;
    }
    SSL_set_connect_state(ssl);
  } else {
    started = SSL_set_num_tickets(ssl, how.tickets) == 1;
    SSL_set_accept_state(ssl);
  }
  if (!started) {
    return std::unexpected(last_error("TLS connection"));
  }
  return peer;
}

Step Peer::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) {
    return Step::done;
  }
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Step::want_read;
    case SSL_ERROR_WANT_WRITE:
      return Step::want_write;
    default:
      failure_ = ERR_get_error();
      ERR_clear_error();
      return Step::failed;
  }
}

void Peer::read_tickets() {
  std::uint8_t nothing = 0;
  std::size_t size = 0;
  (void)SSL_read_ex(ssl_.get(), &nothing, sizeof nothing, &size);
  ERR_clear_error();
}

void Peer::send_close_notify() {
  SSL_set_msg_callback(ssl_.get(), nullptr);
  (void)SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

Agreement Peer::agreement() const {
  const SSL* const ssl = ssl_.get();
  Agreement agreement;
  agreement.version = static_cast<std::uint16_t>(SSL_version(ssl));
  if (const SSL_CIPHER* const cipher = SSL_get_current_cipher(ssl)) {
    agreement.cipher = SSL_CIPHER_get_protocol_id(cipher);
  }
  agreement.group = negotiated_group(ssl_.get());
  agreement.resumed = SSL_session_reused(ssl) == 1;
  return agreement;
}

std::string Peer::failure() const {
  return failure_ == 0 ? "connection closed" : reason(failure_);
}

}  // namespace tlstrata::ossl
