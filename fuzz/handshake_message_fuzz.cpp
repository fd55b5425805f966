// layer: handshake
// Messages taken apart: refused, or said whole, each byte once; a byte more or less than declared is refused.
#include "choices.h"
#include "handshake/messages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlstrata;
  using namespace tlstrata::fuzz;
  const Bytes message = exact(View(data, size));
  const auto account = handshake::account_of_message(message);
  if (!account) {
    return 0;
  }
  std::size_t sum = 0;
  for (const handshake::AccountLine& line : account->lines) {
    sum += line.bytes;
    require(!line.field.empty(), "every line has a name");
  }
  require(sum == message.size(), "the lines are all of the message");
  Bytes longer = message;
  longer.push_back(0);
  require(!handshake::account_of_message(longer), "a byte too many is refused");
  require(!handshake::account_of_message(View(message).first(message.size() - 1)), "a byte too few is refused");
  return 0;
}
