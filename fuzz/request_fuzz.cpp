// layer: serve
// Requests to the origin: bytes that arrive one after the other are answered like bytes that arrive at once, a head is
// never longer than what was received or than its bound, and what is refused is refused with a status that exists.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "serve/request.h"

namespace {

using namespace tlstrata::serve;

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

bool is_answer(std::uint16_t status) {
  return status == 400 || status == 405 || status == 414 || status == 431 || status == 501 || status == 505;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view received(reinterpret_cast<const char*>(data), size);
  // How many bytes it takes until the request is whole or refused, byte by byte.
  std::size_t scanned = 0;
  std::size_t decided = 0;
  auto slowly = parse_request({}, scanned);
  while (slowly && !*slowly && decided < received.size()) {
    slowly = parse_request(received.substr(0, ++decided), scanned);
  }
  std::size_t from_start = 0;
  const auto at_once = parse_request(received.substr(0, decided), from_start);
  require(slowly.has_value() == at_once.has_value());
  if (!slowly) {
    require(is_answer(slowly.error().status) && slowly.error().status == at_once.error().status);
    return 0;
  }
  require(slowly->has_value() == at_once->has_value());
  if (!*slowly) {
    require(received.size() < largest_head);
    return 0;
  }
  require((*slowly)->head_bytes == decided && (*slowly)->head_bytes <= largest_head);
  require((*slowly)->head_bytes == (*at_once)->head_bytes && (*slowly)->body_bytes == (*at_once)->body_bytes &&
          (*slowly)->keep_alive == (*at_once)->keep_alive && (*slowly)->head_only == (*at_once)->head_only);
  // What follows a whole head does not change its meaning.
  std::size_t pipelined = 0;
  const auto followed = parse_request(received, pipelined);
  require(followed && *followed && (*followed)->head_bytes == decided);
  return 0;
}
