// Whole TLS 1.3 handshakes in memory, both sides in one library context.
#include <gmock/gmock.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "unit/provider/support.h"

#if defined(__SANITIZE_THREAD__)
// libcrypto is not instrumented: ThreadSanitizer cannot see how its table of algorithms is guarded. Its own groups get the
// same reports.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:ossl_ht_get\n";
}
#endif

namespace tlstrata::provider {
namespace {

using testing::HasSubstr;

using Context = std::unique_ptr<SSL_CTX, TestFree<SSL_CTX_free>>;
using Connection = std::unique_ptr<SSL, TestFree<SSL_free>>;
using Certificate = std::unique_ptr<X509, TestFree<X509_free>>;

// Signed by its own key; nobody verifies it.
Certificate certificate_of(EVP_PKEY* key) {
  Certificate certificate(X509_new());
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key);
  EXPECT_GT(X509_sign(certificate.get(), key, EVP_sha256()), 0);
  return certificate;
}

Bytes read_all(BIO* from) {
  Bytes bytes(BIO_ctrl_pending(from));
  if (!bytes.empty()) {
    BIO_read(from, bytes.data(), static_cast<int>(bytes.size()));
  }
  return bytes;
}

// Two ends and what flows between them; `on_server_flight` may change the server's bytes.
class Handshake {
 public:
  Handshake(const Library& library, const char* client_groups, const char* server_groups) {
    client_context_.reset(SSL_CTX_new_ex(library.context(), nullptr, TLS_client_method()));
    server_context_.reset(SSL_CTX_new_ex(library.context(), nullptr, TLS_server_method()));
    const Key key = library.generate("EC", "P-256");
    const Certificate certificate = certificate_of(key.get());
    SSL_CTX_use_certificate(server_context_.get(), certificate.get());
    SSL_CTX_use_PrivateKey(server_context_.get(), key.get());
    EXPECT_EQ(SSL_CTX_set1_groups_list(client_context_.get(), client_groups), 1) << errors();
    EXPECT_EQ(SSL_CTX_set1_groups_list(server_context_.get(), server_groups), 1) << errors();
    client_.reset(SSL_new(client_context_.get()));
    server_.reset(SSL_new(server_context_.get()));
    for (SSL* ssl : {client_.get(), server_.get()}) {
      SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    }
    SSL_set_connect_state(client_.get());
    SSL_set_accept_state(server_.get());
  }

  bool run(const std::function<void(Bytes&)>& on_client_flight = {},
           const std::function<void(Bytes&)>& on_server_flight = {}) {
    for (int turn = 0; turn < 6; ++turn) {
      const int client = SSL_do_handshake(client_.get());
      note(client_.get(), client, client_error);
      pass(client_.get(), server_.get(), client_flight, on_client_flight);
      const int server = SSL_do_handshake(server_.get());
      note(server_.get(), server, server_error);
      pass(server_.get(), client_.get(), server_flight, on_server_flight);
      if (client == 1 && server == 1) {
        return true;
      }
      if (!client_error.empty() || !server_error.empty()) {
        // The alert is on its way to the other side.
        note(client_.get(), SSL_do_handshake(client_.get()), client_error);
        note(server_.get(), SSL_do_handshake(server_.get()), server_error);
        return false;
      }
    }
    return false;
  }

  [[nodiscard]] SSL* client() const { return client_.get(); }
  [[nodiscard]] SSL* server() const { return server_.get(); }

  Bytes client_flight;  // the first
  Bytes server_flight;
  std::string client_error;
  std::string server_error;

 private:
  static void note(SSL* ssl, int result, std::string& error) {
    if (result != 1 && SSL_get_error(ssl, result) == SSL_ERROR_SSL && error.empty()) {
      error = errors();
    }
    ERR_clear_error();
  }

  static void pass(SSL* from, SSL* to, Bytes& first, const std::function<void(Bytes&)>& change) {
    Bytes bytes = read_all(SSL_get_wbio(from));
    if (bytes.empty()) {
      return;
    }
    if (first.empty()) {
      first = bytes;
      if (change) {
        change(bytes);
      }
    }
    BIO_write(SSL_get_rbio(to), bytes.data(), static_cast<int>(bytes.size()));
  }

