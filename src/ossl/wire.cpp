#include "ossl/wire.h"

#include <openssl/bio.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "ossl/bracket.h"
#include "ossl/handle.h"

namespace tlstrata::ossl {
namespace {

constexpr std::size_t receive_size = std::size_t{8} * 1024;

Wire& wire_of(BIO* bio) {
  return *static_cast<Wire*>(BIO_get_data(bio));
}

int write_bytes(BIO* bio, const char* bytes, std::size_t size, std::size_t* written) {
  Wire& wire = wire_of(bio);
  BIO_clear_retry_flags(bio);
  if (wire.socket < 0) {
    const std::span part(reinterpret_cast<const std::uint8_t*>(bytes), size);
    wire.outgoing->bytes.insert(wire.outgoing->bytes.end(), part.begin(), part.end());
    wire.sent += size;
    *written = size;
    return 1;
  }
  ssize_t sent = 0;
  do {
    sent = ::send(wire.socket, bytes, size, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) {
    return 0;
  }
  wire.sent += static_cast<std::uint64_t>(sent);
  *written = static_cast<std::size_t>(sent);
  return 1;
}

// Sockets: as much as there is at once, since the library asks for a record's header and its content apart.
bool fill(Wire& wire) {
  Pipe& pipe = *wire.incoming;
  pipe.taken = 0;
  pipe.bytes.resize(receive_size);
  ssize_t received = 0;
  do {
    received = ::recv(wire.socket, pipe.bytes.data(), pipe.bytes.size(), 0);
  } while (received < 0 && errno == EINTR);
  pipe.bytes.resize(received > 0 ? static_cast<std::size_t>(received) : 0);
  if (current_costs != nullptr) {
    CpuStopwatch::sync();  // it may have slept
  }
  return received > 0;
}

int read_bytes(BIO* bio, char* bytes, std::size_t size, std::size_t* got) {
  Wire& wire = wire_of(bio);
  BIO_clear_retry_flags(bio);
  Pipe& pipe = *wire.incoming;
  if (pipe.taken == pipe.bytes.size()) {
    if (wire.socket < 0) {
      BIO_set_retry_read(bio);
      return 0;
    }
    if (!fill(wire)) {
      return 0;
    }
  }
  const std::size_t part = std::min(size, pipe.bytes.size() - pipe.taken);
  std::memcpy(bytes, pipe.bytes.data() + pipe.taken, part);
  pipe.taken += part;
  if (pipe.taken == pipe.bytes.size()) {
    pipe.clear();
  }
  *got = part;
  return 1;
}

long control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

Handle<BIO_METHOD, BIO_meth_free> make_method() {
  Handle<BIO_METHOD, BIO_meth_free> method(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wire"));
  if (!method || BIO_meth_set_write_ex(method.get(), write_bytes) != 1 ||
      BIO_meth_set_read_ex(method.get(), read_bytes) != 1 || BIO_meth_set_ctrl(method.get(), control) != 1) {
    return nullptr;
  }
  return method;
}

}  // namespace

bio_st* new_wire_bio(Wire& wire) {
  static const auto method = make_method();
  BIO* const bio = method ? BIO_new(method.get()) : nullptr;
  if (bio != nullptr) {
    BIO_set_data(bio, &wire);
    BIO_set_init(bio, 1);
  }
  return bio;
}

}  // namespace tlstrata::ossl
