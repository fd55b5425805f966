// layer: tls
// Key logs: any chunking gives the same secrets and counts; what a line says is found again.
#include <optional>
#include <string>

#include "choices.h"
#include "tls/key_log.h"

namespace {

using namespace tlstrata;
using namespace tlstrata::fuzz;

// Every run of 64 hexadecimal digits: the randoms that may have been logged.
std::vector<tls::Random> randoms_in(View bytes) {
  std::vector<tls::Random> randoms;
  const auto digit = [](std::uint8_t c) -> int {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  for (std::size_t at = 0; at + 64 <= bytes.size() && randoms.size() < 64; ++at) {
    tls::Random random{};
    bool all = true;
    for (std::size_t i = 0; i < 32 && all; ++i) {
      const int high = digit(bytes[at + 2 * i]);
      const int low = digit(bytes[at + 2 * i + 1]);
      all = high >= 0 && low >= 0;
      random[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    if (all) {
      randoms.push_back(random);
      at += 63;
    }
  }
  return randoms;
}

bool same(const std::optional<tls::ConnectionSecrets>& a, const std::optional<tls::ConnectionSecrets>& b) {
  if (a.has_value() != b.has_value()) {
    return false;
  }
  for (std::size_t kind = 0; a && kind < tls::secret_kind_count; ++kind) {
    if (!std::ranges::equal(a->secrets[kind], b->secrets[kind])) {
      return false;
    }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const View text(data + 1, size - 1);
  tls::KeyLog whole;
  whole.feed(exact(text));
  whole.finish();

  tls::KeyLog pieces;
  Sizes sizes(data[0], std::size_t{1} << (data[0] % 12U));
  for (View rest = text; !rest.empty();) {
    const Bytes piece = exact(rest.first(std::min(sizes.next(), rest.size())));
    pieces.feed(piece);
    rest = rest.subspan(piece.size());
  }
  pieces.finish();

  const tls::KeyLog::Counts& a = whole.counts();
  const tls::KeyLog::Counts& b = pieces.counts();
  require(a.secrets == b.secrets && a.duplicates == b.duplicates && a.conflicts == b.conflicts && a.other == b.other &&
              a.junk == b.junk,
          "any chunking counts the same");
  require(whole.connections() == pieces.connections(), "any chunking finds the same connections");
  require(whole.connections() <= a.secrets, "a connection has a secret");
  const auto lines = static_cast<std::uint64_t>(std::ranges::count(text, std::uint8_t{'\n'}));
  const std::uint64_t counted = a.secrets + a.duplicates + a.conflicts + a.other + a.junk;
  require(counted == lines || counted == lines + 1, "every line is counted once");
  for (const tls::Random& random : randoms_in(text)) {
    require(same(whole.find(random), pieces.find(random)), "any chunking finds the same secrets");
  }
  return 0;
}
