// Reads one HTTP/1.1 response, as far as a load generator cares: its status and where it ends.
//
//   status_line -> fields -> body_of_length ----------------------------> done
//        ^            |----> chunk_size -> chunk_data -> chunk_end --+     ^
//        |            |          ^---------------------------------- +     |
//        |            |          (size 0) -> trailer ---------------------->|
//        +--1xx-------+----> body_to_close --end of stream--------------- ->+
//
// In:        plaintext in pieces of any size. Hostile.
// Out:       complete() once the response's last byte was seen, or its stream ended where that is its end.
// Ownership: holds the line that is being read, at most largest_line bytes.
// Errors:    malformed, or limit for lines and headers without end; then nothing more may be fed.
// Threads:   one an object.
// Source:    RFC 9112 sections 4, 6.3 and 7.1.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tlstrata::load {

class ResponseReader {
 public:
  static constexpr std::size_t largest_line = std::size_t{16} * 1024;
  static constexpr std::size_t largest_head = std::size_t{256} * 1024;

  // For the next response; one to HEAD has no body whatever its fields say.
  void reset(bool has_no_body = false);
  [[nodiscard]] Result<void> feed(std::span<const std::uint8_t> bytes);
  // The stream was ended in the orderly way; true where that completes the response.
  [[nodiscard]] bool end_of_stream();

  [[nodiscard]] bool complete() const { return state_ == State::done; }
  [[nodiscard]] std::uint16_t status() const { return status_; }          // 0: not yet
  [[nodiscard]] bool closes() const { return closes_; }                   // it says that nothing more will come
  [[nodiscard]] std::uint64_t body_bytes() const { return body_bytes_; }  // received so far, chunk framing left out

 private:
  enum class State : std::uint8_t {
    status_line,
    fields,
    body_of_length,
    body_to_close,
    chunk_size,
    chunk_data,
    chunk_end,
    trailer,
    done
  };

  [[nodiscard]] Result<void> line_done();
  [[nodiscard]] Result<void> read_status(std::string_view line);
  [[nodiscard]] Result<void> read_field(std::string_view line);
  [[nodiscard]] Result<void> read_chunk_size(std::string_view line);
  void fields_done();
  std::size_t take_body(std::size_t available);

  State state_ = State::status_line;
  std::string line_;
  std::size_t head_bytes_ = 0;
  std::uint16_t status_ = 0;
  bool has_length_ = false;
  bool chunked_ = false;
  bool has_no_body_ = false;
  bool closes_ = false;
  std::uint64_t left_ = 0;  // of the body or the chunk
  std::uint64_t body_bytes_ = 0;
};

}  // namespace tlstrata::load
