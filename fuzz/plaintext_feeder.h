// Feeds an HTTP reader plaintext as a Session does: records of either side, whole or in pieces, holes, the end.
#pragma once

#include <array>
#include <string>

#include "choices.h"
#include "http/types.h"
#include "tls/session.h"

namespace tlstrata::fuzz {

struct PlainStep {
  tls::Role role = tls::Role::client;
  bool is_hole = false;
  Bytes bytes;
};

// A byte of choices and two of length before each record's bytes.
inline std::vector<PlainStep> plain_steps(Choices& choices) {
  std::vector<PlainStep> steps;
  while (!choices.empty() && steps.size() < 100) {
    const std::uint8_t kind = choices.u8();
    PlainStep step;
    step.role = (kind & 1U) != 0 ? tls::Role::server : tls::Role::client;
    step.is_hole = (kind & 0xF8U) == 0xF8;
    step.bytes = exact(choices.take(choices.u16()));
    steps.push_back(std::move(step));
  }
  return steps;
}

inline std::string describe(const http::Event& event) {
  return std::to_string(static_cast<int>(event.kind)) + ' ' + std::to_string(event.exchange) + ' ' +
         std::to_string(event.first.packet) + ' ' + event.method + ' ' + std::to_string(event.status) +
         (event.is_early ? " early" : "");
}

// The events of a direction keep their order in any chunking; the two directions' may be told in another turn.
template <typename Reader, typename Finish>
std::array<std::vector<std::string>, 2> run_http(const std::vector<PlainStep>& steps, std::size_t most, Finish finish) {
  Reader reader;
  std::array<std::vector<std::string>, 2> stories;
  std::array<std::uint64_t, 2> offsets{};
  std::uint64_t packet = 0;
  Sizes sizes(11, most);
  const auto drain = [&] {
    for (auto event = reader.next(); event && *event; event = reader.next()) {
      const auto kind = (*event)->kind;
      require(kind != http::Event::Kind::request || !(*event)->method.empty(), "a request has a method");
      require(kind != http::Event::Kind::response || (*event)->status >= 100, "a response has a status");
      const bool is_response = kind == http::Event::Kind::response || kind == http::Event::Kind::response_end;
      stories[is_response ? 1 : 0].push_back(describe(**event));
    }
  };
  for (const PlainStep& step : steps) {
    ++packet;
    if (step.is_hole) {
      reader.hole(step.role);
    }
    for (View rest = step.bytes; !rest.empty();) {
      const Bytes piece = exact(rest.first(most == 0 ? rest.size() : std::min(sizes.next(), rest.size())));
      std::uint64_t& offset = offsets[tls::index(step.role)];
      const std::array<tls::Mark, 1> marks{tls::Mark{offset, {0, packet}, {0, packet}}};
      tls::Item item;
      item.kind = tls::Item::Kind::application_data;
      item.role = step.role;
      item.plaintext = piece;
      item.record_offset = 5;
      item.position = {offset, offset + piece.size() + 22, marks};
      item.first = item.complete = item.position.first();
      offset = item.position.end;
      reader.feed(item);
      drain();
      rest = rest.subspan(piece.size());
    }
  }
  finish(reader);
  drain();
  return stories;
}

}  // namespace tlstrata::fuzz
