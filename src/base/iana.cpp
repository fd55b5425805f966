#include "base/iana.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/ascii.h"

namespace tlstrata {
namespace {

// Sorted by code.
constexpr std::array groups{
    NamedGroup{0x0001, "sect163k1"},
    NamedGroup{0x0002, "sect163r1"},
    NamedGroup{0x0003, "sect163r2"},
    NamedGroup{0x0004, "sect193r1"},
    NamedGroup{0x0005, "sect193r2"},
    NamedGroup{0x0006, "sect233k1"},
    NamedGroup{0x0007, "sect233r1"},
    NamedGroup{0x0008, "sect239k1"},
    NamedGroup{0x0009, "sect283k1"},
    NamedGroup{0x000A, "sect283r1"},
    NamedGroup{0x000B, "sect409k1"},
    NamedGroup{0x000C, "sect409r1"},
    NamedGroup{0x000D, "sect571k1"},
    NamedGroup{0x000E, "sect571r1"},
    NamedGroup{0x000F, "secp160k1"},
    NamedGroup{0x0010, "secp160r1"},
    NamedGroup{0x0011, "secp160r2"},
    NamedGroup{0x0012, "secp192k1"},
    NamedGroup{0x0013, "secp192r1"},
    NamedGroup{0x0014, "secp224k1"},
    NamedGroup{0x0015, "secp224r1"},
    NamedGroup{0x0016, "secp256k1"},
    NamedGroup{0x0017, "secp256r1"},
    NamedGroup{0x0018, "secp384r1"},
    NamedGroup{0x0019, "secp521r1"},
    NamedGroup{0x001A, "brainpoolP256r1"},
    NamedGroup{0x001B, "brainpoolP384r1"},
    NamedGroup{0x001C, "brainpoolP512r1"},
    NamedGroup{0x001D, "X25519"},
    NamedGroup{0x001E, "X448"},
    NamedGroup{0x001F, "brainpoolP256r1tls13"},
    NamedGroup{0x0020, "brainpoolP384r1tls13"},
    NamedGroup{0x0021, "brainpoolP512r1tls13"},
    NamedGroup{0x0022, "GC256A"},
    NamedGroup{0x0023, "GC256B"},
    NamedGroup{0x0024, "GC256C"},
    NamedGroup{0x0025, "GC256D"},
    NamedGroup{0x0026, "GC512A"},
    NamedGroup{0x0027, "GC512B"},
    NamedGroup{0x0028, "GC512C"},
    NamedGroup{0x0029, "curveSM2"},
    NamedGroup{0x0100, "ffdhe2048"},
    NamedGroup{0x0101, "ffdhe3072"},
    NamedGroup{0x0102, "ffdhe4096"},
    NamedGroup{0x0103, "ffdhe6144"},
    NamedGroup{0x0104, "ffdhe8192"},
    NamedGroup{0x0200, "MLKEM512"},
    NamedGroup{0x0201, "MLKEM768"},
    NamedGroup{0x0202, "MLKEM1024"},
    NamedGroup{0x11EB, "SecP256r1MLKEM768"},
    NamedGroup{0x11EC, "X25519MLKEM768"},
    NamedGroup{0x11ED, "SecP384r1MLKEM1024"},
    NamedGroup{0x11EE, "curveSM2MLKEM768"},
    NamedGroup{0x2FB6, "X25519MLKEM512"},
    NamedGroup{0x6399, "X25519Kyber768Draft00"},
    NamedGroup{0x639A, "SecP256r1Kyber768Draft00"},
};
static_assert(std::ranges::is_sorted(groups, {}, &NamedGroup::code));

// What else people and libraries call these groups.
constexpr std::array aliases{
    NamedGroup{0x0013, "prime192v1"},  NamedGroup{0x0013, "P-192"},           NamedGroup{0x0015, "P-224"},
    NamedGroup{0x0017, "prime256v1"},  NamedGroup{0x0017, "P-256"},           NamedGroup{0x0018, "P-384"},
    NamedGroup{0x0019, "P-521"},       NamedGroup{0x0200, "ML-KEM-512"},      NamedGroup{0x0201, "ML-KEM-768"},
    NamedGroup{0x0202, "ML-KEM-1024"}, NamedGroup{0x2FB6, "x25519_mlkem512"}, NamedGroup{0x6399, "x25519_kyber768"},
};

struct Alert {
  std::uint8_t description;
  std::string_view name;
};
constexpr std::array alerts{
    Alert{0, "close_notify"},
    Alert{10, "unexpected_message"},
    Alert{20, "bad_record_mac"},
    Alert{21, "decryption_failed"},
    Alert{22, "record_overflow"},
    Alert{30, "decompression_failure"},
    Alert{40, "handshake_failure"},
    Alert{41, "no_certificate"},
    Alert{42, "bad_certificate"},
    Alert{43, "unsupported_certificate"},
    Alert{44, "certificate_revoked"},
    Alert{45, "certificate_expired"},
    Alert{46, "certificate_unknown"},
    Alert{47, "illegal_parameter"},
    Alert{48, "unknown_ca"},
    Alert{49, "access_denied"},
    Alert{50, "decode_error"},
    Alert{51, "decrypt_error"},
    Alert{60, "export_restriction"},
    Alert{70, "protocol_version"},
    Alert{71, "insufficient_security"},
    Alert{80, "internal_error"},
    Alert{86, "inappropriate_fallback"},
    Alert{90, "user_canceled"},
    Alert{100, "no_renegotiation"},
    Alert{109, "missing_extension"},
    Alert{110, "unsupported_extension"},
    Alert{111, "certificate_unobtainable"},
    Alert{112, "unrecognized_name"},
    Alert{113, "bad_certificate_status_response"},
    Alert{114, "bad_certificate_hash_value"},
    Alert{115, "unknown_psk_identity"},
    Alert{116, "certificate_required"},
    Alert{117, "general_error"},
    Alert{120, "no_application_protocol"},
    Alert{121, "ech_required"},
};

std::optional<std::uint16_t> parse_code_point(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) {
    text.remove_prefix(2);
  }
  std::uint16_t code = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, code, hexadecimal ? 16 : 10);
  if (parsed.ec != std::errc{} || parsed.ptr != end) {
    return std::nullopt;
  }
  return code;
}

}  // namespace

std::span<const NamedGroup> named_groups() {
  return groups;
}

std::string code_point_text(std::uint16_t code) {
  return fmt::format("0x{:04x}", code);
}

std::string alert_name(std::uint8_t description) {
  const auto found = std::ranges::find(alerts, description, &Alert::description);
  return found != alerts.end() ? std::string(found->name) : fmt::format("alert {}", description);
}

std::string_view known_group_name(std::uint16_t code) {
  const auto found = std::ranges::lower_bound(groups, code, {}, &NamedGroup::code);
  return found != groups.end() && found->code == code ? found->name : std::string_view{};
}

std::string group_name(std::uint16_t code) {
  const std::string_view known = known_group_name(code);
  return known.empty() ? code_point_text(code) : std::string(known);
}

std::optional<std::uint16_t> group_code_point(std::string_view text) {
  for (const std::span<const NamedGroup> table : {std::span<const NamedGroup>(groups), {aliases}}) {
    const auto found =
        std::ranges::find_if(table, [&](const NamedGroup& group) { return same_name(group.name, text); });
    if (found != table.end()) {
      return found->code;
    }
  }
  return parse_code_point(text);
}

}  // namespace tlstrata
