// A compressed stream to the bytes it holds: gzip with any number of members, zstd with any number of frames.
//
// In:        the stream in chunks of any size.
// Out:       decompressed bytes, as many at a time as the caller's buffer takes.
// Units:     bytes.
// Ownership: keeps no span past the call; holds the decoder's window (32 KiB; for zstd what the frame asks, at most 128
//            MiB).
// Errors:    malformed: the stream is damaged, its checksum is wrong, a zstd frame holds another size than it says, or is of
//            zstd's formats before 0.8, which the library reads or not, as it was built, and not as a stream; limit: a zstd
//            window beyond 128 MiB. Bytes after the last gzip member that begin no other member are ignored, as gzip does.
// Threads:   one.
// Source:    RFC 1952 (gzip), RFC 8878 (zstd).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "capture/zstd_frame_header.h"

struct z_stream_s;  // NOLINT(readability-identifier-naming): the name is of zlib
struct ZSTD_DCtx_s;

namespace tlstrata::capture {

enum class Compression : std::uint8_t { none, gzip, zstd };

// How many bytes detect_compression() wants to see.
inline constexpr std::size_t compression_magic_bytes = 4;
// By the file's first bytes. A zstd stream may also begin with a skippable frame.
Compression detect_compression(std::span<const std::uint8_t> start);

class Decompressor {
 public:
  // `compression` is gzip or zstd. Error (limit) where memory is lacking.
  static Result<Decompressor> create(Compression compression);

  // How far a call came: bytes of `in` used up and bytes of `out` written. Both are 0 only where `in` is empty and nothing
  // is left inside, or after the last gzip member.
  struct Progress {
    std::size_t consumed = 0;
    std::size_t produced = 0;
  };
  Result<Progress> run(std::span<const std::uint8_t> in, std::span<std::uint8_t> out);

  // The input may end here: all that was begun is complete.
  [[nodiscard]] bool at_boundary() const { return at_boundary_; }
  // Nothing that could still come would count (trailing bytes after gzip).
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  struct GzipDeleter {
    void operator()(z_stream_s* stream) const;
  };
  struct ZstdDeleter {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  Decompressor() = default;
  Result<Progress> run_gzip(std::span<const std::uint8_t> in, std::span<std::uint8_t> out);
  Result<Progress> run_zstd(std::span<const std::uint8_t> in, std::span<std::uint8_t> out);

  std::unique_ptr<z_stream_s, GzipDeleter> gzip_;
  std::unique_ptr<ZSTD_DCtx_s, ZstdDeleter> zstd_;
  std::uint64_t consumed_ = 0;  // of the whole stream, for errors
  bool at_boundary_ = true;
  bool ended_ = false;
  bool any_member_ = false;           // gzip: a member was completed
  ZstdFrameHeader frame_;             // zstd: of the frame that is being read
  std::uint64_t frame_produced_ = 0;  // zstd: of its content
};

}  // namespace tlstrata::capture
