// The floor under `tlstrata handshake`: OpenSSL's own calls in a loop and nothing else, for counting instructions.
//
// In:      CERTIFICATE KEY AUTHORITY GROUP COUNT: PEM files of a server for localhost, one group, how many handshakes.
// Out:     nothing; the exit code says whether all of them were done and verified.
// Source:  after the loop of OpenSSL's perftools (source/handshake.c): memory BIOs, both sides in turn, shutdown, free.
#include <openssl/ssl.h>

#include <cstdlib>
#include <memory>

namespace {

template <auto Free>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Context = std::unique_ptr<SSL_CTX, FreeWith<SSL_CTX_free>>;
using Connection = std::unique_ptr<SSL, FreeWith<SSL_free>>;

Context context_of(const SSL_METHOD* method, const char* group) {
  Context context(SSL_CTX_new(method));
  if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) != 1 ||
      SSL_CTX_set1_groups_list(context.get(), group) != 1) {
    return nullptr;
  }
  return context;
}

bool handshake(SSL_CTX* client_context, SSL_CTX* server_context) {
  const Connection client(SSL_new(client_context));
  const Connection server(SSL_new(server_context));
  BIO* const up = BIO_new(BIO_s_mem());
  BIO* const down = BIO_new(BIO_s_mem());
  if (!client || !server || up == nullptr || down == nullptr) {
    return false;
  }
  BIO_set_mem_eof_return(up, -1);
  BIO_set_mem_eof_return(down, -1);
  SSL_set_bio(server.get(), up, down);
  BIO_up_ref(up);
  BIO_up_ref(down);
  SSL_set_bio(client.get(), down, up);
  // SSL_set_tlsext_host_name(3), whose macro casts in the old style.
  SSL_ctrl(client.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>("localhost"));
  SSL_set1_host(client.get(), "localhost");
  SSL_set_num_tickets(server.get(), 0);
  int client_done = 0;
  int server_done = 0;
  for (int round = 0; round < 4 && (client_done != 1 || server_done != 1); ++round) {
    client_done = client_done == 1 ? 1 : SSL_connect(client.get());
    server_done = server_done == 1 ? 1 : SSL_accept(server.get());
  }
  SSL_shutdown(client.get());
  SSL_shutdown(server.get());
  return client_done == 1 && server_done == 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    return 2;
  }
  const Context client = context_of(TLS_client_method(), argv[4]);
  const Context server = context_of(TLS_server_method(), argv[4]);
  if (!client || !server || SSL_CTX_use_certificate_chain_file(server.get(), argv[1]) != 1 ||
      SSL_CTX_use_PrivateKey_file(server.get(), argv[2], SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_load_verify_file(client.get(), argv[3]) != 1) {
    return 3;
  }
  SSL_CTX_set_verify(client.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_session_cache_mode(server.get(), SSL_SESS_CACHE_OFF);
  const long count = std::strtol(argv[5], nullptr, 10);
  for (long i = 0; i < count; ++i) {
    if (!handshake(client.get(), server.get())) {
      return 1;
    }
  }
  return 0;
}
