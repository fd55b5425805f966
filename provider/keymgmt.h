// Hybrid keys as the core of OpenSSL manages them: made, loaded, read, compared.
//
// In/Out:  parameters of provider-keymgmt(7): `encoded-pub-key` is set once and read, `pub` and `priv` are imported and
//          exported. What is imported as private key needs its public key beside it.
// Threads: any.
#pragma once

#include <openssl/core_dispatch.h>

#include <cstddef>

namespace tlstrata::provider {

// The functions of Context::groups[slot]; slot is below most_groups. The core tells them by nothing but their address
// which group they are for.
const OSSL_DISPATCH* key_functions(std::size_t slot);

}  // namespace tlstrata::provider
