// Builds HTTP/2 frames; header blocks are compressed by nghttp2's deflater, as real peers do.
//
// Source: RFC 9113 sections 4.1 and 6; RFC 7541.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unit/http/plaintext.h"

namespace tlstrata::http::test {

namespace frame {
inline constexpr std::uint8_t data = 0;
inline constexpr std::uint8_t headers = 1;
inline constexpr std::uint8_t rst_stream = 3;
inline constexpr std::uint8_t settings = 4;
inline constexpr std::uint8_t push_promise = 5;
inline constexpr std::uint8_t ping = 6;
inline constexpr std::uint8_t goaway = 7;
inline constexpr std::uint8_t window_update = 8;
inline constexpr std::uint8_t continuation = 9;
inline constexpr std::uint8_t end_stream = 0x1;
inline constexpr std::uint8_t end_headers = 0x4;
inline constexpr std::uint8_t padded = 0x8;
inline constexpr std::uint8_t priority = 0x20;
}  // namespace frame

inline Bytes frame_bytes(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, const Bytes& payload) {
  return Writer().u24(payload.size()).u8(type).u8(flags).u32(stream).raw(payload).bytes();
}

inline Bytes settings_frame(std::vector<std::pair<std::uint16_t, std::uint32_t>> values = {}) {
  Writer writer;
  for (const auto& [identifier, value] : values) {
    writer.u16(identifier).u32(value);
  }
  return frame_bytes(frame::settings, 0, 0, writer.bytes());
}

inline Bytes data_frame(std::uint32_t stream, std::size_t size, bool end) {
  return frame_bytes(frame::data, end ? frame::end_stream : 0, stream, Bytes(size, 'd'));
}

// One side's HPACK encoder.
class Encoder {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  explicit Encoder(std::size_t table_size = 4096) {
    nghttp2_hd_deflater* deflater = nullptr;
    nghttp2_hd_deflate_new(&deflater, table_size);
    deflater_.reset(deflater);
  }
  void change_table_size(std::size_t size) { nghttp2_hd_deflate_change_table_size(deflater_.get(), size); }

  Bytes block(Fields fields) {
    std::vector<nghttp2_nv> pairs;
    for (auto& [name, value] : fields) {
      pairs.push_back({reinterpret_cast<std::uint8_t*>(name.data()), reinterpret_cast<std::uint8_t*>(value.data()),
                       name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    Bytes out(nghttp2_hd_deflate_bound(deflater_.get(), pairs.data(), pairs.size()));
    const auto size = nghttp2_hd_deflate_hd(deflater_.get(), out.data(), out.size(), pairs.data(), pairs.size());
    out.resize(static_cast<std::size_t>(size));
    return out;
  }
  Bytes request(std::uint32_t stream, std::string_view method = "GET", bool end = true, Fields more = {}) {
    Fields fields{
        {":method", std::string(method)}, {":scheme", "https"}, {":authority", "example.test"}, {":path", "/"}};
    fields.insert(fields.end(), more.begin(), more.end());
    return frame_bytes(frame::headers, flags(end), stream, block(std::move(fields)));
  }
  Bytes response(std::uint32_t stream, int status = 200, bool end = false, Fields more = {}) {
    Fields fields{{":status", std::to_string(status)}};
    fields.insert(fields.end(), more.begin(), more.end());
    return frame_bytes(frame::headers, flags(end), stream, block(std::move(fields)));
  }
  static std::uint8_t flags(bool end) {
    return static_cast<std::uint8_t>(frame::end_headers | (end ? frame::end_stream : 0));
  }

 private:
  struct FreeDeflater {
    void operator()(nghttp2_hd_deflater* deflater) const { nghttp2_hd_deflate_del(deflater); }
  };
  std::unique_ptr<nghttp2_hd_deflater, FreeDeflater> deflater_;
};

}  // namespace tlstrata::http::test
