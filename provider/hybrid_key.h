// A key of a hybrid group: an ML-KEM key and an (EC)DH key of OpenSSL's own, and what TLS does with the pair.
//
// In/Out:    concatenated bytes in the group's order (group.h). Sizes are the group's; another one is refused.
// Ownership: owns both parts. The Group and the library context outlive it.
// Errors:    false, with the reason in the thread's error queue. A secret that was half written is cleansed.
// Threads:   constant once it has its material, so that any threads may use it.
// Source:    draft-ietf-tls-hybrid-design section 3; FIPS 203; RFC 7748 section 6; RFC 8446 section 7.4.2.
//
// The steps are those of OpenSSL's own hybrids, so that what a group costs can be compared with theirs.
#pragma once

#include <cstdint>
#include <span>

#include "provider/group.h"
#include "provider/handle.h"

namespace tlstrata::provider {

class HybridKey {
 public:
  enum class Material : std::uint8_t { none, public_only, pair };

  HybridKey(const Group& group, OSSL_LIB_CTX* library) : group_(&group), library_(library) {}

  // A key of the same group without material.
  [[nodiscard]] HybridKey empty_copy() const { return {*group_, library_}; }

  [[nodiscard]] const Group& group() const { return *group_; }
  [[nodiscard]] Material material() const { return material_; }

  // Into a key that has no material yet.
  bool generate();
  bool load_public(std::span<const std::uint8_t> encoded);
  bool load_pair(std::span<const std::uint8_t> encoded_public, std::span<const std::uint8_t> encoded_private);
  // The same parts, without a copy.
  bool share_material_of(const HybridKey& other);

  bool write_public(std::span<std::uint8_t> out) const;
  bool write_private(std::span<std::uint8_t> out) const;
  [[nodiscard]] bool has_same_public(const HybridKey& other) const;

  // With a fresh ephemeral key for the classical part.
  bool encapsulate(std::span<std::uint8_t> ciphertext, std::span<std::uint8_t> secret) const;
  bool decapsulate(std::span<const std::uint8_t> ciphertext, std::span<std::uint8_t> secret) const;

 private:
  [[nodiscard]] KeyHandle generate_classical() const;
  [[nodiscard]] KeyHandle load_classical_public(std::span<const std::uint8_t> encoded) const;
  [[nodiscard]] bool derive(EVP_PKEY* own, EVP_PKEY* peer, std::span<std::uint8_t> secret) const;
  bool take(KeyHandle kem, KeyHandle classical, Material material);

  const Group* group_;
  OSSL_LIB_CTX* library_;
  KeyHandle kem_;
  KeyHandle classical_;
  Material material_ = Material::none;
};

}  // namespace tlstrata::provider
