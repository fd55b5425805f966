// What one loaded provider has: the library of its parts, its groups, and the tables in which the core finds them.
//
// Ownership: made by OSSL_provider_init, freed by the core's teardown; keys and operations point to it and are gone by
//            then.
// Threads:   constant after it was made.
#pragma once

#include <openssl/core.h>

#include <array>

#include "provider/configuration.h"
#include "provider/library.h"

namespace tlstrata::provider {

struct Context {
  Library library;
  GroupList groups;
  std::array<OSSL_ALGORITHM, most_groups + 1> key_types = {};  // in the order of groups; ends with an empty one
  std::array<OSSL_ALGORITHM, most_groups + 1> kems = {};
};

}  // namespace tlstrata::provider
