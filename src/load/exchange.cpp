#include "load/exchange.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <vector>

namespace tlstrata::load {
namespace {

// A window that no measured response fills: flow control would add round trips that HTTP/1.1 does not have.
constexpr std::int32_t window_bytes = (std::int32_t{1} << 30);

std::unexpected<Error> broken(const char* what) {
  return std::unexpected(Error{ErrorCode::malformed, what});
}

nghttp2_nv field(const std::string& name, const std::string& value) {
  nghttp2_nv nv{};
  // nghttp2 only reads them, and takes them as bytes that may be written.
  nv.name = reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data()));
  nv.namelen = name.size();
  nv.value = reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data()));
  nv.valuelen = value.size();
  nv.flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
  return nv;
}

}  // namespace

struct Exchange::Http2 {
  nghttp2_session* session = nullptr;
  std::vector<nghttp2_nv> fields;
  std::int32_t stream = -1;  // of the request that is out
  std::uint16_t status = 0;
  bool is_complete = false;
  bool was_reset = false;
  bool goes_away = false;
  std::size_t body_sent = 0;
  const Request* request = nullptr;

  Http2() = default;
  Http2(const Http2&) = delete;
  Http2& operator=(const Http2&) = delete;
  ~Http2() { nghttp2_session_del(session); }

  static Http2& of(void* user) { return *static_cast<Http2*>(user); }

  static int on_header(nghttp2_session* /*session*/, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t /*flags*/,
                       void* user) {
    Http2& self = of(user);
    const std::string_view key(reinterpret_cast<const char*>(name), name_size);
    if (frame->hd.stream_id == self.stream && key == ":status") {
      const char* const digits = reinterpret_cast<const char*>(value);
      std::uint16_t status = 0;
      (void)std::from_chars(digits, digits + value_size, status);
      self.status = status >= 200 ? status : std::uint16_t{0};
    }
    return 0;
  }

  static int on_frame(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* user) {
    of(user).goes_away = of(user).goes_away || frame->hd.type == NGHTTP2_GOAWAY;
    return 0;
  }

  static int on_close(nghttp2_session* /*session*/, std::int32_t stream, std::uint32_t error, void* user) {
    Http2& self = of(user);
    if (stream == self.stream) {
      self.is_complete = error == NGHTTP2_NO_ERROR && self.status != 0;
      self.was_reset = !self.is_complete;
    }
    return 0;
  }

  static ssize_t read_body(nghttp2_session* /*session*/, std::int32_t /*stream*/, std::uint8_t* buffer,
                           std::size_t length, std::uint32_t* flags, nghttp2_data_source* /*source*/, void* user) {
    Http2& self = of(user);
    const std::string_view rest = std::string_view(self.request->body).substr(self.body_sent);
    const std::size_t size = std::min(length, rest.size());
    std::memcpy(buffer, rest.data(), size);
    self.body_sent += size;
    *flags |= size == rest.size() ? static_cast<std::uint32_t>(NGHTTP2_DATA_FLAG_EOF) : 0U;
    return static_cast<ssize_t>(size);
  }

  static nghttp2_session_callbacks* callbacks() {
    static nghttp2_session_callbacks* const all = [] {
      nghttp2_session_callbacks* made = nullptr;
      if (nghttp2_session_callbacks_new(&made) == 0) {
        nghttp2_session_callbacks_set_on_header_callback(made, on_header);
        nghttp2_session_callbacks_set_on_frame_recv_callback(made, on_frame);
        nghttp2_session_callbacks_set_on_stream_close_callback(made, on_close);
      }
      return made;
    }();
    return all;
  }

  [[nodiscard]] bool open(const Request& asked) {
    request = &asked;
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(window_bytes)}};
    for (const auto& [name, value] : asked.fields) {
      fields.push_back(field(name, value));
    }
    return callbacks() != nullptr && nghttp2_session_client_new(&session, callbacks(), this) == 0 &&
           nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, std::size(settings)) == 0 &&
           nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, window_bytes) == 0;
  }

  [[nodiscard]] bool submit() {
    status = 0;
    is_complete = false;
    body_sent = 0;
    nghttp2_data_provider body{};
    body.read_callback = read_body;
    stream = nghttp2_submit_request(session, nullptr, fields.data(), fields.size(),
                                    request->body.empty() ? nullptr : &body, nullptr);
    return stream > 0;
  }

  [[nodiscard]] bool collect(std::string& out) const {
    for (;;) {
      const std::uint8_t* data = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session, &data);
      if (size <= 0) {
        return size == 0;
      }
      out.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
    }
  }
};

Exchange::Exchange() = default;
Exchange::~Exchange() = default;

Result<void> Exchange::begin(Protocol protocol, const Request& request) {
  protocol_ = protocol;
  request_ = &request;
  out_.clear();
  sent_ = 0;
  http2_.reset();
  if (protocol == Protocol::http2) {
    http2_ = std::make_unique<Http2>();
    if (!http2_->open(request)) {
      return std::unexpected(Error{ErrorCode::limit, "no memory for an HTTP/2 session"});
    }
  }
  return {};
}

Result<void> Exchange::ask(bool is_last) {
  if (protocol_ == Protocol::http1) {
    http1_.reset(request_->has_no_response_body);
    out_ = is_last ? request_->closing_text : request_->text;
    sent_ = 0;
    return {};
  }
  if (!http2_->submit() || !http2_->collect(out_)) {
    return broken("HTTP/2 request could not be made");
  }
  return {};
}

void Exchange::leave() {
  if (protocol_ == Protocol::http2 && nghttp2_session_terminate_session(http2_->session, NGHTTP2_NO_ERROR) == 0) {
    (void)http2_->collect(out_);
  }
}

std::span<const std::uint8_t> Exchange::outgoing() const {
  return std::span(reinterpret_cast<const std::uint8_t*>(out_.data()), out_.size()).subspan(sent_);
}

Result<void> Exchange::feed(std::span<const std::uint8_t> bytes) {
  if (protocol_ == Protocol::http1) {
    return http1_.feed(bytes);
  }
  const ssize_t taken = nghttp2_session_mem_recv(http2_->session, bytes.data(), bytes.size());
  if (outgoing().empty()) {
    out_.clear();
    sent_ = 0;
  }
  if (taken < 0 || !http2_->collect(out_)) {
    return broken("not HTTP/2");
  }
  if (http2_->was_reset) {
    return broken("the server reset the HTTP/2 stream");
  }
  return {};
}

bool Exchange::end_of_stream() {
  return protocol_ == Protocol::http1 ? http1_.end_of_stream() : http2_->is_complete;
}

std::uint16_t Exchange::status() const {
  if (protocol_ == Protocol::http1) {
    return http1_.status() >= 200 ? http1_.status() : std::uint16_t{0};
  }
  return http2_->status;
}

bool Exchange::is_complete() const {
  return protocol_ == Protocol::http1 ? http1_.complete() : http2_->is_complete;
}

bool Exchange::can_ask_again() const {
  return protocol_ == Protocol::http1 ? !http1_.closes() : !http2_->goes_away;
}

}  // namespace tlstrata::load
