// layer: probe
// Responses with HTTPS records: read or refused, never past their end; no more groups than came or than the limit allows.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "probe/https_record.h"

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of its own, so that a sanitizer sees a step past its end.
  const std::vector<std::uint8_t> response(data, data + size);
  const auto hint = tlstrata::probe::read_https_response(response);
  if (!hint) {
    require(hint.error().offset <= size);
    return 0;
  }
  require(hint->groups.size() <= tlstrata::probe::most_predicted_groups);
  require(2 * hint->groups.size() <= size);
  require(hint->has_record || hint->groups.empty());
  return 0;
}
