// Makes a large capture of a small one: each copy of its packets gets a client address of its own and a later start, so that
// every connection is new while its key log stays valid (the ClientHello's random is what finds the keys).
//
// usage: replicate IN.pcap OUT.pcap COPIES CLIENT_IPV4 STEP_NS
//   STEP_NS between the starts of two copies: the length of IN for one after the other, less to have many open at a time.
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <queue>
#include <span>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "base/complaint.h"
#include "capture/file_source.h"

namespace {

using tlstrata::Nanos;

struct Frame {
  Nanos time_ns = 0;
  std::vector<std::uint8_t> bytes;
  std::vector<std::size_t> client_addresses;  // offsets of the client's IPv4 address in the frame
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "replicate: %s\n", why.c_str());
  std::exit(3);
}

std::vector<Frame> read_frames(const std::string& path, std::uint32_t client) {
  auto source = tlstrata::capture::FileSource::open(path);
  if (!source) {
    fail(tlstrata::describe(source.error()));
  }
  std::array<std::uint8_t, 4> address{};
  std::memcpy(address.data(), &client, address.size());
  std::vector<Frame> frames;
  while (true) {
    auto item = source->next();
    if (!item) {
      fail(item.error().what);
    }
    if (!*item) {
      return frames;
    }
    const auto* packet = std::get_if<tlstrata::capture::Packet>(&**item);
    if (packet == nullptr || packet->data.size() < 34) {
      continue;
    }
    Frame frame{packet->time_ns, {packet->data.begin(), packet->data.end()}, {}};
    for (const std::size_t offset : {std::size_t{26}, std::size_t{30}}) {  // Ethernet, IPv4 source and destination
      if (std::equal(address.begin(), address.end(), frame.bytes.begin() + static_cast<std::ptrdiff_t>(offset))) {
        frame.client_addresses.push_back(offset);
      }
    }
    frames.push_back(std::move(frame));
  }
}

void put(std::FILE* file, std::span<const std::uint8_t> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size()) {
    fail("the output cannot be written");
  }
}

void put_words(std::FILE* file, std::span<const std::uint32_t> words) {
  std::vector<std::uint8_t> bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  put(file, bytes);
}

}  // namespace

int main(int argc, char** argv) {
  in_addr client{};
  if (argc != 6 || inet_pton(AF_INET, argv[4], &client) != 1) {
    std::fprintf(stderr, "usage: replicate IN.pcap OUT.pcap COPIES CLIENT_IPV4 STEP_NS\n");
    return 2;
  }
  std::vector<Frame> frames = read_frames(argv[1], client.s_addr);
  const auto copies = static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10));
  const Nanos step_ns = std::strtoll(argv[5], nullptr, 10);
  const File out(std::fopen(argv[2], "wb"));
  if (!out || frames.empty()) {
    fail("no output or no input");
  }
  // Page cache that was written in small pieces is in small pages, and costs several times as much to map as what was read.
  std::setvbuf(out.get(), nullptr, _IOFBF, std::size_t{4} << 20U);
  // Nanosecond pcap, version 2.4, Ethernet, in this machine's byte order.
  put_words(out.get(), std::array<std::uint32_t, 6>{0xA1B23C4D, 0x00040002, 0, 0, 262144, 1});
  using Next = std::tuple<Nanos, std::uint32_t, std::size_t>;  // time, copy, frame
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  std::uint32_t started = 0;
  const auto start = [&] {
    queue.emplace(frames.front().time_ns + started * step_ns, started, 0);
    ++started;
  };
  start();
  while (!queue.empty()) {
    const auto [time_ns, copy, index] = queue.top();
    queue.pop();
    if (index == 0 && started < copies) {
      start();
    }
    Frame& frame = frames[index];
    const std::uint32_t address = htonl(0x0B000000U + copy);  // 11.0.0.0 and up
    for (const std::size_t offset : frame.client_addresses) {
      std::memcpy(frame.bytes.data() + offset, &address, sizeof address);
    }
    const auto size = static_cast<std::uint32_t>(frame.bytes.size());
    put_words(out.get(), std::array<std::uint32_t, 4>{static_cast<std::uint32_t>(time_ns / 1'000'000'000),
                                                      static_cast<std::uint32_t>(time_ns % 1'000'000'000), size, size});
    put(out.get(), frame.bytes);
    if (index + 1 < frames.size()) {
      queue.emplace(frames[index + 1].time_ns + copy * step_ns, copy, index + 1);
    }
  }
  return std::fflush(out.get()) == 0 ? 0 : 3;
}
