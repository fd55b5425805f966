#include "ossl/socket_io.h"

#include <openssl/bio.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>

#include "ossl/handle.h"

namespace tlstrata::ossl {
namespace {

Nanos monotonic_ns() {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * nanos_per_second + now.tv_nsec;
}

SocketIo& io_of(BIO* bio) {
  return *static_cast<SocketIo*>(BIO_get_data(bio));
}

bool is_temporary(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

int write_bytes(BIO* bio, const char* bytes, std::size_t size, std::size_t* written) {
  SocketIo& io = io_of(bio);
  BIO_clear_retry_flags(bio);
  const bool is_hello = io.hello_began_ns == 0;
  io.write_began_ns = monotonic_ns();
  if (is_hello && io.measures) {
    static thread_local Nanos shortest = 0;
    io.making_cpu_ns = io.making.stop(io.write_began_ns, shortest);
    io.since_hello.start(io.write_began_ns);
  }
  const ssize_t sent = ::send(io.socket, bytes, size, MSG_NOSIGNAL);
  const int error = errno;
  if (is_hello) {
    io.hello_began_ns = io.write_began_ns;
    io.hello_ended_ns = monotonic_ns();
    if (io.measures && io.hello_ended_ns - io.hello_began_ns > 2 * suspicious_ns) {
      // Over the loopback the server often runs inside this call.
      CpuStopwatch::sync();
    }
  }
  if (sent < 0) {
    if (is_temporary(error)) {
      BIO_set_retry_write(bio);
    }
    errno = error;
    return 0;
  }
  *written = static_cast<std::size_t>(sent);
  return 1;
}

// One recv(2). More than 0: bytes that were received; else the BIO is told why not.
ssize_t receive(BIO* bio, SocketIo& io, void* to, std::size_t size) {
  const ssize_t received = ::recv(io.socket, to, size, 0);
  if (received == 0) {
    io.ended = true;
  } else if (received < 0 && is_temporary(errno)) {
    BIO_set_retry_read(bio);
  }
  return received;
}

int read_bytes(BIO* bio, char* bytes, std::size_t size, std::size_t* got) {
  SocketIo& io = io_of(bio);
  BIO_clear_retry_flags(bio);
  if (io.begin == io.end) {
    const bool is_large = size >= SocketIo::buffer_size;
    const ssize_t received =
        is_large ? receive(bio, io, bytes, size) : receive(bio, io, io.buffer.data(), io.buffer.size());
    if (received <= 0) {
      return 0;
    }
    if (is_large) {
      *got = static_cast<std::size_t>(received);
      return 1;
    }
    io.begin = 0;
    io.end = static_cast<std::size_t>(received);
  }
  const std::size_t taken = std::min(size, io.end - io.begin);
  std::memcpy(bytes, io.buffer.data() + io.begin, taken);
  io.begin += taken;
  *got = taken;
  return 1;
}

long control(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
  switch (command) {
    case BIO_CTRL_FLUSH:
      return 1;
    case BIO_CTRL_EOF:
      return io_of(bio).ended ? 1 : 0;
    default:
      return 0;
  }
}

Handle<BIO_METHOD, BIO_meth_free> make_method() {
  Handle<BIO_METHOD, BIO_meth_free> method(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "timed socket"));
  if (!method || BIO_meth_set_write_ex(method.get(), write_bytes) != 1 ||
      BIO_meth_set_read_ex(method.get(), read_bytes) != 1 || BIO_meth_set_ctrl(method.get(), control) != 1) {
    return nullptr;
  }
  return method;
}

}  // namespace

bio_st* new_socket_bio(SocketIo& io) {
  static const auto method = make_method();
  BIO* const bio = method ? BIO_new(method.get()) : nullptr;
  if (bio != nullptr) {
    BIO_set_data(bio, &io);
    BIO_set_init(bio, 1);
  }
  return bio;
}

}  // namespace tlstrata::ossl
