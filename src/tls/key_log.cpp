#include "tls/key_log.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace tlstrata::tls {
namespace {

constexpr std::size_t longest_line = 1024;  // the longest with a meaning has 34 + 1 + 64 + 1 + 96 characters

constexpr std::array<std::int8_t, 256> make_hex_table() {
  std::array<std::int8_t, 256> table{};
  table.fill(-1);
  for (int i = 0; i < 10; ++i) {
    table[static_cast<std::size_t>('0' + i)] = static_cast<std::int8_t>(i);
  }
  for (int i = 0; i < 6; ++i) {
    table[static_cast<std::size_t>('a' + i)] = static_cast<std::int8_t>(10 + i);
    table[static_cast<std::size_t>('A' + i)] = static_cast<std::int8_t>(10 + i);
  }
  return table;
}
constexpr auto hex_table = make_hex_table();

// Decodes exactly out.size() bytes.
bool decode_hex(std::string_view text, std::span<std::uint8_t> out) {
  if (text.size() != out.size() * 2) {
    return false;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = hex_table[static_cast<std::uint8_t>(text[2 * i])];
    const int low = hex_table[static_cast<std::uint8_t>(text[2 * i + 1])];
    if ((high | low) < 0) {
      return false;
    }
    out[i] = static_cast<std::uint8_t>((high << 4) | low);
  }
  return true;
}

std::optional<SecretKind> kind_of(std::string_view label) {
  struct Name {
    std::string_view label;
    SecretKind kind;
  };
  static constexpr std::array names{Name{"CLIENT_HANDSHAKE_TRAFFIC_SECRET", SecretKind::client_handshake_traffic},
                                    Name{"SERVER_HANDSHAKE_TRAFFIC_SECRET", SecretKind::server_handshake_traffic},
                                    Name{"CLIENT_TRAFFIC_SECRET_0", SecretKind::client_traffic},
                                    Name{"SERVER_TRAFFIC_SECRET_0", SecretKind::server_traffic},
                                    Name{"CLIENT_RANDOM", SecretKind::master_secret},
                                    Name{"CLIENT_EARLY_TRAFFIC_SECRET", SecretKind::client_early_traffic}};
  const auto found = std::ranges::find(names, label, &Name::label);
  return found == names.end() ? std::nullopt : std::optional(found->kind);
}

bool is_label(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace

void Secret::assign(std::span<const std::uint8_t> bytes) {
  length_ = static_cast<std::uint8_t>(std::min(bytes.size(), longest));
  std::ranges::copy(bytes.first(length_), bytes_.begin());
}

std::size_t KeyLog::RandomHash::operator()(const Random& random) const {
  // The value is a hash table's own matter: connections are told apart by all 32 bytes.
  std::array<std::uint64_t, 4> words{};
  std::memcpy(words.data(), random.data(), random.size());
  return (words[0] ^ words[1] ^ words[2] ^ words[3]) * 0x9E3779B97F4A7C15ULL;
}

void KeyLog::feed(std::span<const std::uint8_t> bytes) {
  const std::string all(bytes.begin(), bytes.end());
  std::string_view rest = all;
  while (!rest.empty()) {
    const std::size_t newline = rest.find('\n');
    const std::string_view piece = rest.substr(0, newline);
    if (!skipping_line_ && partial_.size() + piece.size() > longest_line) {
      skipping_line_ = true;
      partial_.clear();
      ++counts_.junk;
    }
    if (newline == std::string_view::npos) {
      if (!skipping_line_) {
        partial_.append(piece);
      }
      return;
    }
    if (skipping_line_) {
      skipping_line_ = false;
    } else if (partial_.empty()) {
      take_line(piece);
    } else {
      partial_.append(piece);
      take_line(partial_);
      partial_.clear();
    }
    rest.remove_prefix(newline + 1);
  }
}

void KeyLog::finish() {
  if (!partial_.empty()) {
    take_line(partial_);
    partial_.clear();
  }
  skipping_line_ = false;
}

void KeyLog::take_line(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) {
    line.remove_suffix(1);
  }
  if (line.empty() || line.front() == '#') {
    ++counts_.other;
    return;
  }
  const std::size_t first = line.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos) {
    ++counts_.junk;
    return;
  }
  const std::string_view label = line.substr(0, first);
  const std::string_view value = line.substr(second + 1);
  Random random{};
  std::array<std::uint8_t, Secret::longest> secret{};
  const std::size_t length = value.size() / 2;
  const bool has_random = decode_hex(line.substr(first + 1, second - first - 1), random);
  const auto kind = kind_of(label);
  if (!kind) {
    // Exporter secrets and the like are 32 or 48 bytes too, but of no use here.
    ++(has_random && is_label(label) ? counts_.other : counts_.junk);
    return;
  }
  const bool fits = length == 32 || length == 48;
  if (!has_random || !fits || !decode_hex(value, std::span(secret).first(length))) {
    ++counts_.junk;
    return;
  }
  Secret& slot = secrets_[random].secrets[static_cast<std::size_t>(*kind)];
  if (!slot.present()) {
    slot.assign(std::span(secret).first(length));
    ++counts_.secrets;
  } else {
    ++(std::ranges::equal(slot.bytes(), std::span(secret).first(length)) ? counts_.duplicates : counts_.conflicts);
  }
}

const ConnectionSecrets* KeyLog::find(std::span<const std::uint8_t> random) const {
  Random key{};
  if (random.size() != key.size()) {
    return nullptr;
  }
  std::ranges::copy(random, key.begin());
  const auto found = secrets_.find(key);
  return found == secrets_.end() ? nullptr : &found->second;
}

}  // namespace tlstrata::tls
