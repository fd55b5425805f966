#include "load/own_capture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "base/version.h"

namespace tlstrata::load {
namespace {

std::string without_port(const io::Address& address) {
  const std::string text = address.text();
  const std::string host = text.substr(0, text.rfind(':'));
  return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

// The address that packets to `server` leave from.
Checked<std::string> source_of(const io::Address& server) {
  const io::UniqueFd probe(::socket(server.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  // Connecting a datagram socket asks for the route and sends nothing.
  if (!probe || ::connect(probe.get(), server.get(), server.size()) != 0) {
    return std::unexpected(complain_errno("no route for the capture", server.text(), "check the network's set-up"));
  }
  return without_port(io::Address::local_of(probe.get()));
}

Checked<std::string> interface_to(const io::Address& server) {
  const auto source = source_of(server);
  if (!source) {
    return source;
  }
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) {
    return std::unexpected(complain_errno("cannot list interfaces", *source, "check the network's set-up"));
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(all, ::freeifaddrs);
  const std::string loopback_prefix = "127.";
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != server.family()) {
      continue;
    }
    std::array<char, NI_MAXHOST> text{};
    const socklen_t size = server.family() == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    (void)::getnameinfo(one->ifa_addr, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
    const std::string_view own = text.data();
    // All of 127.0.0.0/8 is the loopback's.
    if (own == *source || (own.starts_with(loopback_prefix) && source->starts_with(loopback_prefix))) {
      return std::string(one->ifa_name);
    }
  }
  return std::unexpected(
      Complaint{"no interface has the address that connections come from", *source, "capture with another program"});
}

capture::CaptureOrigin origin() {
  utsname machine{};
  (void)::uname(&machine);
  return {machine.machine, fmt::format("{} {}", machine.sysname, machine.release),
          fmt::format("tlstrata {} load", version_string())};
}

}  // namespace

Checked<OwnCapture> OwnCapture::create(const std::string& path, const std::string& key_log) {
  OwnCapture own;
  own.path_ = path;
  own.key_log_ = key_log;
  auto writer = capture::FileWriter::create(path, origin());
  if (!writer) {
    return std::unexpected(writer.error());
  }
  own.writer_ = std::make_unique<capture::FileWriter>(std::move(*writer));
  if (key_log.empty()) {
    own.memory_.reset(::memfd_create("keys", MFD_CLOEXEC));
    // Threads append a line at a time.
    if (!own.memory_ || ::fcntl(own.memory_.get(), F_SETFL, O_APPEND) != 0) {
      return std::unexpected(complain_errno("no memory for the keys", path, "free some memory"));
    }
    return own;
  }
  struct stat status{};
  own.key_log_before_ = ::stat(key_log.c_str(), &status) == 0 ? status.st_size : 0;
  return own;
}

Checked<void> OwnCapture::begin(const io::Address& server) {
  const auto interface = interface_to(server);
  if (!interface) {
    return std::unexpected(interface.error());
  }
  capture::LiveOptions options;
  options.interface = *interface;
  options.filter = fmt::format("host {} and tcp port {}", without_port(server), server.port());
  auto live = capture::LiveCapture::open(options);
  if (!live) {
    return std::unexpected(live.error());
  }
  capture_ = std::make_unique<capture::LiveCapture>(std::move(*live));
  return capture_->start(*writer_);
}

Checked<void> OwnCapture::add_keys() {
  const io::UniqueFd file(memory_ ? ::fcntl(memory_.get(), F_DUPFD_CLOEXEC, 0)
                                  : ::open(key_log_.c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<std::uint8_t> keys;
  std::vector<std::uint8_t> piece(std::size_t{1} << 20U);
  std::int64_t at = key_log_before_;
  for (;;) {
    const ssize_t got = ::pread(file.get(), piece.data(), piece.size(), at);
    if (got < 0) {
      return std::unexpected(complain_errno("cannot read the keys again", key_log_, "keep the key log readable"));
    }
    if (got == 0) {
      break;
    }
    keys.insert(keys.end(), piece.begin(), piece.begin() + got);
    at += got;
  }
  // A last line without its end (a full disk) is no key.
  while (!keys.empty() && keys.back() != '\n') {
    keys.pop_back();
  }
  writer_->add_secrets(keys);
  return {};
}

Checked<capture::LiveCounts> OwnCapture::finish() {
  const auto counts = capture_->stop();
  if (!counts) {
    return counts;
  }
  if (auto added = add_keys(); !added) {
    return std::unexpected(added.error());
  }
  if (auto finished = writer_->finish(); !finished) {
    return std::unexpected(finished.error());
  }
  return counts;
}

}  // namespace tlstrata::load
