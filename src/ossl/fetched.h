// Algorithms of the library, fetched once for the whole process: a fetch takes longer than what is done with the
// result.
//
// Out:       a pointer that lives as long as the process; nullptr where the library does not offer the algorithm.
// Threads:   any.
// Ownership: the process's. Only files of src/ossl include this header.
#pragma once

#include <openssl/types.h>

#include "ossl/aead.h"
#include "ossl/digest.h"

namespace tlstrata::ossl {

const EVP_MD* fetched_digest(Digest digest);
const EVP_CIPHER* fetched_cipher(AeadAlgorithm algorithm);
// AES for single blocks, or ChaCha20 alone: what makes the AEAD's key stream.
const EVP_CIPHER* fetched_key_stream_cipher(AeadAlgorithm algorithm);

}  // namespace tlstrata::ossl
