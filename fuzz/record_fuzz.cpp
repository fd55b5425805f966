// layer: tls
// One direction's stream with holes: any chunking gives the same records with the same packets, and records neither overlap
// nor step back.
#include <optional>
#include <string>

#include "choices.h"
#include "tls/record.h"

namespace {

using namespace tlstrata;
using namespace tlstrata::fuzz;
using tls::Stamp;

struct Step {
  bool is_gap = false;
  tcp::GapReason reason = tcp::GapReason::none;
  std::uint64_t length = 0;
  Bytes bytes;
  Stamp first;
  Stamp in_order;
};

struct Story {
  std::vector<std::string> records;
  std::optional<std::uint64_t> error_at;
  bool lost = false;

  friend bool operator==(const Story&, const Story&) = default;
};

// Whole, or in pieces of up to `most` bytes, each in memory that is gone after next().
Story run(const std::vector<Step>& steps, tls::Role role, bool skip, std::size_t most) {
  tls::RecordReader reader(role);
  reader.skip_application_data(skip);
  Story story;
  std::uint64_t offset = 0;
  std::uint64_t end = 0;
  const auto drain = [&] {
    while (true) {
      const auto next = reader.next();
      if (!next) {
        story.error_at = next.error().offset;
        return;
      }
      if (!*next) {
        return;
      }
      const tls::Record& record = **next;
      const tls::RecordPosition& position = record.position;
      require(position.begin >= end && position.end >= position.begin + 5, "records neither overlap nor step back");
      require(record.skipped || record.body.size() + 5 == position.end - position.begin, "a record has its length");
      end = position.end;
      std::string line = std::to_string(static_cast<int>(record.type)) + ' ' + std::to_string(record.version) + ' ' +
                         std::to_string(position.begin) + ' ' + std::to_string(position.end) +
                         (record.damaged ? " damaged " : " ") + (record.skipped ? "skipped " : "");
      for (std::uint64_t at = position.begin; at < position.end; at += 1 + (position.end - position.begin) / 7) {
        line +=
            std::to_string(position.first_at(at).packet) + '/' + std::to_string(position.in_order_at(at).packet) + ' ';
      }
      line += std::to_string(position.complete().packet);
      story.records.push_back(line + std::string(record.body.begin(), record.body.end()));
    }
  };
  Sizes sizes(7, most);
  for (const Step& step : steps) {
    if (step.is_gap) {
      reader.gap(offset, step.length, step.reason, step.in_order);
      offset += step.length;
      drain();
      continue;
    }
    for (View rest = step.bytes; !rest.empty();) {
      const Bytes piece = exact(rest.first(most == 0 ? rest.size() : std::min(sizes.next(), rest.size())));
      reader.chunk(piece, offset, step.first, step.in_order);
      offset += piece.size();
      drain();
      reader.settle();
      rest = rest.subspan(piece.size());
    }
  }
  story.lost = reader.lost();
  return story;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(View(data, size));
  const std::uint8_t mode = choices.u8();
  const auto role = (mode & 1U) != 0 ? tls::Role::client : tls::Role::server;
  std::vector<Step> steps;
  std::uint64_t packet = 0;
  while (!choices.empty() && steps.size() < 200) {
    ++packet;
    const std::uint8_t kind = choices.u8();
    Step step;
    step.length = choices.u16();
    step.in_order = {0, packet};
    step.first = {0, (kind & 2U) != 0 && packet > 1 ? packet - 1 : packet};
    step.is_gap = (kind & 0xF0U) == 0xF0;
    step.reason = (kind & 1U) != 0 ? tcp::GapReason::snap_length : tcp::GapReason::not_captured;
    if (!step.is_gap) {
      step.bytes = exact(choices.take(step.length));
    } else if (step.length == 0) {
      continue;
    }
    steps.push_back(std::move(step));
  }
  const bool skip = (mode & 2U) != 0;
  const Story whole = run(steps, role, skip, 0);
  require(run(steps, role, skip, 1) == whole, "single bytes give the same records");
  require(run(steps, role, skip, 1 + mode) == whole, "any chunking gives the same records");
  return 0;
}
