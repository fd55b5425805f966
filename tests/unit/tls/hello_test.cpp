#include "tls/hello.h"

#include <gtest/gtest.h>

#include <random>

#include "unit/tls/rfc8448_vectors.h"
#include "unit/tls/scribe.h"

namespace tlstrata::tls::test {
namespace {

Bytes body_of(const char* trace, const char* name) {
  const Bytes whole = rfc8448::Vectors(trace).bytes(name);
  return {whole.begin() + 4, whole.end()};
}

TEST(ClientHello, OfRfc8448) {
  const auto hello = parse_client_hello(body_of("simple_1rtt", "message_client_hello"));
  ASSERT_TRUE(hello);
  EXPECT_EQ(hex(hello->random), "cb34ecb1e78163ba1c38c6dacb196a6dffa21a8d9912ec18a2ef6283024dece7");
  EXPECT_EQ(hello->legacy_version, 0x0303);
  EXPECT_EQ(hello->cipher_suites, (std::vector<std::uint16_t>{0x1301, 0x1303, 0x1302}));
  EXPECT_EQ(hello->versions, std::vector<std::uint16_t>{0x0304});
  EXPECT_EQ(hello->groups.front(), 0x001D);
  EXPECT_EQ(hello->groups.size(), 9U);
  ASSERT_EQ(hello->key_shares.size(), 1U);
  EXPECT_EQ(hello->key_shares[0].group, 0x001D);
  EXPECT_EQ(hello->key_shares[0].length, 32U);
  EXPECT_EQ(hello->server_name, "server");
  EXPECT_TRUE(hello->session_id.bytes().empty());
  EXPECT_FALSE(hello->offers_psk);
  EXPECT_FALSE(hello->offers_early_data);
  EXPECT_FALSE(hello->has_ech);
}

TEST(ClientHello, WithPskAndEarlyData) {
  const auto hello = parse_client_hello(body_of("resumed_0rtt", "message_client_hello"));
  ASSERT_TRUE(hello);
  EXPECT_TRUE(hello->offers_psk);
  EXPECT_TRUE(hello->offers_early_data);
}

TEST(ClientHello, EveryFieldThatIsBuiltComesBack) {
  HelloFields fields;
  fields.random.fill(0xAB);
  fields.suites = {0x1302, 0x0A0A, 0xC02F};
  fields.versions = {0x3A3A, 0x0304, 0x0303};
  fields.groups = {0x11EC, 0x001D, 0x2A2A};
  fields.key_shares = {{std::uint16_t{0x2A2A}, std::uint16_t{1}},
                       {std::uint16_t{0x11EC}, std::uint16_t{1216}},
                       {std::uint16_t{0x001D}, std::uint16_t{32}}};
  fields.alpn = {"h2", "http/1.1"};
  fields.server_name = "a.example";
  fields.psk = true;
  fields.early_data = true;
  const auto hello = parse_client_hello(client_hello_body(fields));
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->random, fields.random);
  EXPECT_TRUE(std::ranges::equal(hello->session_id.bytes(), fields.session_id));
  EXPECT_EQ(hello->cipher_suites, fields.suites);
  EXPECT_EQ(hello->versions, fields.versions);
  EXPECT_EQ(hello->groups, fields.groups);
  ASSERT_EQ(hello->key_shares.size(), 3U);
  EXPECT_EQ(hello->key_shares[1].group, 0x11EC);
  EXPECT_EQ(hello->key_shares[1].length, 1216U);
  EXPECT_EQ(hello->alpn, fields.alpn);
  EXPECT_EQ(hello->server_name, fields.server_name);
  EXPECT_TRUE(hello->offers_psk);
  EXPECT_TRUE(hello->offers_early_data);
}

Bytes hello_with_extensions(const Bytes& extensions) {
  return Writer()
      .u16(0x0303)
      .fill(32, 1)
      .vector8({})
      .vector16(list16({0x1301}))
      .vector8(Bytes{0})
      .raw(extensions)
      .bytes();
}

TEST(ClientHello, OldHellosEndBeforeTheExtensions) {
  EXPECT_TRUE(parse_client_hello(hello_with_extensions({})));
  EXPECT_TRUE(parse_client_hello(hello_with_extensions(Bytes{0, 0})));
  EXPECT_FALSE(parse_client_hello(hello_with_extensions(Bytes{0})));
}

TEST(ClientHello, ExtensionsThatMatter) {
  const auto with = [](std::uint16_t type, const Bytes& body) {
    Writer block;
    extension(block, type, body);
    return parse_client_hello(hello_with_extensions(Writer().vector16(block.bytes()).bytes()));
  };
  EXPECT_TRUE(with(0xFE0D, pattern(100)).value().has_ech);
  EXPECT_TRUE(with(35, pattern(10)).value().has_session_ticket);
  EXPECT_FALSE(with(35, {}).value().has_session_ticket) << "an empty one only asks for a ticket";
  EXPECT_TRUE(with(0, {}).value().server_name.empty());
  EXPECT_EQ(
      with(40, Writer().vector16(Writer().u16(29).vector16(pattern(32)).bytes()).bytes()).value().key_shares.size(), 1U)
      << "key_share's number before draft-23";
  EXPECT_TRUE(with(0x4A4A, {0}).has_value()) << "GREASE";
  EXPECT_TRUE(with(0xABCD, pattern(500)).has_value()) << "unknown";
}

TEST(ClientHello, ExtensionsThatContradictTheirLengths) {
  const auto refuses = [](std::uint16_t type, const Bytes& body) {
    Writer block;
    extension(block, type, body);
    return !parse_client_hello(hello_with_extensions(Writer().vector16(block.bytes()).bytes()));
  };
  EXPECT_TRUE(refuses(10, Bytes{0, 3, 0, 29, 0})) << "half a group";
  EXPECT_TRUE(refuses(10, Bytes{0, 4, 0, 29})) << "a list longer than its extension";
  EXPECT_TRUE(refuses(16, Bytes{0, 3, 5, 'h', '2'})) << "a name longer than its list";
  EXPECT_TRUE(refuses(43, Bytes{3, 3, 4, 3})) << "half a version";
  EXPECT_TRUE(refuses(51, Bytes{0, 5, 0, 29, 0, 32, 1})) << "a share longer than its list";
  EXPECT_TRUE(refuses(0, Bytes{0, 4, 0, 0, 9, 'x'})) << "a name longer than its list";
  EXPECT_TRUE(refuses(10, Bytes{})) << "no list at all";
}

TEST(ClientHello, TrailingBytesAreRefused) {
  Bytes body = client_hello_body({});
  body.push_back(0);
  EXPECT_FALSE(parse_client_hello(body));
}

TEST(ServerHello, OfRfc8448) {
  const auto hello = parse_server_hello(body_of("simple_1rtt", "message_server_hello"));
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->version, 0x0304);
  EXPECT_EQ(hello->cipher_suite, 0x1301);
  EXPECT_EQ(hello->group, 0x001D);
  EXPECT_FALSE(hello->is_retry);
  EXPECT_FALSE(hello->psk_identity);
  EXPECT_EQ(hex(hello->random), "a6af06a4121860dc5e6e60249cd34c95930c8ac5cb1434dac155772ed3e26928");
}