  Context client_context_;
  Context server_context_;
  Connection client_;
  Connection server_;
};

// Where the key share of a group lies in a flight: after code point and length; the end where it has none.
std::size_t share_in(const Bytes& flight, std::uint16_t code, std::uint16_t size) {
  const Bytes head{static_cast<std::uint8_t>(code >> 8U), static_cast<std::uint8_t>(code & 0xFFU),
                   static_cast<std::uint8_t>(size >> 8U), static_cast<std::uint8_t>(size & 0xFFU)};
  const auto found = std::ranges::search(flight, head);
  return static_cast<std::size_t>(found.end() - flight.begin());
}

long negotiated(SSL* ssl) {
  return SSL_ctrl(ssl, SSL_CTRL_GET_NEGOTIATED_GROUP, 0, nullptr);
}

void expect_data_flows(const Handshake& handshake) {
  const std::string word = "what was said";
  ASSERT_EQ(SSL_write(handshake.client(), word.data(), static_cast<int>(word.size())), static_cast<int>(word.size()));
  const Bytes sent = read_all(SSL_get_wbio(handshake.client()));
  BIO_write(SSL_get_rbio(handshake.server()), sent.data(), static_cast<int>(sent.size()));
  std::string heard(100, '\0');
  const int size = SSL_read(handshake.server(), heard.data(), static_cast<int>(heard.size()));
  ASSERT_EQ(size, static_cast<int>(word.size()));
  EXPECT_EQ(heard.substr(0, word.size()), word);
}

TEST(HandshakeTest, X25519Mlkem512) {
  const Library library;
  ASSERT_TRUE(library.is_loaded()) << errors();
  for (const char* name : {"X25519MLKEM512", "x25519_mlkem512"}) {
    Handshake handshake(library, name, name);
    ASSERT_TRUE(handshake.run()) << handshake.client_error << handshake.server_error;
    for (SSL* ssl : {handshake.client(), handshake.server()}) {
      EXPECT_EQ(negotiated(ssl), TLSEXT_nid_unknown | 0x2FB6);
      EXPECT_STREQ(SSL_get0_group_name(ssl), "X25519MLKEM512");
      EXPECT_STREQ(SSL_get_version(ssl), "TLSv1.3");
    }
    EXPECT_LT(share_in(handshake.client_flight, 0x2FB6, 832) + 832, handshake.client_flight.size() + 1);
    EXPECT_LT(share_in(handshake.server_flight, 0x2FB6, 800) + 800, handshake.server_flight.size());
    expect_data_flows(handshake);
  }
}

TEST(HandshakeTest, HelloRetryRequestAsksForIt) {
  const Library library;
  Handshake handshake(library, "*X25519:X25519MLKEM512", "X25519MLKEM512");
  ASSERT_TRUE(handshake.run()) << handshake.client_error << handshake.server_error;
  EXPECT_EQ(negotiated(handshake.client()), TLSEXT_nid_unknown | 0x2FB6);
}

TEST(HandshakeTest, WithoutACommonGroupThereIsAnAlert) {
  const Library library;
  Handshake handshake(library, "X25519MLKEM512", "X25519MLKEM768");
  EXPECT_FALSE(handshake.run());
  EXPECT_THAT(handshake.client_error, HasSubstr("handshake failure"));
}

TEST(HandshakeTest, ConfiguredGroups) {
  Settings settings = group_settings(1, "P521MLKEM1024", "0xFE01", "ML-KEM-1024", "P-521", "classical-first", "256");
  const Settings second = group_settings(2, "X448MLKEM512", "0xFE02", "ML-KEM-512", "X448", "mlkem-first", "200");
  settings.insert(settings.end(), second.begin(), second.end());
  const Library library(settings);
  ASSERT_TRUE(library.is_loaded()) << errors();
  Handshake first(library, "P521MLKEM1024", "X25519:P521MLKEM1024");
  ASSERT_TRUE(first.run()) << first.client_error << first.server_error;
  EXPECT_EQ(negotiated(first.client()), TLSEXT_nid_unknown | 0xFE01);
  EXPECT_LT(share_in(first.client_flight, 0xFE01, 133 + 1568), first.client_flight.size());
  expect_data_flows(first);
  Handshake other(library, "X448MLKEM512", "X448MLKEM512");
  ASSERT_TRUE(other.run()) << other.client_error << other.server_error;
  EXPECT_EQ(negotiated(other.server()), TLSEXT_nid_unknown | 0xFE02);
  expect_data_flows(other);
}

// One bit of the server's share: what ML-KEM does about it shows only when the first record is opened.
TEST(HandshakeTest, AChangedServerShareFailsAtTheFirstRecord) {
  const Library library;
  for (const std::size_t offset : {0U, 400U, 767U, 768U}) {
    Handshake handshake(library, "X25519MLKEM512", "X25519MLKEM512");
    EXPECT_FALSE(handshake.run({}, [&](Bytes& flight) { flight.at(share_in(flight, 0x2FB6, 800) + offset) ^= 1U; }));
    EXPECT_THAT(handshake.client_error, HasSubstr("bad record mac")) << offset;
  }
}

TEST(HandshakeTest, SharesOfX25519OfZerosAreRefused) {
  const Library library;
  const auto zero = [](std::uint16_t size, std::size_t from) {
    return [size, from](Bytes& flight) {
      const auto share = flight.begin() + static_cast<std::ptrdiff_t>(share_in(flight, 0x2FB6, size) + from);
      std::fill_n(share, 32, std::uint8_t{0});
    };
  };
  Handshake by_server(library, "X25519MLKEM512", "X25519MLKEM512");
  EXPECT_FALSE(by_server.run({}, zero(800, 768)));
  EXPECT_THAT(by_server.client_error, testing::Not(testing::AnyOf(testing::IsEmpty(), HasSubstr("bad record mac"))));
  Handshake by_client(library, "X25519MLKEM512", "X25519MLKEM512");
  EXPECT_FALSE(by_client.run(zero(832, 800)));
  EXPECT_NE(by_client.server_error, "");
}

TEST(HandshakeTest, AClientShareOutOfRangeIsAnIllegalParameter) {
  const Library library;
  Handshake handshake(library, "X25519MLKEM512", "X25519MLKEM512");
  EXPECT_FALSE(handshake.run([](Bytes& flight) {
    const std::size_t share = share_in(flight, 0x2FB6, 832);
    flight.at(share) = 0xFF;
    flight.at(share + 1) = 0xFF;
  }));
  EXPECT_THAT(handshake.client_error, HasSubstr("illegal parameter"));
}

TEST(HandshakeTest, ThreadsShareOneProvider) {
  const Library library;
  std::vector<std::thread> threads;
  std::vector<int> made(4, 0);
  for (int& count : made) {
    threads.emplace_back([&library, &count] {
      for (int i = 0; i < 25; ++i) {
        Handshake handshake(library, "X25519MLKEM512", "X25519MLKEM512");
        count += handshake.run() ? 1 : 0;
      }
      OPENSSL_thread_stop_ex(library.context());
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_THAT(made, testing::Each(25));
}

}  // namespace
}  // namespace tlstrata::provider
