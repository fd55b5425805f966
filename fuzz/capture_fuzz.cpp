// layer: capture
// Capture files, plain and packed: any chunking yields the same packets, secrets, counts and error; a cut file yields a
// prefix of them; a file fed whole is not copied; stamps and frame numbers keep their promises.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "capture/decompressor.h"
#include "capture/file_parser.h"

namespace {

using namespace tlstrata;
using namespace tlstrata::capture;

using Input = std::span<const std::uint8_t>;

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

// An item with bytes of its own.
struct Kept {
  Packet packet;  // its data is not used
  std::uint32_t secrets_type = 0;
  std::vector<std::uint8_t> data;
};

bool same(const Kept& a, const Kept& b) {
  return a.packet.time_ns == b.packet.time_ns && a.packet.original_length == b.packet.original_length &&
         a.packet.link == b.packet.link && a.packet.interface == b.packet.interface &&
         a.packet.number == b.packet.number && a.secrets_type == b.secrets_type && a.data == b.data;
}

bool same(const FileCounts& a, const FileCounts& b) {
  return a.packets == b.packets && a.secrets == b.secrets && a.structure_blocks == b.structure_blocks &&
         a.skipped_blocks == b.skipped_blocks && a.damaged_packets == b.damaged_packets &&
         a.reported_drops == b.reported_drops && a.truncated == b.truncated;
}

bool same(const std::optional<Error>& a, const std::optional<Error>& b) {
  return a.has_value() == b.has_value() &&
         (!a || (a->code == b->code && std::strcmp(a->what, b->what) == 0 && a->offset == b->offset));
}

struct Outcome {
  std::vector<Kept> items;
  FileCounts counts;
  std::optional<Error> error;
};

class Reader {
 public:
  // False: an error came up.
  bool feed(Input chunk, Input must_lie_in = {}) {
    parser_.feed(chunk);
    for (;;) {
      const auto item = parser_.next();
      if (!item) {
        outcome_.error = item.error();
        return false;
      }
      if (!*item) {
        return true;
      }
      keep(**item, must_lie_in);
    }
  }

  Outcome finish() {
    if (!outcome_.error) {
      if (const auto finished = parser_.finish(); !finished) {
        outcome_.error = finished.error();
      }
    }
    outcome_.counts = parser_.counts();
    return std::move(outcome_);
  }

 private:
  void keep(const Item& item, Input must_lie_in) {
    Kept kept;
    Input data;
    if (const auto* packet = std::get_if<Packet>(&item)) {
      require(packet->time_ns >= -max_time_ns && packet->time_ns <= max_time_ns);
      require(packet->number > last_number_);
      last_number_ = packet->number;
      kept.packet = *packet;
      data = packet->data;
    } else {
      kept.secrets_type = std::get<Secrets>(item).type;
      data = std::get<Secrets>(item).data;
    }
    require(
        must_lie_in.empty() || data.empty() ||
        (data.data() >= must_lie_in.data() && data.data() + data.size() <= must_lie_in.data() + must_lie_in.size()));
    kept.packet.data = {};
    kept.data.assign(data.begin(), data.end());
    outcome_.items.push_back(std::move(kept));
  }

  FileParser parser_;
  Outcome outcome_;
  std::uint64_t last_number_ = 0;
};

Outcome read_whole(Input input) {
  Reader reader;
  (void)reader.feed(input, input);
  return reader.finish();
}

// In pieces whose sizes the input itself gives, each in memory of its own that is gone before the next.
template <typename Use>
void for_each_piece(Input input, Use use) {
  for (std::size_t at = 0; at < input.size();) {
    const std::size_t size = std::min<std::size_t>(1 + input[at] % 67U, input.size() - at);
    const std::vector<std::uint8_t> piece(input.begin() + static_cast<std::ptrdiff_t>(at),
                                          input.begin() + static_cast<std::ptrdiff_t>(at + size));
    if (!use(Input(piece))) {
      return;
    }
    at += size;
  }
}

void check_capture(Input input) {
  const Outcome whole = read_whole(input);

  Reader pieces;
  for_each_piece(input, [&](Input piece) { return pieces.feed(piece); });
  const Outcome in_pieces = pieces.finish();
  require(whole.items.size() == in_pieces.items.size() && same(whole.error, in_pieces.error) &&
          same(whole.counts, in_pieces.counts));
  for (std::size_t i = 0; i < whole.items.size(); ++i) {
    require(same(whole.items[i], in_pieces.items[i]));
  }

  const std::size_t cut = input.empty() ? 0 : input.back() * input.size() / 256;
  const Outcome prefix = read_whole(input.first(cut));
  require(prefix.items.size() <= whole.items.size());
  for (std::size_t i = 0; i < prefix.items.size(); ++i) {
    require(same(prefix.items[i], whole.items[i]));
  }
}

struct Unpacked {
  std::vector<std::uint8_t> bytes;
  bool failed = false;
  bool complete = false;
};

constexpr std::size_t unpacked_limit = 1U << 18U;

// Runs the decoder until it neither takes nor gives; false: done with (error, end, or enough).
bool drain(Decompressor& decompressor, Input piece, std::size_t room, Unpacked& unpacked) {
  std::vector<std::uint8_t> out(room);
  for (;;) {
    const auto progress = decompressor.run(piece, out);
    if (!progress) {
      unpacked.failed = true;
      return false;
    }
    piece = piece.subspan(progress->consumed);
    unpacked.bytes.insert(unpacked.bytes.end(), out.begin(),
                          out.begin() + static_cast<std::ptrdiff_t>(progress->produced));
    if (decompressor.ended() || unpacked.bytes.size() > unpacked_limit) {
      return false;
    }
    if (progress->consumed == 0 && progress->produced == 0) {
      require(piece.empty());
      return true;
    }
  }
}

void check_packed(Input input, Compression compression) {
  auto at_once = Decompressor::create(compression);
  auto in_pieces = Decompressor::create(compression);
  require(at_once.has_value() && in_pieces.has_value());
  Unpacked whole;
  (void)drain(*at_once, input, unpacked_limit, whole);
  Unpacked pieces;
  for_each_piece(input, [&](Input piece) { return drain(*in_pieces, piece, 113, pieces); });
  if (whole.bytes.size() > unpacked_limit || pieces.bytes.size() > unpacked_limit) {
    return;  // both are the same, but were left at different places
  }
  // libzstd may call a block damaged whose end it has not seen, or wait for that end: which, depends on the pieces.
  const bool whole_is_whole = !whole.failed && at_once->at_boundary();
  const bool pieces_are_whole = !pieces.failed && in_pieces->at_boundary();
  require(whole_is_whole == pieces_are_whole);
  require(whole.failed || pieces.failed || whole.bytes == pieces.bytes);
  check_capture(whole.bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input(data, size);
  const Compression compression = detect_compression(input);
  if (compression == Compression::none) {
    check_capture(input);
  } else {
    check_packed(input, compression);
  }
  return 0;
}
