#include "probe/hello.h"

#include <algorithm>
#include <string_view>

namespace tlstrata::probe {
namespace {

namespace extension {
constexpr std::uint16_t server_name = 0;
constexpr std::uint16_t supported_groups = 10;
constexpr std::uint16_t ec_point_formats = 11;
constexpr std::uint16_t signature_algorithms = 13;
constexpr std::uint16_t alpn = 16;
constexpr std::uint16_t padding = 21;
constexpr std::uint16_t extended_master_secret = 23;
constexpr std::uint16_t supported_versions = 43;
constexpr std::uint16_t cookie = 44;
constexpr std::uint16_t psk_key_exchange_modes = 45;
constexpr std::uint16_t key_share = 51;
constexpr std::uint16_t renegotiation_info = 0xFF01;
}  // namespace extension

constexpr std::uint8_t client_hello_type = 1;
constexpr std::uint8_t handshake_record = 22;
constexpr std::size_t extension_header = 4;

constexpr std::array<std::uint16_t, 3> suites13{0x1301, 0x1302, 0x1303};
// ECDHE with AEAD, then with CBC, RSA at last: what a server that is no more than old can take.
constexpr std::array<std::uint16_t, 14> suites12{0xC02B, 0xC02F, 0xC02C, 0xC030, 0xCCA9, 0xCCA8, 0xC009,
                                                 0xC013, 0xC00A, 0xC014, 0x009C, 0x009D, 0x002F, 0x0035};
// ECDSA, EdDSA, RSA and ML-DSA, so that no certificate stands between the probe and its answer.
constexpr std::array<std::uint16_t, 17> signatures{0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501,
                                                   0x0806, 0x0601, 0x0603, 0x0807, 0x0808, 0x0809,
                                                   0x080A, 0x080B, 0x0904, 0x0905, 0x0906};

class Writer {
 public:
  void u8(std::size_t value) { bytes_.push_back(static_cast<std::uint8_t>(value)); }
  void u16(std::size_t value) {
    u8(value >> 8U);
    u8(value & 0xFFU);
  }
  void put(std::span<const std::uint8_t> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void put(std::string_view text) {
    for (const char c : text) {
      u8(static_cast<unsigned char>(c));
    }
  }
  // What `write` writes, behind its length in `width` bytes.
  template <typename Write>
  void vector(std::size_t width, Write write) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + width);
    write();
    std::size_t length = bytes_.size() - at - width;
    for (std::size_t i = width; i > 0; --i, length >>= 8U) {
      bytes_[at + i - 1] = static_cast<std::uint8_t>(length & 0xFFU);
    }
  }
  template <typename Write>
  void extension(std::uint16_t type, Write write) {
    u16(type);
    vector(2, write);
  }
  template <typename Codes>
  void codes(const Codes& codes, std::size_t width) {
    vector(width, [&] {
      for (const std::uint16_t code : codes) {
        u16(code);
      }
    });
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

void put_tls13(Writer& out, const Hello& hello) {
  out.extension(extension::supported_versions, [&] { out.codes(hello.versions, 1); });
  out.extension(extension::psk_key_exchange_modes, [&] { out.vector(1, [&] { out.u8(1); }); });  // psk_dhe_ke
  out.extension(extension::key_share, [&] {
    out.vector(2, [&] {
      for (const KeyShare& share : hello.key_shares) {
        out.u16(share.group);
        out.vector(2, [&] { out.put(share.key_exchange); });
      }
    });
  });
  if (!hello.cookie.empty()) {
    out.extension(extension::cookie, [&] { out.vector(2, [&] { out.put(hello.cookie); }); });
  }
}

void put_extensions(Writer& out, const Hello& hello) {
  if (!hello.server_name.empty()) {
    out.extension(extension::server_name, [&] {
      out.vector(2, [&] {
        out.u8(0);  // host_name
        out.vector(2, [&] { out.put(hello.server_name); });
      });
    });
  }
  out.extension(extension::extended_master_secret, [] {});
  out.extension(extension::renegotiation_info, [&] { out.u8(0); });
  if (!hello.groups.empty()) {
    out.extension(extension::supported_groups, [&] { out.codes(hello.groups, 2); });
  }
  out.extension(extension::ec_point_formats, [&] { out.vector(1, [&] { out.u8(0); }); });
  if (!hello.alpn.empty()) {
    out.extension(extension::alpn, [&] {
      out.vector(2, [&] {
        for (const std::string& protocol : hello.alpn) {
          out.vector(1, [&] { out.put(protocol); });
        }
      });
    });
  }
  out.extension(extension::signature_algorithms, [&] { out.codes(signatures, 2); });
  if (!hello.versions.empty()) {
    put_tls13(out, hello);
  }
}

void put_suites(Writer& out, const Hello& hello) {
  const bool is_tls13 = std::ranges::find(hello.versions, version::tls13) != hello.versions.end();
  const bool is_older = hello.versions.empty() || hello.versions.back() != version::tls13;
  out.vector(2, [&] {
    for (const std::uint16_t suite : suites13) {
      if (is_tls13) {
        out.u16(suite);
      }
    }
    for (const std::uint16_t suite : suites12) {
      if (is_older) {
        out.u16(suite);
      }
    }
  });
}

}  // namespace

Bytes write_hello(const Hello& hello) {
  Writer out;
  out.u8(client_hello_type);
  out.vector(3, [&] {
    out.u16(hello.legacy_version);
    out.put(hello.random);
    out.vector(1, [&] { out.put(hello.session_id); });
    put_suites(out, hello);
    out.vector(1, [&] { out.u8(0); });  // no compression
    out.vector(2, [&] {
      put_extensions(out, hello);
      const std::size_t size = out.size() + extension_header;
      if (hello.size >= size) {
        out.extension(extension::padding, [&] { out.put(Bytes(hello.size - size)); });
      }
    });
  });
  return out.take();
}

Bytes in_records(std::span<const std::uint8_t> message, std::size_t most_bytes) {
  Writer out;
  const std::size_t most = most_bytes == 0 ? largest_hello : std::min(most_bytes, largest_hello);
  while (!message.empty()) {
    const auto part = message.first(std::min(most, message.size()));
    message = message.subspan(part.size());
    out.u8(handshake_record);
    out.u16(version::tls10);  // of the first hello, whatever it offers (RFC 8446 section 5.1)
    out.vector(2, [&] { out.put(part); });
  }
  return out.take();
}

}  // namespace tlstrata::probe
