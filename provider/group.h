// What a hybrid group is made of, and where its parts lie in a share and in a secret.
//
// In/Out:    a Group names one ML-KEM parameter set and one (EC)DH group of OpenSSL's and their order. Sizes in bytes.
// Ownership: parts point to constant tables; a Group is plain data without a heap.
// Threads:   constant once the provider is loaded.
// Source:    FIPS 203 table 3 (sizes of ML-KEM); RFC 7748; SEC 1 section 2.3.3 (uncompressed points);
//            draft-ietf-tls-hybrid-design section 3 (shares and secrets are concatenated, in one order).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tlstrata::provider {

struct KemPart {
  const char* algorithm;  // as EVP_PKEY_CTX_new_from_name(3) takes it
  std::size_t public_bytes;
  std::size_t private_bytes;
  std::size_t ciphertext_bytes;
  std::size_t secret_bytes;
  unsigned bits;
  unsigned security_bits;
};

struct ClassicalPart {
  const char* name;       // as configuration names it
  const char* algorithm;  // as EVP_PKEY_CTX_new_from_name(3) takes it
  const char* curve;      // for the algorithm "EC"; nullptr: the algorithm has one curve
  std::size_t public_bytes;
  std::size_t private_bytes;
  std::size_t secret_bytes;
  unsigned security_bits;
};

std::span<const KemPart> kem_parts();
std::span<const ClassicalPart> classical_parts();

enum class Order : std::uint8_t { mlkem_first, classical_first };

struct Group {
  static constexpr std::size_t longest_name = 63;
  using Name = std::array<char, longest_name + 1>;  // ends with a 0

  Name name = {};   // in TLS group lists, and of the key type and the KEM
  Name alias = {};  // a second name in TLS group lists; empty: none
  unsigned code = 0;
  const KemPart* kem = nullptr;
  const ClassicalPart* classical = nullptr;
  Order order = Order::mlkem_first;
  unsigned security_bits = 0;  // what the TLS library's security level is compared with

  [[nodiscard]] std::size_t public_bytes() const { return kem->public_bytes + classical->public_bytes; }
  [[nodiscard]] std::size_t private_bytes() const { return kem->private_bytes + classical->private_bytes; }
  [[nodiscard]] std::size_t ciphertext_bytes() const { return kem->ciphertext_bytes + classical->public_bytes; }
  [[nodiscard]] std::size_t secret_bytes() const { return kem->secret_bytes + classical->secret_bytes; }
};

// Of all groups that can be made of the tables' parts.
inline constexpr std::size_t most_public_bytes = 1568 + 133;
inline constexpr std::size_t most_private_bytes = 3168 + 66;

// The two parts of a concatenation.
template <typename Byte>
struct Parts {
  std::span<Byte> kem;
  std::span<Byte> classical;
};

// `whole` holds kem_bytes and the classical part's bytes, in the group's order; the caller has checked its size.
template <typename Byte>
Parts<Byte> split(const Group& group, std::span<Byte> whole, std::size_t kem_bytes) {
  if (group.order == Order::mlkem_first) {
    return {whole.first(kem_bytes), whole.subspan(kem_bytes)};
  }
  const std::size_t classical_bytes = whole.size() - kem_bytes;
  return {whole.subspan(classical_bytes), whole.first(classical_bytes)};
}

// False where it does not fit.
bool set_name(Group::Name& name, std::string_view text);

// X25519MLKEM512 as the Open Quantum Safe provider has it: not IANA's. ML-KEM comes first.
Group x25519_mlkem512();

}  // namespace tlstrata::provider
