#include "capture/file_writer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "capture/file_parser.h"
#include "capture/pcapng.h"
#include "capture/time_scale.h"

namespace tlstrata::capture {
namespace {

using pcapng::BlockType;

enum class Option : std::uint16_t {
  end = 0,
  shb_hardware = 2,
  shb_os = 3,
  shb_userappl = 4,
  if_name = 2,
  if_tsresol = 9,
  if_filter = 11,
  isb_ifrecv = 4,
  isb_ifdrop = 5,
  isb_osdrop = 7,
};

// TShark takes blocks of any length here, but a reader may map or copy each: a key log of a long run goes into several.
constexpr std::size_t secrets_block_bytes = 1U << 20U;
constexpr std::size_t packet_head_bytes = 28;

constexpr std::size_t padding_after(std::size_t length) {
  return (4 - length % 4) % 4;
}

void append(std::vector<std::uint8_t>& out, std::span<const std::uint8_t> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

template <typename T>
void put(std::vector<std::uint8_t>& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i)));
  }
}

void put_padded(std::vector<std::uint8_t>& out, std::span<const std::uint8_t> bytes) {
  append(out, bytes);
  out.insert(out.end(), padding_after(bytes.size()), 0);
}

void put_option(std::vector<std::uint8_t>& out, Option code, std::span<const std::uint8_t> value) {
  put(out, std::to_underlying(code));
  put(out, static_cast<std::uint16_t>(value.size()));
  put_padded(out, value);
}

void put_option(std::vector<std::uint8_t>& out, Option code, std::string_view text) {
  // Longer than an option can be: its start tells a person most.
  const std::string_view fitting = text.substr(0, std::numeric_limits<std::uint16_t>::max());
  if (!fitting.empty()) {
    const std::vector<std::uint8_t> bytes(fitting.begin(), fitting.end());
    put_option(out, code, std::span(bytes));
  }
}

void put_option(std::vector<std::uint8_t>& out, Option code, std::uint64_t value) {
  std::vector<std::uint8_t> bytes;
  put(bytes, value);
  put_option(out, code, std::span(bytes));
}

void put_end_of_options(std::vector<std::uint8_t>& out) {
  put(out, std::to_underlying(Option::end));
  put(out, std::uint16_t{0});
}

// A block from its body, which is padded already.
std::vector<std::uint8_t> make_block(BlockType type, std::span<const std::uint8_t> body) {
  const auto length = static_cast<std::uint32_t>(pcapng::block_head_bytes + body.size() + pcapng::block_trailer_bytes);
  std::vector<std::uint8_t> block;
  block.reserve(length);
  put(block, std::to_underlying(type));
  put(block, length);
  block.insert(block.end(), body.begin(), body.end());
  put(block, length);
  return block;
}

std::vector<std::uint8_t> make_section_header(const CaptureOrigin& origin) {
  std::vector<std::uint8_t> body;
  put(body, pcapng::byte_order_magic);
  put(body, std::uint16_t{1});  // version 1.0
  put(body, std::uint16_t{0});
  put(body, std::numeric_limits<std::uint64_t>::max());  // length of the section: not said
  put_option(body, Option::shb_hardware, origin.hardware);
  put_option(body, Option::shb_os, origin.os);
  put_option(body, Option::shb_userappl, origin.application);
  put_end_of_options(body);
  return make_block(BlockType::section_header, body);
}

// How many bytes of the key log the next block takes: whole lines, for readers take each block by itself.
std::size_t secrets_piece(std::span<const std::uint8_t> key_log) {
  if (key_log.size() <= secrets_block_bytes) {
    return key_log.size();
  }
  const auto window = key_log.first(secrets_block_bytes);
  const auto last_line_end = std::find(window.rbegin(), window.rend(), static_cast<std::uint8_t>('\n'));
  return last_line_end == window.rend() ? window.size() : static_cast<std::size_t>(window.rend() - last_line_end);
}

std::vector<std::uint8_t> make_secrets(std::span<const std::uint8_t> key_log) {
  std::vector<std::uint8_t> blocks;
  while (!key_log.empty()) {
    const auto piece = key_log.first(secrets_piece(key_log));
    std::vector<std::uint8_t> body;
    put(body, Secrets::tls_key_log);
    put(body, static_cast<std::uint32_t>(piece.size()));
    put_padded(body, piece);
    append(blocks, make_block(BlockType::decryption_secrets, body));
    key_log = key_log.subspan(piece.size());
  }
  return blocks;
}

