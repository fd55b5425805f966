#include "provider/group.h"

#include <algorithm>

namespace tlstrata::provider {
namespace {

constexpr std::array kems{
    KemPart{"ML-KEM-512", 800, 1632, 768, 32, 512, 128},
    KemPart{"ML-KEM-768", 1184, 2400, 1088, 32, 768, 192},
    KemPart{"ML-KEM-1024", 1568, 3168, 1568, 32, 1024, 256},
};

constexpr std::array classicals{
    ClassicalPart{"X25519", "X25519", nullptr, 32, 32, 32, 128},
    ClassicalPart{"X448", "X448", nullptr, 56, 56, 56, 224},
    ClassicalPart{"P-256", "EC", "P-256", 65, 32, 32, 128},
    ClassicalPart{"P-384", "EC", "P-384", 97, 48, 48, 192},
    ClassicalPart{"P-521", "EC", "P-521", 133, 66, 66, 256},
};

template <typename T, std::size_t N>
constexpr bool none_above(const std::array<T, N>& parts, std::size_t T::* bytes, std::size_t most) {
  return std::ranges::all_of(parts, [&](const T& part) { return part.*bytes <= most; });
}
static_assert(none_above(kems, &KemPart::public_bytes, 1568) && none_above(kems, &KemPart::private_bytes, 3168));
static_assert(none_above(classicals, &ClassicalPart::public_bytes, most_public_bytes - 1568));
static_assert(none_above(classicals, &ClassicalPart::private_bytes, most_private_bytes - 3168));

}  // namespace

std::span<const KemPart> kem_parts() {
  return kems;
}

std::span<const ClassicalPart> classical_parts() {
  return classicals;
}

bool set_name(Group::Name& name, std::string_view text) {
  if (text.size() >= name.size()) {
    return false;
  }
  name.fill('\0');
  std::ranges::copy(text, name.begin());
  return true;
}

Group x25519_mlkem512() {
  Group group;
  (void)set_name(group.name, "X25519MLKEM512");
  (void)set_name(group.alias, "x25519_mlkem512");
  group.code = 0x2FB6;
  group.kem = &kems.front();
  group.classical = &classicals.front();
  group.order = Order::mlkem_first;
  group.security_bits = 128;
  return group;
}

}  // namespace tlstrata::provider
