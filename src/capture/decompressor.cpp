#include "capture/decompressor.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <limits>

namespace tlstrata::capture {
namespace {

constexpr std::uint8_t gzip_id1 = 0x1F;
constexpr std::uint8_t gzip_id2 = 0x8B;
constexpr int gzip_only = 16 + MAX_WBITS;  // in zlib's terms: a gzip header, the largest window
constexpr int max_zstd_window_log = 27;    // 128 MiB, which is also where the zstd program draws the line

uInt fit(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

}  // namespace

Compression detect_compression(std::span<const std::uint8_t> start) {
  if (start.size() >= 2 && start[0] == gzip_id1 && start[1] == gzip_id2) {
    return Compression::gzip;
  }
  ZstdFrameHeader header;
  const bool zstd =
      start.size() >= compression_magic_bytes &&
      std::ranges::all_of(start.first(compression_magic_bytes), [&](auto byte) { return header.take(byte); });
  return zstd ? Compression::zstd : Compression::none;
}

void Decompressor::GzipDeleter::operator()(z_stream_s* stream) const {
  (void)inflateEnd(stream);
  delete stream;
}

void Decompressor::ZstdDeleter::operator()(ZSTD_DCtx_s* context) const {
  (void)ZSTD_freeDCtx(context);
}

Result<Decompressor> Decompressor::create(Compression compression) {
  Decompressor created;
  bool ready = false;
  if (compression == Compression::gzip) {
    created.gzip_.reset(new z_stream{});
    ready = inflateInit2(created.gzip_.get(), gzip_only) == Z_OK;
  } else {
    created.zstd_.reset(ZSTD_createDCtx());
    ready = created.zstd_ != nullptr &&
            ZSTD_isError(ZSTD_DCtx_setParameter(created.zstd_.get(), ZSTD_d_windowLogMax, max_zstd_window_log)) == 0;
  }
  if (!ready) {
    return std::unexpected(Error{ErrorCode::limit, "no memory to decompress the capture"});
  }
  return created;
}

Result<Decompressor::Progress> Decompressor::run(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) {
  if (ended_ || (in.empty() && at_boundary_)) {
    return Progress{};
  }
  auto progress = gzip_ ? run_gzip(in, out) : run_zstd(in, out);
  if (progress) {
    consumed_ += progress->consumed;
  }
  return progress;
}

Result<Decompressor::Progress> Decompressor::run_gzip(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) {
  if (at_boundary_ && any_member_) {
    if (in.front() != gzip_id1) {
      ended_ = true;
      return Progress{};
    }
    (void)inflateReset(gzip_.get());
  }
  at_boundary_ = false;
  z_stream& stream = *gzip_;
  stream.next_in = const_cast<Bytef*>(in.data());  // zlib does not write to it
  stream.avail_in = fit(in.size());
  stream.next_out = out.data();
  stream.avail_out = fit(out.size());
  const uInt in_before = stream.avail_in;
  const uInt out_before = stream.avail_out;
  const int status = inflate(&stream, Z_NO_FLUSH);
  const Progress progress{in_before - stream.avail_in, out_before - stream.avail_out};
  if (status == Z_STREAM_END) {
    at_boundary_ = true;
    any_member_ = true;
  } else if (status == Z_MEM_ERROR) {
    return std::unexpected(Error{ErrorCode::limit, "no memory to decompress the capture"});
  } else if (status != Z_OK && status != Z_BUF_ERROR) {
    return std::unexpected(Error{ErrorCode::malformed, "the gzip data is damaged", consumed_ + progress.consumed});
  }
  return progress;
}

// libzstd decodes a frame in one go where a call holds all of it, and is stricter there than in pieces. A stream must mean the
// same however it comes, so each frame's header is fed alone, byte by byte, and the frame's size is compared here.
Result<Decompressor::Progress> Decompressor::run_zstd(std::span<const std::uint8_t> in, std::span<std::uint8_t> out) {
  if (at_boundary_) {
    frame_ = {};
    frame_produced_ = 0;
  }
  if (!frame_.is_complete() && !in.empty()) {
    if (!frame_.take(in.front())) {
      return std::unexpected(Error{ErrorCode::malformed, "the zstd data is damaged", consumed_});
    }
    in = in.first(1);
  }
  ZSTD_inBuffer input{in.data(), in.size(), 0};
  ZSTD_outBuffer output{out.data(), out.size(), 0};
  const std::size_t status = ZSTD_decompressStream(zstd_.get(), &output, &input);
  if (ZSTD_isError(status) != 0) {
    const bool too_large = ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge ||
                           ZSTD_getErrorCode(status) == ZSTD_error_memory_allocation;
    return std::unexpected(Error{too_large ? ErrorCode::limit : ErrorCode::malformed,
                                 too_large ? "the zstd data needs a window beyond 128 MiB" : "the zstd data is damaged",
                                 consumed_ + input.pos});
  }
  at_boundary_ = status == 0;
  frame_produced_ += output.pos;
  if (at_boundary_ && frame_.content_bytes().value_or(frame_produced_) != frame_produced_) {
    return std::unexpected(Error{ErrorCode::malformed, "the zstd data is damaged", consumed_ + input.pos});
  }
  return Progress{input.pos, output.pos};
}

}  // namespace tlstrata::capture
