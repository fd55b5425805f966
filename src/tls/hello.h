// Parses the handshake messages that boundaries and columns need.
//
// In:        message bodies (without the 4-byte handshake header).
// Out:       ClientHello, ServerHello, the ALPN of EncryptedExtensions, certificate chain bytes.
// Errors:    truncated, malformed, as the RFC's vectors demand. Unknown extensions are skipped.
// Source:    RFC 8446 sections 4.1.2, 4.1.3, 4.2, 4.3.1, 4.4.2; RFC 5246 section 7.4.2; RFC 8879 (compressed
//            certificates); RFC 7301 (ALPN); RFC 6066 (SNI).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "tls/types.h"

namespace tlstrata::tls {

struct EncryptedExtensions {
  std::string alpn;  // empty: none
  bool accepts_early_data = false;
};

// A Certificate message: what a side sends to prove who it is.
struct CertificateChain {
  std::uint32_t bytes = 0;             // of the certificates' DER; CompressedCertificate: of the message it unpacks to
  std::optional<std::uint16_t> count;  // absent in a CompressedCertificate
};

Result<ClientHello> parse_client_hello(std::span<const std::uint8_t> body);
// As above into an object whose memory serves again; after an Error its content is unspecified.
Result<void> parse_client_hello(std::span<const std::uint8_t> body, ClientHello& hello);
Result<ServerHello> parse_server_hello(std::span<const std::uint8_t> body);
Result<EncryptedExtensions> parse_encrypted_extensions(std::span<const std::uint8_t> body);
Result<CertificateChain> parse_certificate(std::span<const std::uint8_t> body, bool is_tls13);
Result<CertificateChain> parse_compressed_certificate(std::span<const std::uint8_t> body);

}  // namespace tlstrata::tls
