#include "ossl/hkdf.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "ossl/error.h"
#include "ossl/fetched.h"

namespace tlstrata::ossl {
namespace {

constexpr std::size_t largest_block_size = 128;  // SHA-384's

constexpr std::size_t block_size(Digest digest) {
  return digest == Digest::sha256 ? 64 : 128;
}

bool update(EVP_MD_CTX* context, std::span<const std::uint8_t> bytes) {
  return bytes.empty() || EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1;
}

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  // The one view of characters as octets: labels are ASCII literals of the RFCs.
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::unexpected<Error> too_long(const char* what) {
  return std::unexpected(Error{ErrorCode::limit, what});
}

// The calling thread's contexts with `secret` set.
Result<Hkdf*> for_this_thread(Digest digest, std::span<const std::uint8_t> secret) {
  thread_local std::array<std::optional<Hkdf>, 2> kept;
  auto& hkdf = kept[static_cast<std::size_t>(digest)];
  if (!hkdf) {
    auto created = Hkdf::create(digest);
    if (!created) {
      return std::unexpected(created.error());
    }
    hkdf.emplace(std::move(*created));
  }
  if (const auto set = hkdf->set_secret(secret); !set) {
    return std::unexpected(set.error());
  }
  return &*hkdf;
}

}  // namespace

void Hkdf::FreeContext::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

Result<Hkdf> Hkdf::create(Digest digest) {
  Hkdf hkdf(digest);
  const EVP_MD* const md = fetched_digest(digest);
  for (Context* context : {&hkdf.inner_, &hkdf.outer_, &hkdf.working_}) {
    context->reset(EVP_MD_CTX_new());
    if (md == nullptr || !*context || EVP_DigestInit_ex2(context->get(), md, nullptr) != 1) {
      return std::unexpected(last_error("hash context"));
    }
  }
  return hkdf;
}

Result<void> Hkdf::set_secret(std::span<const std::uint8_t> secret) {
  std::array<std::uint8_t, largest_block_size> padded{};
  const auto block = std::span(padded).first(block_size(digest_));
  if (secret.size() <= block.size()) {
    std::ranges::copy(secret, block.begin());
  } else if (const auto hashed = hash(digest_, secret, block.first(digest_size(digest_))); !hashed) {
    return hashed;
  }
  const auto start = [&](const Context& context, std::uint8_t pad) {
    for (std::uint8_t& byte : block) {
      byte ^= pad;
    }
    return EVP_DigestInit_ex2(context.get(), nullptr, nullptr) == 1 && update(context.get(), block);
  };
  const bool started = start(inner_, 0x36) && start(outer_, 0x36 ^ 0x5C);
  OPENSSL_cleanse(padded.data(), padded.size());
  if (!started) {
    return std::unexpected(last_error("HMAC key"));
  }
  return {};
}

Result<void> Hkdf::hmac(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                        std::span<const std::uint8_t> c, std::span<std::uint8_t> out) {
  std::array<std::uint8_t, largest_digest_size> inner_hash{};
  EVP_MD_CTX* const working = working_.get();
  const bool done = out.size() == digest_size(digest_) && EVP_MD_CTX_copy_ex(working, inner_.get()) == 1 &&
                    update(working, a) && update(working, b) && update(working, c) &&
                    EVP_DigestFinal_ex(working, inner_hash.data(), nullptr) == 1 &&
                    EVP_MD_CTX_copy_ex(working, outer_.get()) == 1 &&
                    update(working, std::span(inner_hash).first(digest_size(digest_))) &&
                    EVP_DigestFinal_ex(working, out.data(), nullptr) == 1;
  if (!done) {
    return std::unexpected(last_error("HMAC"));
  }
  return {};
}

Result<void> Hkdf::expand(std::span<const std::uint8_t> info, std::span<std::uint8_t> out) {
  const std::size_t step = digest_size(digest_);
  if (out.size() > 255 * step) {
    return too_long("HKDF-Expand output");
  }
  std::array<std::uint8_t, largest_digest_size> block{};
  const auto t = std::span(block).first(step);
  std::span<const std::uint8_t> previous;
  for (std::uint8_t counter = 1; !out.empty(); ++counter) {
    if (const auto made = hmac(previous, info, {&counter, 1}, t); !made) {
      return made;
    }
    previous = t;
    const std::size_t used = std::min(step, out.size());
    std::ranges::copy(t.first(used), out.begin());
    out = out.subspan(used);
  }
  OPENSSL_cleanse(block.data(), block.size());
  return {};
}

Result<void> Hkdf::expand_label(std::string_view label, std::span<const std::uint8_t> context,
                                std::span<std::uint8_t> out) {
  constexpr std::string_view prefix = "tls13 ";
  const std::size_t label_size = prefix.size() + label.size();
  if (label_size > 255 || context.size() > 255 || out.size() > 0xFFFF) {
    return too_long("HkdfLabel");
  }
  // struct HkdfLabel: uint16 length; opaque label<7..255>; opaque context<0..255>.
  std::array<std::uint8_t, 2 + 1 + 255 + 1 + 255> info{};
  std::size_t size = 0;
  const auto put = [&](std::size_t byte) { info[size++] = static_cast<std::uint8_t>(byte); };
  const auto append = [&](std::span<const std::uint8_t> bytes) {
    std::ranges::copy(bytes, info.begin() + static_cast<std::ptrdiff_t>(size));
    size += bytes.size();
  };
  put(out.size() >> 8U);
  put(out.size() & 0xFFU);
  put(label_size);
  append(bytes_of(prefix));
  append(bytes_of(label));
  put(context.size());
  append(context);
  return expand(std::span(info).first(size), out);
}

Result<void> hkdf_extract(Digest digest, std::span<const std::uint8_t> salt, std::span<const std::uint8_t> key_material,
                          std::span<std::uint8_t> out) {
  // HMAC pads its key with zero bytes, so an empty salt needs no case of its own.
  return hmac(digest, salt, key_material, out);
}

Result<void> hkdf_expand(Digest digest, std::span<const std::uint8_t> secret, std::span<const std::uint8_t> info,
                         std::span<std::uint8_t> out) {
  const auto hkdf = for_this_thread(digest, secret);
  return hkdf ? (*hkdf)->expand(info, out) : std::unexpected(hkdf.error());
}

Result<void> hkdf_expand_label(Digest digest, std::span<const std::uint8_t> secret, std::string_view label,
                               std::span<const std::uint8_t> context, std::span<std::uint8_t> out) {
  const auto hkdf = for_this_thread(digest, secret);
  return hkdf ? (*hkdf)->expand_label(label, context, out) : std::unexpected(hkdf.error());
}

Result<void> traffic_key(Digest digest, std::span<const std::uint8_t> secret, std::span<std::uint8_t> key,
                         std::span<std::uint8_t> iv) {
  const auto hkdf = for_this_thread(digest, secret);
  if (!hkdf) {
    return std::unexpected(hkdf.error());
  }
  const auto made = (*hkdf)->expand_label("key", {}, key);
  return made ? (*hkdf)->expand_label("iv", {}, iv) : made;
}

Result<void> hmac(Digest digest, std::span<const std::uint8_t> key, std::span<const std::uint8_t> message,
                  std::span<std::uint8_t> out) {
  const auto hkdf = for_this_thread(digest, key);
  return hkdf ? (*hkdf)->hmac(message, {}, {}, out) : std::unexpected(hkdf.error());
}

Result<void> tls12_prf(Digest digest, std::span<const std::uint8_t> secret, std::string_view label,
                       std::span<const std::uint8_t> seed, std::span<std::uint8_t> out) {
  const auto hkdf = for_this_thread(digest, secret);
  if (!hkdf) {
    return std::unexpected(hkdf.error());
  }
  // P_hash: A(0) = label || seed, A(i) = HMAC(A(i-1)), output HMAC(A(i) || label || seed) ...
  const std::size_t step = digest_size(digest);
  std::array<std::uint8_t, largest_digest_size> a_bytes{};
  std::array<std::uint8_t, largest_digest_size> block_bytes{};
  const auto a = std::span(a_bytes).first(step);
  const auto block = std::span(block_bytes).first(step);
  auto made = (*hkdf)->hmac(bytes_of(label), seed, {}, a);
  while (made && !out.empty()) {
    made = (*hkdf)->hmac(a, bytes_of(label), seed, block);
    if (made) {
      const std::size_t used = std::min(step, out.size());
      std::ranges::copy(block.first(used), out.begin());
      out = out.subspan(used);
      made = (*hkdf)->hmac(a, {}, {}, a);
    }
  }
  OPENSSL_cleanse(block_bytes.data(), block_bytes.size());
  return made;
}

}  // namespace tlstrata::ossl
