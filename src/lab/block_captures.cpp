#include "lab/block_captures.h"

#include <algorithm>
#include <utility>

#include "report/output_file.h"

namespace tlstrata::lab {

Checked<BlockCaptures> BlockCaptures::create(std::vector<CapturePlace> places, const capture::CaptureOrigin& origin) {
  BlockCaptures captures;
  for (CapturePlace& place : places) {
    Checked<capture::FileWriter> writer = capture::FileWriter::create(place.file.string(), origin);
    if (!writer) {
      return std::unexpected(writer.error());
    }
    captures.all_.push_back({std::move(place), std::make_unique<capture::FileWriter>(std::move(*writer)), nullptr});
  }
  return captures;
}

Checked<void> BlockCaptures::start(const testbed::Bed& bed, std::uint32_t snap_length, std::uint32_t ring_bytes) {
  for (One& one : all_) {
    capture::LiveOptions options;
    options.interface = one.place.interface;
    options.snap_length = snap_length;
    options.ring_bytes = ring_bytes;
    Checked<capture::LiveCapture> live =
        bed.run_in(one.place.host, [&options] { return capture::LiveCapture::open(options); });
    if (!live) {
      return std::unexpected(live.error());
    }
    one.live = std::make_unique<capture::LiveCapture>(std::move(*live));
    if (auto started = one.live->start(*one.writer); !started) {
      return started;
    }
  }
  return {};
}

Checked<std::vector<capture::LiveCounts>> BlockCaptures::stop() {
  std::vector<capture::LiveCounts> counts;
  for (One& one : all_) {
    const Checked<capture::LiveCounts> captured = one.live->stop();
    if (!captured) {
      return std::unexpected(captured.error());
    }
    counts.push_back(*captured);
  }
  return counts;
}

Checked<void> BlockCaptures::finish() {
  for (One& one : all_) {
    const Checked<std::string> keys =
        report::read_file(one.place.key_log, "run again with --keep-work and see .work/clients.log");
    if (!keys) {
      return std::unexpected(keys.error());
    }
    const std::string_view own = std::string_view(*keys).substr(
        static_cast<std::size_t>(std::min<std::uintmax_t>(one.place.key_log_from, keys->size())));
    const std::vector<std::uint8_t> bytes(own.begin(), own.end());
    one.writer->add_secrets(bytes);
    if (auto finished = one.writer->finish(); !finished) {
      return finished;
    }
  }
  return {};
}

}  // namespace tlstrata::lab