TEST(ServerHello, TheRetryIsKnownByItsRandom) {
  const auto hello = parse_server_hello(body_of("hello_retry_request", "message_hello_retry_request"));
  ASSERT_TRUE(hello);
  EXPECT_TRUE(hello->is_retry);
  EXPECT_EQ(hello->group, 0x0017);
}

TEST(ServerHello, OfDraftsWithoutTheLegacyFields) {
  const Bytes body =
      Writer()
          .u16(0x7F12)
          .raw(pattern(32))
          .u16(0x1301)
          .vector16(Writer().u16(40).vector16(Writer().u16(0x001D).vector16(pattern(32)).bytes()).bytes())
          .bytes();
  const auto hello = parse_server_hello(body);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->version, 0x7F12);
  EXPECT_EQ(hello->cipher_suite, 0x1301);
  EXPECT_EQ(hello->group, 0x001D);
}

TEST(ServerHello, ResumptionWithAndWithoutKeyShare) {
  ServerHelloFields fields;
  fields.psk_identity = std::uint16_t{0};
  auto hello = parse_server_hello(server_hello_body(fields));
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->psk_identity, 0);
  EXPECT_EQ(hello->group, 0x001D);
  fields.group.reset();  // psk_ke
  hello = parse_server_hello(server_hello_body(fields));
  ASSERT_TRUE(hello);
  EXPECT_FALSE(hello->group);
}

TEST(ServerHello, OfTls12) {
  ServerHelloFields fields;
  fields.version = 0x0303;
  fields.suite = 0xC02F;
  fields.alpn = "h2";
  const auto hello = parse_server_hello(server_hello_body(fields));
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->version, 0x0303);
  EXPECT_EQ(hello->cipher_suite, 0xC02F);
  EXPECT_EQ(hello->alpn, "h2");
  EXPECT_FALSE(hello->group);
}

TEST(EncryptedExtensionsMessage, AlpnAndEarlyData) {
  const auto body = [](const Bytes& message) { return Bytes(message.begin() + 4, message.end()); };
  auto parsed = parse_encrypted_extensions(body(encrypted_extensions_message("h2", true)));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->alpn, "h2");
  EXPECT_TRUE(parsed->accepts_early_data);
  parsed = parse_encrypted_extensions(body(encrypted_extensions_message("")));
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->alpn.empty());
  EXPECT_FALSE(parsed->accepts_early_data);
  EXPECT_TRUE(parse_encrypted_extensions(body_of("simple_1rtt", "message_encrypted_extensions")));
}

