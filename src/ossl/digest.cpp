#include "ossl/digest.h"

#include <openssl/evp.h>

#include "ossl/error.h"
#include "ossl/fetched.h"

namespace tlstrata::ossl {

Result<void> hash(Digest digest, std::span<const std::uint8_t> bytes, std::span<std::uint8_t> out) {
  const EVP_MD* const md = fetched_digest(digest);
  if (md == nullptr || out.size() != digest_size(digest) ||
      EVP_Digest(bytes.data(), bytes.size(), out.data(), nullptr, md, nullptr) != 1) {
    return std::unexpected(last_error("hash"));
  }
  return {};
}

}  // namespace tlstrata::ossl
