#include "probe/answer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/byte_reader.h"

namespace tlstrata::probe {
namespace {

constexpr std::uint8_t change_cipher_spec = 20;
constexpr std::uint8_t alert_record = 21;
constexpr std::uint8_t handshake_record = 22;
constexpr std::uint8_t server_hello_type = 2;
constexpr std::size_t record_header = 5;
constexpr std::size_t handshake_header = 4;
constexpr std::size_t longest_record = (std::size_t{1} << 14U) + 2048;  // RFC 5246 section 6.2.3

constexpr std::uint16_t supported_versions = 43;
constexpr std::uint16_t cookie = 44;
constexpr std::uint16_t key_share = 51;

// SHA-256 of "HelloRetryRequest" (RFC 8446 section 4.1.3).
constexpr std::array<std::uint8_t, 32> retry_random{0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C,
                                                    0x02, 0x1E, 0x65, 0xB8, 0x91, 0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB,
                                                    0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C};

Result<void> read_extension(std::uint16_t type, ByteReader& body, ServerHello& hello) {
  if (type == supported_versions) {
    hello.version = body.u16();
  } else if (type == key_share) {
    hello.group = body.u16();
    if (!hello.is_retry) {
      auto key_exchange = body.sub16();
      key_exchange.skip(key_exchange.remaining());
      if (auto done = key_exchange.finish("key_exchange"); !done) {
        return done;
      }
    }
  } else if (type == cookie) {
    auto value = body.sub16();
    const auto bytes = value.rest();
    hello.cookie.assign(bytes.begin(), bytes.end());
    if (auto done = value.finish("cookie"); !done) {
      return done;
    }
  } else {
    body.skip(body.remaining());
  }
  return {};
}

Result<void> read_extensions(ByteReader& reader, ServerHello& hello) {
  auto block = reader.sub16();
  Result<void> done;
  while (done && !block.empty()) {
    const std::uint16_t type = block.u16();
    auto body = block.sub16();
    done = read_extension(type, body, hello);
    const auto inside = done ? body.finish("extension") : body.finish_partial("extension");
    if (done) {
      done = inside;
    }
  }
  const auto whole = done ? block.finish("extensions") : block.finish_partial("extensions");
  return done ? whole : done;
}

}  // namespace

Result<ServerHello> parse_server_hello(std::span<const std::uint8_t> body) {
  ByteReader reader(body);
  ServerHello hello;
  hello.version = reader.u16();
  hello.is_retry = std::ranges::equal(reader.take(retry_random.size()), retry_random);
  auto session_id = reader.sub8();
  session_id.skip(session_id.remaining());
  Result<void> done = session_id.finish("legacy_session_id_echo");
  hello.cipher_suite = reader.u16();
  reader.skip(1);  // legacy_compression_method
  if (done && !reader.empty()) {
    done = read_extensions(reader, hello);
  }
  const auto whole = done ? reader.finish("ServerHello") : reader.finish_partial("ServerHello");
  if (done) {
    done = whole;
  }
  if (!done) {
    return std::unexpected(done.error());
  }
  return hello;
}

void AnswerReader::feed(std::span<const std::uint8_t> bytes) {
  fed_ += bytes.size();
  if (!failed_) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
}

// One record into message_ or alert_; false: it is not whole yet.
Result<bool> AnswerReader::read_record() {
  const auto refuse = [&](ErrorCode code, const char* what) { return std::unexpected(Error{code, what, consumed_}); };
  if (buffer_.empty()) {
    return false;
  }
  const std::uint8_t type = buffer_[0];
  const bool is_first = consumed_ == 0;
  if (type != handshake_record && type != alert_record && (is_first || type != change_cipher_spec)) {
    return refuse(is_first ? ErrorCode::unsupported : ErrorCode::malformed, "record type");
  }
  if (buffer_.size() < record_header) {
    return false;
  }
  ByteReader header{std::span(buffer_).first(record_header), consumed_};
  header.skip(1);
  const std::uint16_t record_version = header.u16();
  const std::size_t length = header.u16();
  if (auto done = header.finish("record header"); !done) {
    return std::unexpected(done.error());
  }
  if (record_version >> 8U != 3) {
    return refuse(is_first ? ErrorCode::unsupported : ErrorCode::malformed, "record version");
  }
  if (length > longest_record) {
    return refuse(ErrorCode::limit, "record length");
  }
  if (buffer_.size() < record_header + length) {
    return false;
  }
  const auto content = std::span(buffer_).subspan(record_header, length);
  if (type == handshake_record) {
    message_.insert(message_.end(), content.begin(), content.end());
  } else if (type == alert_record) {
    if (content.size() != 2) {
      return refuse(ErrorCode::malformed, "alert");
    }
    alert_ = Alert{content[0] != 1, content[1]};
  }
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(record_header + length));
  consumed_ += record_header + length;
  return true;
}

// The ServerHello, once it is whole.
Result<std::optional<Answer>> AnswerReader::read_message() {
  if (message_.size() < handshake_header) {
    return std::nullopt;
  }
  ByteReader header{std::span(message_).first(handshake_header)};
  const std::uint8_t type = header.u8();
  const std::size_t length = header.u24();
  if (auto done = header.finish("handshake header"); !done) {
    return std::unexpected(done.error());
  }
  if (type != server_hello_type) {
    return std::unexpected(Error{ErrorCode::malformed, "handshake message", consumed_});
  }
  if (length > longest_message) {
    return std::unexpected(Error{ErrorCode::limit, "ServerHello length", consumed_});
  }
  if (message_.size() < handshake_header + length) {
    return std::nullopt;
  }
  auto hello = parse_server_hello(std::span(message_).subspan(handshake_header, length));
  if (!hello) {
    return std::unexpected(hello.error());
  }
  message_.erase(message_.begin(), message_.begin() + static_cast<std::ptrdiff_t>(handshake_header + length));
  return std::optional<Answer>(std::move(*hello));
}

Result<std::optional<Answer>> AnswerReader::next_unchecked() {
  for (;;) {
    auto message = read_message();
    if (!message || *message) {
      return message;
    }
    const auto more = read_record();
    if (!more) {
      return std::unexpected(more.error());
    }
    if (!*more) {
      return std::nullopt;
    }
    if (const auto alert = std::exchange(alert_, std::nullopt); alert && (alert->is_fatal || alert->description == 0)) {
      return std::optional<Answer>(*alert);
    }
  }
}

Result<std::optional<Answer>> AnswerReader::next() {
  if (failed_) {
    return std::unexpected(*failed_);
  }
  auto answer = next_unchecked();
  if (!answer) {
    failed_ = answer.error();
    buffer_.clear();
    message_.clear();
  }
  return answer;
}

}  // namespace tlstrata::probe
