// Groups that the provider's section of an openssl.cnf adds.
//
// In:      values of the section by name: group1 to group16 are sections with the keys below, so that the value of
//          `name` in the first is found as "group1.name". All six keys are required: a misspelt one is a missing one.
//
//            name          letters, digits, '_' and '-', a letter first, at most 63
//            code_point    0x0001 to 0xFFFF, decimal or with 0x
//            mlkem         ML-KEM-512, ML-KEM-768 or ML-KEM-1024
//            classical     X25519, X448, P-256, P-384 or P-521
//            order         mlkem-first or classical-first
//            security_bits 80 to those of the stronger part
//
// Out:     groups, appended to those that are there already. A name or code point that these or OpenSSL itself have is
//          refused: one of the two would hide the other.
// Errors:  Problem: which value, what is wrong with it, what to write. Nothing is added then.
// Threads: any; nothing is kept. Nothing is allocated.
// Source:  provider(7), config(5). The core tells values by name only, so that numbers and not names of sections it is.
#pragma once

#include <openssl/core_dispatch.h>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "provider/group.h"
#include "provider/library.h"

namespace tlstrata::provider {

inline constexpr std::size_t most_configured_groups = 16;
inline constexpr std::size_t most_groups = most_configured_groups + 1;  // with our own

struct GroupList {
  std::array<Group, most_groups> groups;
  std::size_t count = 0;

  [[nodiscard]] std::span<const Group> all() const { return std::span(groups).first(count); }
};

// The section's values, as the core that loads the provider has them.
class Section {
 public:
  Section(const OSSL_CORE_HANDLE* core, OSSL_FUNC_core_get_params_fn* get_params)
      : core_(core), get_params_(get_params) {}
  // nullptr: there is none of that name. The core owns what is returned.
  [[nodiscard]] const char* value(const char* name) const;

 private:
  const OSSL_CORE_HANDLE* core_;
  OSSL_FUNC_core_get_params_fn* get_params_;
};

struct Problem {
  std::array<char, 320> text = {};  // ends with a 0; bytes that are not printable are shown as '?'
};

[[nodiscard]] bool read_groups(const Section& section, const Library& library, GroupList& list, Problem& problem);

}  // namespace tlstrata::provider
