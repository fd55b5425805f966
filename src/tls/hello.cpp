#include "tls/hello.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/byte_reader.h"

namespace tlstrata::tls {
namespace {

namespace extension {
constexpr std::uint16_t server_name = 0;
constexpr std::uint16_t supported_groups = 10;
constexpr std::uint16_t alpn = 16;
constexpr std::uint16_t session_ticket = 35;
constexpr std::uint16_t pre_shared_key = 41;
constexpr std::uint16_t early_data = 42;
constexpr std::uint16_t supported_versions = 43;
constexpr std::uint16_t key_share = 51;
constexpr std::uint16_t key_share_drafts = 40;  // its number before draft-23
constexpr std::uint16_t encrypted_client_hello = 0xFE0D;
}  // namespace extension

constexpr unsigned draft_versions = 0x7F;  // the high byte: 0x7F12 is draft-18

// SHA-256 of "HelloRetryRequest" (RFC 8446 section 4.1.3).
constexpr std::array<std::uint8_t, 32> retry_random{0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C,
                                                    0x02, 0x1E, 0x65, 0xB8, 0x91, 0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB,
                                                    0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C};

std::string text(std::span<const std::uint8_t> bytes) {
  return {bytes.begin(), bytes.end()};
}

void read_u16_list(ByteReader& list, std::vector<std::uint16_t>& values) {
  values.clear();
  values.reserve(list.remaining() / 2);
  while (!list.empty()) {
    values.push_back(list.u16());
  }
}

Result<void> read_server_name(ByteReader& body, ClientHello& hello) {
  auto names = body.sub16();
  while (!names.empty()) {
    const std::uint8_t type = names.u8();
    auto name = names.sub16();
    const auto bytes = name.rest();
    if (auto done = name.finish("server_name"); !done) {
      return done;
    }
    if (type == 0 && hello.server_name.empty()) {
      hello.server_name = text(bytes);
    }
  }
  return names.finish("server_name");
}

Result<void> read_alpn(ByteReader& body, std::vector<std::string>& protocols) {
  auto list = body.sub16();
  while (!list.empty()) {
    auto name = list.sub8();
    protocols.push_back(text(name.rest()));
    if (auto done = name.finish("application_layer_protocol_negotiation"); !done) {
      return done;
    }
  }
  return list.finish("application_layer_protocol_negotiation");
}

Result<void> read_key_shares(ByteReader& body, ClientHello& hello) {
  auto list = body.sub16();
  while (!list.empty()) {
    KeyShareEntry entry;
    entry.group = list.u16();
    entry.length = list.u16();
    list.skip(entry.length);
    hello.key_shares.push_back(entry);
  }
  return list.finish("key_share");
}

Result<void> read_client_extension(std::uint16_t type, ByteReader& body, ClientHello& hello) {
  switch (type) {
    case extension::server_name:
      return body.empty() ? Result<void>{} : read_server_name(body, hello);
    case extension::supported_groups: {
      auto list = body.sub16();
      read_u16_list(list, hello.groups);
      return list.finish("supported_groups");
    }
    case extension::alpn:
      return read_alpn(body, hello.alpn);
    case extension::supported_versions: {
      auto list = body.sub8();
      read_u16_list(list, hello.versions);
      return list.finish("supported_versions");
    }
    case extension::key_share:
    case extension::key_share_drafts:
      return read_key_shares(body, hello);
    case extension::session_ticket:
      hello.has_session_ticket = !body.empty();
      break;
    case extension::pre_shared_key:
      hello.offers_psk = true;
      break;
    case extension::early_data:
      hello.offers_early_data = true;
      break;
    case extension::encrypted_client_hello:
      hello.has_ech = true;
      break;
    default:
      break;
  }
  return {};
}

Result<void> read_server_extension(std::uint16_t type, ByteReader& body, ServerHello& hello) {
  switch (type) {
    case extension::supported_versions:
      hello.version = body.u16();
      break;
    case extension::key_share:
    case extension::key_share_drafts:
      hello.group = body.u16();  // a HelloRetryRequest has no more than this
      break;
    case extension::pre_shared_key:
      hello.psk_identity = body.u16();
      break;
    case extension::alpn: {
      std::vector<std::string> protocols;
      if (auto done = read_alpn(body, protocols); !done) {
        return done;
      }
      if (!protocols.empty()) {
        hello.alpn = protocols.front();
      }
      break;
    }
    default:
      break;
  }
  return {};
}

// Walks an extension block; `read` takes each one's type and body.
template <typename Read>
Result<void> read_extensions(ByteReader& reader, Read read) {
  auto block = reader.sub16();
  while (!block.empty()) {
    const std::uint16_t type = block.u16();
    auto body = block.sub16();
    if (auto done = read(type, body); !done) {
      (void)body.finish_partial("extension");
      (void)block.finish_partial("extensions");
      return done;
    }
    if (auto inside = body.finish_partial("extension"); !inside) {
      (void)block.finish_partial("extensions");
      return inside;
    }
  }
  return block.finish("extensions");
}

// As a new one, but with the memory of the old.
void clear(ClientHello& hello) {
  ClientHello cleared;
  const auto keep = [](auto& from, auto& to) {
    from.clear();
    to.swap(from);
  };
  keep(hello.cipher_suites, cleared.cipher_suites);
  keep(hello.versions, cleared.versions);
  keep(hello.groups, cleared.groups);
  keep(hello.key_shares, cleared.key_shares);
  keep(hello.alpn, cleared.alpn);
  hello = std::move(cleared);
}

}  // namespace

Result<ClientHello> parse_client_hello(std::span<const std::uint8_t> body) {
  Result<ClientHello> hello;
  if (const auto done = parse_client_hello(body, *hello); !done) {
    hello = std::unexpected(done.error());
  }
  return hello;
}

Result<void> parse_client_hello(std::span<const std::uint8_t> body, ClientHello& hello) {
  clear(hello);
  ByteReader reader(body);
  hello.legacy_version = reader.u16();
  std::ranges::copy(reader.take(32), hello.random.begin());
  auto session_id = reader.sub8();
  hello.session_id.assign(session_id.rest());
  auto suites = reader.sub16();
  read_u16_list(suites, hello.cipher_suites);
  auto compression = reader.sub8();
  compression.skip(compression.remaining());
  Result<void> done = session_id.finish("legacy_session_id");
  const Result<void> suites_done = suites.finish("cipher_suites");
  const Result<void> compression_done = compression.finish("legacy_compression_methods");
  if (done && suites_done && compression_done && !reader.empty()) {  // SSL 3 and TLS 1.0 hellos may end here
    done = read_extensions(reader, [&hello](std::uint16_t type, ByteReader& extension_body) {
      return read_client_extension(type, extension_body, hello);
    });
  }
  const Result<void> whole = reader.finish("ClientHello");
  for (const Result<void>* each : std::array<const Result<void>*, 4>{&done, &suites_done, &compression_done, &whole}) {
    if (!*each) {
      return *each;
    }
  }
  return {};
}

Result<ServerHello> parse_server_hello(std::span<const std::uint8_t> body) {
  ByteReader reader(body);
  ServerHello hello;
  hello.version = reader.u16();
  std::ranges::copy(reader.take(32), hello.random.begin());
  hello.is_retry = std::ranges::equal(hello.random, retry_random);
  Result<void> done;
  if (hello.version >> 8U == draft_versions) {  // TLS 1.3 up to draft-21 left out what the RFC calls legacy
    hello.cipher_suite = reader.u16();
  } else {
    auto session_id = reader.sub8();
    hello.session_id.assign(session_id.rest());
    hello.cipher_suite = reader.u16();
    reader.skip(1);  // legacy_compression_method
    done = session_id.finish("legacy_session_id_echo");
  }
  if (done && !reader.empty()) {
    done = read_extensions(reader, [&hello](std::uint16_t type, ByteReader& extension_body) {
      return read_server_extension(type, extension_body, hello);
    });
  }
  const Result<void> whole = reader.finish("ServerHello");
  if (!done) {
    return std::unexpected(done.error());
  }
  if (!whole) {
    return std::unexpected(whole.error());
  }
  return hello;
}

Result<EncryptedExtensions> parse_encrypted_extensions(std::span<const std::uint8_t> body) {
  ByteReader reader(body);
  EncryptedExtensions result;
  const Result<void> done =
      read_extensions(reader, [&result](std::uint16_t type, ByteReader& extension_body) -> Result<void> {
        if (type == extension::early_data) {
          result.accepts_early_data = true;
        } else if (type == extension::alpn) {
          std::vector<std::string> protocols;
          if (auto read = read_alpn(extension_body, protocols); !read) {
            return read;
          }
          result.alpn = protocols.empty() ? std::string{} : protocols.front();
        }
        return {};
      });
  const Result<void> whole = reader.finish("EncryptedExtensions");
  if (!done) {
    return std::unexpected(done.error());
  }
  if (!whole) {
    return std::unexpected(whole.error());
  }
  return result;
}

Result<CertificateChain> parse_certificate(std::span<const std::uint8_t> body, bool is_tls13) {
  ByteReader reader(body);
  if (is_tls13) {
    reader.skip(reader.u8());  // certificate_request_context
  }
  auto list = reader.sub24();
  CertificateChain chain;
  chain.count = 0;
  while (!list.empty()) {
    const std::uint32_t size = list.u24();
    list.skip(size);
    if (is_tls13) {
      list.skip(list.u16());  // extensions: OCSP, SCTs
    }
    chain.bytes += list.ok() ? size : 0;
    ++*chain.count;
  }
  const Result<void> entries = list.finish("certificate_list");
  const Result<void> whole = reader.finish("Certificate");
  for (const Result<void>* each : {&entries, &whole}) {
    if (!*each) {
      return std::unexpected(each->error());
    }
  }
  return chain;
}

Result<CertificateChain> parse_compressed_certificate(std::span<const std::uint8_t> body) {
  ByteReader reader(body);
  reader.skip(2);  // algorithm
  CertificateChain chain;
  chain.bytes = reader.u24();
  reader.skip(reader.u24());
  if (const auto whole = reader.finish("CompressedCertificate"); !whole) {
    return std::unexpected(whole.error());
  }
  return chain;
}

}  // namespace tlstrata::tls
