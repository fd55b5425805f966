#include "ossl/peer_chain.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "ossl/handle.h"

namespace tlstrata::ossl {
namespace {

using Memory = Handle<BIO, BIO_free_all>;

std::string subject_of(const X509* certificate) {
  const Memory memory(BIO_new(BIO_s_mem()));
  if (!memory || X509_NAME_print_ex(memory.get(), X509_get_subject_name(certificate), 0,
                                    XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) < 0) {
    return {};
  }
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

std::string name_of(int nid) {
  const char* const name = OBJ_nid2ln(nid);
  return name != nullptr ? name : "unknown";
}

PeerCertificate describe(X509* certificate) {
  PeerCertificate entry;
  entry.subject = subject_of(certificate);
  const int size = i2d_X509(certificate, nullptr);
  entry.bytes = size > 0 ? static_cast<std::uint32_t>(size) : 0;
  entry.signature = name_of(X509_get_signature_nid(certificate));
  const EVP_PKEY* const key = X509_get0_pubkey(certificate);
  const char* const provided = key != nullptr ? EVP_PKEY_get0_type_name(key) : nullptr;
  entry.key = provided != nullptr ? provided : "unknown";
  const int bits = key != nullptr ? EVP_PKEY_get_bits(key) : 0;
  entry.key_bits = bits > 0 ? static_cast<std::uint32_t>(bits) : 0;
  entry.self_signed = X509_self_signed(certificate, 0) == 1;
  return entry;
}

}  // namespace

std::vector<PeerCertificate> peer_chain(const ssl_st* ssl) {
  std::vector<PeerCertificate> chain;
  STACK_OF(X509)* const sent = SSL_get_peer_cert_chain(ssl);
  for (int i = 0; i < sk_X509_num(sent); ++i) {
    chain.push_back(describe(sk_X509_value(sent, i)));
  }
  ERR_clear_error();
  return chain;
}

}  // namespace tlstrata::ossl