// The messages of real handshakes, by parser.
std::vector<Bytes> client_hellos() {
  std::vector<Bytes> bodies{client_hello_body({})};
  for (const char* trace : {"simple_1rtt", "resumed_0rtt", "hello_retry_request", "compatibility_mode"}) {
    bodies.push_back(body_of(trace, "message_client_hello"));
  }
  return bodies;
}
std::vector<Bytes> server_hellos() {
  ServerHelloFields old;
  old.version = 0x0303;
  old.alpn = "h2";
  return {server_hello_body(old), body_of("simple_1rtt", "message_server_hello"),
          body_of("resumed_0rtt", "message_server_hello"),
          body_of("hello_retry_request", "message_hello_retry_request")};
}

TEST(Hellos, EveryTruncationIsAnError) {
  for (const Bytes& body : client_hellos()) {
    ASSERT_TRUE(parse_client_hello(body));
    for (std::size_t length = 0; length < body.size(); ++length) {
      const auto parsed = parse_client_hello(std::span(body).first(length));
      // Without its extensions it is a whole hello of old.
      const bool ends_before_extensions = length == 2 + 32 + 1U + body[34] + 2 + body[36U + body[34]] + 2U;
      EXPECT_EQ(parsed.has_value(), ends_before_extensions) << "cut to " << length;
    }
  }
  for (const Bytes& body : server_hellos()) {
    ASSERT_TRUE(parse_server_hello(body));
    for (std::size_t length = 0; length < body.size(); ++length) {
      const bool ends_before_extensions = length == 2 + 32 + 1U + body[34] + 3;
      EXPECT_EQ(parse_server_hello(std::span(body).first(length)).has_value(), ends_before_extensions)
          << "cut to " << length;
    }
  }
  const Bytes extensions = body_of("simple_1rtt", "message_encrypted_extensions");
  for (std::size_t length = 0; length < extensions.size(); ++length) {
    EXPECT_FALSE(parse_encrypted_extensions(std::span(extensions).first(length))) << "cut to " << length;
  }
}

TEST(Hellos, NoDamageOfOneByteIsMoreThanAnError) {
  const auto damage = [](const Bytes& good, auto parse) {
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (const std::uint8_t value : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{0x7F}, std::uint8_t{0xFF}}) {
        Bytes bad = good;
        bad[at] = value;
        const auto parsed = parse(bad);
        EXPECT_TRUE(parsed.has_value() || parsed.error().offset <= bad.size());
      }
    }
  };
  for (const Bytes& body : client_hellos()) {
    damage(body, [](const Bytes& bad) { return parse_client_hello(bad); });
  }
  for (const Bytes& body : server_hellos()) {
    damage(body, [](const Bytes& bad) { return parse_server_hello(bad); });
  }
}

TEST(Hellos, RandomBytesNeverCrash) {
  std::mt19937 random(5);
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes(random() % 80);
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(random() % (round % 2 == 0 ? 256 : 4));
    }
    (void)parse_client_hello(bytes);
    (void)parse_server_hello(bytes);
    (void)parse_encrypted_extensions(bytes);
  }
}

TEST(Certificate, TheChainsBytes) {
  const Bytes one = Writer().u8(0).vector24(Writer().vector24(pattern(432)).vector16(pattern(9)).bytes()).bytes();
  const auto parsed = parse_certificate(one, true);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->count, 1U);
  EXPECT_EQ(parsed->bytes, 432U) << "without the extensions";
  const Bytes old = Writer().vector24(Writer().vector24(pattern(700)).vector24(pattern(5)).bytes()).bytes();
  EXPECT_EQ(parse_certificate(old, false)->bytes, 705U);
  EXPECT_EQ(parse_certificate(old, false)->count, 2U);
  EXPECT_FALSE(parse_certificate(old, true));
  const Bytes none = Writer().u8(0).vector24({}).bytes();
  EXPECT_EQ(parse_certificate(none, true)->count, 0U);
  EXPECT_FALSE(parse_certificate(std::span(old).first(old.size() - 1), false));
  const Bytes packed = Writer().u16(2).u24(5000).vector24(pattern(900)).bytes();
  EXPECT_EQ(parse_compressed_certificate(packed)->bytes, 5000U);
  EXPECT_FALSE(parse_compressed_certificate(packed)->count);
  EXPECT_FALSE(parse_compressed_certificate(std::span(packed).first(900)));
}

}  // namespace
}  // namespace tlstrata::tls::test
