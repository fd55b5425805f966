// layer: tls
// Hellos: parsed or refused, never past their end; what is parsed came from the input's bytes; trailing bytes are refused.
#include "choices.h"
#include "tls/hello.h"

namespace {

using namespace tlstrata;
using namespace tlstrata::fuzz;

template <typename Parse>
void check(const Bytes& body, Parse parse) {
  const auto parsed = parse(View(body));
  if (!parsed) {
    require(parsed.error().offset <= body.size(), "an error lies in the input");
    return;
  }
  Bytes longer = body;
  longer.push_back(0);
  require(!parse(View(longer)), "trailing bytes are refused");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const Bytes body = exact(View(data + 1, size - 1));
  switch (data[0] % 6) {
    case 0: {
      check(body, [](View bytes) { return tls::parse_client_hello(bytes); });
      if (const auto hello = tls::parse_client_hello(body)) {
        std::size_t kept = hello->session_id.bytes().size() + 2 * hello->cipher_suites.size() +
                           2 * hello->versions.size() + 2 * hello->groups.size() + 4 * hello->key_shares.size() +
                           hello->server_name.size();
        for (const std::string& protocol : hello->alpn) {
          kept += protocol.size();
        }
        require(kept <= body.size(), "no more is kept than was there");
      }
      break;
    }
    case 1:
      check(body, [](View bytes) { return tls::parse_server_hello(bytes); });
      break;
    case 2:
      check(body, [](View bytes) { return tls::parse_encrypted_extensions(bytes); });
      break;
    case 3:
      check(body, [](View bytes) { return tls::parse_compressed_certificate(bytes); });
      break;
    default: {
      const bool is_tls13 = data[0] % 6 == 4;
      check(body, [is_tls13](View bytes) { return tls::parse_certificate(bytes, is_tls13); });
      if (const auto chain = tls::parse_certificate(body, is_tls13)) {
        require(chain->bytes + 3 * *chain->count <= body.size(), "no more is counted than was there");
      }
      break;
    }
  }
  return 0;
}
