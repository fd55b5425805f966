// Hybrid keys at work: encapsulate for the server's share, decapsulate for the client's secret.
//
// In/Out:  provider-kem(7). One table for all groups: the key knows its own.
// Threads: any, an operation by one at a time.
#pragma once

#include <openssl/core_dispatch.h>

namespace tlstrata::provider {

const OSSL_DISPATCH* kem_functions();

}  // namespace tlstrata::provider
