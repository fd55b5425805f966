#include "handshake/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/byte_reader.h"
#include "base/iana.h"

namespace tlstrata::handshake {
namespace {

enum class MessageType : std::uint8_t {
  client_hello = 1,
  server_hello = 2,
  new_session_ticket = 4,
  encrypted_extensions = 8,
  certificate = 11,
  certificate_request = 13,
  certificate_verify = 15,
  finished = 20,
};

struct NamedExtension {
  std::uint16_t type;
  const char* name;
};

constexpr std::array extension_names{NamedExtension{0, "server_name"},
                                     NamedExtension{5, "status_request"},
                                     NamedExtension{10, "supported_groups"},
                                     NamedExtension{11, "ec_point_formats"},
                                     NamedExtension{13, "signature_algorithms"},
                                     NamedExtension{16, "application_layer_protocol_negotiation"},
                                     NamedExtension{21, "padding"},
                                     NamedExtension{22, "encrypt_then_mac"},
                                     NamedExtension{23, "extended_master_secret"},
                                     NamedExtension{27, "compress_certificate"},
                                     NamedExtension{35, "session_ticket"},
                                     NamedExtension{41, "pre_shared_key"},
                                     NamedExtension{42, "early_data"},
                                     NamedExtension{43, "supported_versions"},
                                     NamedExtension{44, "cookie"},
                                     NamedExtension{45, "psk_key_exchange_modes"},
                                     NamedExtension{47, "certificate_authorities"},
                                     NamedExtension{49, "post_handshake_auth"},
                                     NamedExtension{50, "signature_algorithms_cert"},
                                     NamedExtension{51, "key_share"},
                                     NamedExtension{0xFF01, "renegotiation_info"}};
constexpr std::uint16_t supported_groups_type = 10;
constexpr std::uint16_t key_share_type = 51;

std::string extension_name(std::uint16_t type) {
  const auto known = std::ranges::find(extension_names, type, &NamedExtension::type);
  return known != extension_names.end() ? known->name : fmt::format("extension {}", type);
}

// SHA-256 of "HelloRetryRequest" (RFC 8446 section 4.1.3), its first bytes; nobody else has them by chance.
constexpr std::array<std::uint8_t, 8> retry_random{0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11};

// Takes a message apart: every byte read is said by exactly one line.
class Dissection {
 public:
  explicit Dissection(std::span<const std::uint8_t> message) : reader_(message) {
    type_ = static_cast<MessageType>(reader_.u8());
    const std::uint32_t length = reader_.u24();
    well_formed_ = reader_.ok() && length == reader_.remaining();
    add("message header", {}, 4);
  }

  Result<MessageAccount> take_apart();

 private:
  void add(std::string field, std::string detail, std::size_t bytes) {
    account_.lines.push_back({{}, std::move(field), std::move(detail), static_cast<std::uint32_t>(bytes)});
  }
  void hello(bool is_client);
  void extensions(bool is_client);
  std::string extension_detail(std::uint16_t type, std::span<const std::uint8_t> body, bool is_client) const;
  void certificate();
  void verify();

