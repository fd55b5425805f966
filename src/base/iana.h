// Names of TLS's code points: groups, cipher suites, alerts.
//
// In/Out:  16-bit code points to names and back. Groups are spelled as OpenSSL spells them (X25519, secp256r1,
//          X25519MLKEM768, MLKEM1024), cipher suites as IANA does. A code point without a name becomes 0xNNNN.
// Errors:  a name that is none: std::nullopt.
// Threads: any; constant tables.
// Source:  IANA, "Transport Layer Security (TLS) Parameters"; RFC 7919 (ffdhe), RFC 8734 (brainpool),
//          draft-ietf-tls-mlkem and draft-ietf-tls-ecdhe-mlkem; RFC 8701 (GREASE). X25519MLKEM512 is not IANA's: the
//          Open Quantum Safe provider's code point. X25519Kyber768Draft00 is the retired draft's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tlstrata {

struct NamedGroup {
  std::uint16_t code;
  std::string_view name;
};

// All groups that have a name here, by code point.
std::span<const NamedGroup> named_groups();

// "X25519MLKEM768"; "0x1a2b" where the code point has no name.
std::string group_name(std::uint16_t code);
// The same without a copy; empty where the code point has no name.
std::string_view known_group_name(std::uint16_t code);

// A group by its name or one of its other names (P-256, prime256v1, kyber...), in any case, or by code point, decimal
// or with 0x. Any code point is one, whether it has a name or not.
std::optional<std::uint16_t> group_code_point(std::string_view text);

// "TLS_AES_128_GCM_SHA256"; "0x1a2b" where the code point has no name.
std::string cipher_suite_name(std::uint16_t code);
std::string_view known_cipher_suite_name(std::uint16_t code);

// "handshake_failure", "certificate_required"; "alert 99" where the description has no name. RFC 8446 section 6 and
// IANA's registry of alerts.
std::string alert_name(std::uint8_t description);

// "0x1a2b"
std::string code_point_text(std::uint16_t code);

// RFC 8701: 0x0A0A, 0x1A1A, ... 0xFAFA, in suites, groups, key shares and extensions.
[[nodiscard]] constexpr bool is_grease(std::uint16_t code) {
  return (code & 0x0F0FU) == 0x0A0AU && (code >> 8U) == (code & 0xFFU);
}

}  // namespace tlstrata
