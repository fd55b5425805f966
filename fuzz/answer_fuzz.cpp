// layer: probe
// First answers of servers: any chunking yields the same answers or the same refusal; a cookie is never longer than what
// came; a ServerHello with bytes behind it is refused.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <variant>
#include <vector>

#include "probe/answer.h"

namespace {

using namespace tlstrata;
using probe::AnswerReader;

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

struct Seen {
  std::vector<probe::Answer> answers;
  bool failed = false;
  ErrorCode code = ErrorCode::malformed;
};

bool same(const probe::Answer& a, const probe::Answer& b) {
  if (const auto* const alert = std::get_if<probe::Alert>(&a)) {
    const auto* const other = std::get_if<probe::Alert>(&b);
    return other != nullptr && alert->is_fatal == other->is_fatal && alert->description == other->description;
  }
  const auto& hello = std::get<probe::ServerHello>(a);
  const auto* const other = std::get_if<probe::ServerHello>(&b);
  return other != nullptr && hello.version == other->version && hello.cipher_suite == other->cipher_suite &&
         hello.group == other->group && hello.is_retry == other->is_retry && hello.cookie == other->cookie;
}

Seen read(std::span<const std::uint8_t> input, std::size_t piece) {
  AnswerReader reader;
  Seen seen;
  while (!input.empty() && !seen.failed) {
    const auto part = input.first(std::min(piece, input.size()));
    input = input.subspan(part.size());
    reader.feed(part);
    for (;;) {
      auto answer = reader.next();
      if (!answer) {
        seen.failed = true;
        seen.code = answer.error().code;
        break;
      }
      if (!*answer) {
        break;
      }
      seen.answers.push_back(**answer);
    }
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::span<const std::uint8_t> input(data + 1, size - 1);
  const Seen whole = read(input, input.size() + 1);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{data[0]} + 1}) {
    const Seen cut = read(input, piece);
    require(cut.failed == whole.failed && cut.code == whole.code && cut.answers.size() == whole.answers.size());
    for (std::size_t i = 0; i < cut.answers.size(); ++i) {
      require(same(cut.answers[i], whole.answers[i]));
    }
  }
  for (const probe::Answer& answer : whole.answers) {
    if (const auto* const hello = std::get_if<probe::ServerHello>(&answer)) {
      require(hello->cookie.size() <= input.size());
    }
  }
  if (probe::parse_server_hello(input)) {
    std::vector<std::uint8_t> longer(input.begin(), input.end());
    longer.push_back(0);
    require(!probe::parse_server_hello(longer));
  }
  return 0;
}
