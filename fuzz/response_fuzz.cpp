// layer: load
// Responses to the load's client: any chunking yields the same status, body length and end, or the same refusal; a body
// is never longer than its input.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "load/response.h"

namespace {

using tlstrata::load::ResponseReader;

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

struct Result {
  bool fine = true;
  bool complete = false;
  bool complete_at_end = false;
  std::uint16_t status = 0;
  std::uint64_t body_bytes = 0;
  friend bool operator==(const Result&, const Result&) = default;
};

Result read(std::span<const std::uint8_t> input, std::size_t piece) {
  ResponseReader reader;
  Result result;
  while (!input.empty() && result.fine) {
    const auto part = input.first(std::min(piece, input.size()));
    input = input.subspan(part.size());
    result.fine = reader.feed(part).has_value();
  }
  if (!result.fine) {
    return result;
  }
  result.complete = reader.complete();
  result.complete_at_end = reader.end_of_stream();
  result.status = reader.status();
  result.body_bytes = reader.body_bytes();
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  // The first byte chooses the pieces of the second reading.
  const std::span<const std::uint8_t> input(data + 1, size - 1);
  const Result whole = read(input, input.size() + 1);
  require(read(input, 1) == whole);
  require(read(input, std::size_t{data[0]} + 1) == whole);
  require(whole.body_bytes <= input.size());
  require(!whole.complete || whole.complete_at_end);
  require(!whole.complete || whole.status >= 200);
  return 0;
}