  ByteReader reader_;
  MessageType type_{};
  bool well_formed_ = false;
  bool is_retry_ = false;
  MessageAccount account_;
};

std::string group_names_of(std::span<const std::uint8_t> body) {
  ByteReader reader(body);
  ByteReader list = reader.sub16();
  std::string names;
  while (!list.empty()) {
    names += (names.empty() ? "" : " ") + group_name(list.u16());
  }
  const bool whole = list.finish("supported_groups").has_value();
  return reader.finish("supported_groups") && whole ? names : std::string();
}

// "X25519MLKEM768 1216, X25519 32": groups with the lengths of their shares.
std::string shares_of(std::span<const std::uint8_t> body, bool is_list) {
  ByteReader reader(body);
  if (is_list) {
    reader.skip(2);
  }
  std::string shares;
  while (!reader.empty()) {
    const std::string name = group_name(reader.u16());
    shares += shares.empty() ? "" : ", ";
    if (reader.empty()) {  // a HelloRetryRequest names a group alone
      shares += name;
      break;
    }
    const std::uint16_t size = reader.u16();
    reader.skip(size);
    shares += fmt::format("{} {}", name, size);
  }
  return reader.finish("key_share") ? shares : std::string();
}

std::string Dissection::extension_detail(std::uint16_t type, std::span<const std::uint8_t> body, bool is_client) const {
  switch (type) {
    case supported_groups_type:
      return group_names_of(body);
    case key_share_type:
      return shares_of(body, is_client);
    default:
      return {};
  }
}

void Dissection::extensions(bool is_client) {
  add("extensions length", {}, 2);
  ByteReader block = reader_.sub16();
  while (!block.empty()) {
    const std::uint16_t type = block.u16();
    ByteReader body = block.sub16();
    const auto bytes = body.rest();
    well_formed_ = body.finish("extension").has_value() && well_formed_;
    add(extension_name(type), extension_detail(type, bytes, is_client), 4 + bytes.size());
  }
  well_formed_ = block.finish("extensions").has_value() && well_formed_;
}

void Dissection::hello(bool is_client) {
  reader_.skip(2);
  const auto random = reader_.take(32);
  is_retry_ = !is_client && random.size() == 32 && std::ranges::equal(random.first(retry_random.size()), retry_random);
  add("version and random", {}, 34);
  const std::size_t session_id = reader_.u8();
  reader_.skip(session_id);
  add("session id", {}, 1 + session_id);
  if (is_client) {
    const std::size_t suites = reader_.u16();
    reader_.skip(suites);
    add("cipher suites", fmt::format("{} suites", suites / 2), 2 + suites);
    const std::size_t methods = reader_.u8();
    reader_.skip(methods);
    add("compression methods", {}, 1 + methods);
  } else {
    reader_.skip(3);
    add("cipher suite and compression", {}, 3);
  }
  extensions(is_client);
}

void Dissection::certificate() {
  const std::size_t context = reader_.u8();
  reader_.skip(context);
  add("request context", {}, 1 + context);
  add("list length", {}, 3);
  ByteReader list = reader_.sub24();
  for (int i = 1; !list.empty(); ++i) {
    const std::uint32_t size = list.u24();
    list.skip(size);
    const std::size_t more = list.u16();
    list.skip(more);
    add(fmt::format("certificate {}", i), fmt::format("DER {}", size), 3 + size + 2 + more);
  }
  well_formed_ = list.finish("certificate_list").has_value() && well_formed_;
}

std::string signature_scheme_name(std::uint16_t scheme) {
  switch (scheme) {
    case 0x0403:
      return "ecdsa_secp256r1_sha256";
    case 0x0503:
      return "ecdsa_secp384r1_sha384";
    case 0x0804:
      return "rsa_pss_rsae_sha256";
    case 0x0904:
      return "mldsa44";
    case 0x0905:
      return "mldsa65";
    default:
      return code_point_text(scheme);
  }
}

void Dissection::verify() {
  const std::uint16_t scheme = reader_.u16();
  const std::size_t size = reader_.u16();
  reader_.skip(size);
  add("algorithm and length", {}, 4);
  add("signature", fmt::format("{} {}", signature_scheme_name(scheme), size), size);
  account_.signature_bytes = static_cast<std::uint32_t>(size);
}

Result<MessageAccount> Dissection::take_apart() {
  switch (type_) {
    case MessageType::client_hello:
      account_.name = "ClientHello";
      hello(true);
      break;
    case MessageType::server_hello:
      hello(false);
      account_.name = is_retry_ ? "HelloRetryRequest" : "ServerHello";
      break;
    case MessageType::encrypted_extensions:
      account_.name = "EncryptedExtensions";
      extensions(false);
      break;
    case MessageType::certificate_request: {
      account_.name = "CertificateRequest";
      const std::size_t context = reader_.u8();
      reader_.skip(context);
      add("request context", {}, 1 + context);
      extensions(false);
      break;
    }
    case MessageType::certificate:
      account_.name = "Certificate";
      certificate();
      break;
    case MessageType::certificate_verify:
      account_.name = "CertificateVerify";
      verify();
      break;
    case MessageType::finished:
      account_.name = "Finished";
      add("verify_data", {}, reader_.rest().size());
      break;
    case MessageType::new_session_ticket:
      account_.name = "NewSessionTicket";
      add("ticket", {}, reader_.rest().size());
      break;
    default:
      account_.name = fmt::format("message {}", static_cast<unsigned>(type_));
      add("body", {}, reader_.rest().size());
      break;
  }
  if (auto whole = reader_.finish("handshake message"); !whole) {
    return std::unexpected(whole.error());
  }
  if (!well_formed_) {
    return std::unexpected(Error{ErrorCode::malformed, "a handshake message that its own lengths don't describe"});
  }
  return std::move(account_);
}

}  // namespace

Result<MessageAccount> account_of_message(std::span<const std::uint8_t> message) {
  return Dissection(message).take_apart();
}

}  // namespace tlstrata::handshake