void store(std::span<std::uint8_t> at, std::uint32_t value) {
  for (std::size_t i = 0; i < sizeof(value); ++i) {
    at[i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

}  // namespace

Checked<FileWriter> FileWriter::create(const std::string& path, const CaptureOrigin& origin) {
  // Opened at once, so that a place that can't be written to is known before anything is captured.
  auto output = io::OutputFile::create(path, io::OutputFile::for_owner);
  if (!output) {
    return std::unexpected(output.error());
  }
  const auto folder = std::filesystem::path(path).parent_path();
  auto packets = Spool::create(folder.empty() ? "." : folder);
  if (!packets) {
    return std::unexpected(packets.error());
  }
  FileWriter writer(path, std::move(*output), std::move(*packets));
  append(writer.head_, make_section_header(origin));
  return writer;
}

std::uint32_t FileWriter::add_interface(const InterfaceDescription& description) {
  std::vector<std::uint8_t> body;
  put(body, std::to_underlying(description.link));
  put(body, std::uint16_t{0});
  put(body, description.snap_length);
  put_option(body, Option::if_name, description.name);
  put_option(body, Option::if_tsresol, std::span(&TimeScale::nanoseconds, 1));
  if (!description.filter.empty()) {
    put_option(body, Option::if_filter, std::string(1, '\0') + description.filter);  // 0: a filter string
  }
  put_end_of_options(body);
  append(head_, make_block(BlockType::interface_description, body));
  interfaces_.push_back(description.link);
  return static_cast<std::uint32_t>(interfaces_.size() - 1);
}

Checked<void> FileWriter::write(const Packet& packet) {
  if (packet.interface >= interfaces_.size() || interfaces_[packet.interface] != packet.link) {
    return std::unexpected(refuse("a packet of an interface that the capture does not describe"));
  }
  if (packet.time_ns < 0) {
    return std::unexpected(refuse("a packet stamped before 1970"));
  }
  const std::size_t padding = padding_after(packet.data.size());
  const std::size_t block_bytes = packet_head_bytes + packet.data.size() + padding + pcapng::block_trailer_bytes;
  if (block_bytes > FileParser::max_packet_bytes) {
    return std::unexpected(refuse("a packet longer than a capture can hold"));
  }
  const auto time_ns = static_cast<std::uint64_t>(packet.time_ns);
  const auto length = static_cast<std::uint32_t>(block_bytes);
  std::array<std::uint8_t, packet_head_bytes> head{};
  const std::span fields(head);
  store(fields.subspan(0), std::to_underlying(BlockType::enhanced_packet));
  store(fields.subspan(4), length);
  store(fields.subspan(8), packet.interface);
  store(fields.subspan(12), static_cast<std::uint32_t>(time_ns >> 32U));
  store(fields.subspan(16), static_cast<std::uint32_t>(time_ns));
  store(fields.subspan(20), static_cast<std::uint32_t>(packet.data.size()));
  store(fields.subspan(24), packet.original_length);
  std::array<std::uint8_t, 8> tail{};  // padding, then the length again
  store(std::span(tail).subspan(padding), length);
  if (auto appended = packets_.append(head); !appended) {
    return appended;
  }
  if (auto appended = packets_.append(packet.data); !appended) {
    return appended;
  }
  return packets_.append(std::span(tail).first(padding + pcapng::block_trailer_bytes));
}

Checked<void> FileWriter::add_statistics(std::uint32_t interface, const InterfaceStatistics& statistics) {
  if (interface >= interfaces_.size()) {
    return std::unexpected(refuse("statistics of an interface that the capture does not describe"));
  }
  const auto time_ns = static_cast<std::uint64_t>(std::max<Nanos>(statistics.time_ns, 0));
  std::vector<std::uint8_t> body;
  put(body, interface);
  put(body, static_cast<std::uint32_t>(time_ns >> 32U));
  put(body, static_cast<std::uint32_t>(time_ns));
  put_option(body, Option::isb_ifrecv, statistics.received);
  put_option(body, Option::isb_ifdrop, statistics.dropped_by_interface);
  put_option(body, Option::isb_osdrop, statistics.dropped_by_kernel);
  put_end_of_options(body);
  return packets_.append(make_block(BlockType::interface_statistics, body));
}

void FileWriter::add_secrets(std::span<const std::uint8_t> key_log) {
  append(secrets_, make_secrets(key_log));
}

Checked<void> FileWriter::finish() {
  for (const auto* part : {&head_, &secrets_}) {
    if (auto written = output_.write(std::span(*part)); !written) {
      return written;
    }
  }
  if (auto copied = packets_.copy_to(output_); !copied) {
    return copied;
  }
  return output_.finish();
}

Complaint FileWriter::refuse(const char* what) const {
  return Complaint{what, path_, "this is a fault of tlstrata: please report it"};
}

}  // namespace tlstrata::capture
