#include "tls/key_log.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>

namespace tlstrata::tls {
namespace {

constexpr std::size_t longest_line = 1024;  // the longest with a meaning has 34 + 1 + 64 + 1 + 96 characters

// Decodes exactly out.size() bytes. Two plain loops without branches, which the compiler makes vector code of: a key log is
// little else than digits.
bool decode_hex(std::string_view text, std::span<std::uint8_t> out) {
  constexpr std::size_t most_digits = 2 * Secret::longest;
  if (text.size() != out.size() * 2 || text.size() > most_digits) {
    return false;
  }
  std::array<std::uint8_t, most_digits> values{};
  std::uint8_t wrong = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto character = static_cast<std::uint8_t>(text[i]);
    const auto digit = static_cast<std::uint8_t>(character - '0');
    const auto letter = static_cast<std::uint8_t>((character | 0x20U) - 'a');
    const bool is_digit = digit < 10;
    const bool is_letter = letter < 6;
    values[i] = is_digit ? digit : static_cast<std::uint8_t>(letter + 10);
    wrong |= static_cast<std::uint8_t>(!is_digit & !is_letter);
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::uint8_t>((values[2 * i] << 4U) | values[2 * i + 1]);
  }
  return wrong == 0;
}

// Randoms come from outside: without a secret of the process's own, someone could choose a million that collide. What is
// found does not depend on it.
const std::array<std::uint64_t, 4>& salt() {
  static const std::array<std::uint64_t, 4> words = [] {
    std::random_device device;
    std::array<std::uint64_t, 4> made{};
    for (std::uint64_t& word : made) {
      word = (std::uint64_t{device()} << 32U) | device();
    }
    return made;
  }();
  return words;
}

std::uint64_t multiply_fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

std::string_view characters(std::span<const std::uint8_t> bytes) {
  return {static_cast<const char*>(static_cast<const void*>(bytes.data())), bytes.size()};
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

void KeyLog::feed(std::span<const std::uint8_t> bytes) {
  std::string_view rest = characters(bytes);
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
  if (const auto known = known_below(random, *kind); !known.empty()) {
    ++(std::ranges::equal(known, std::span(secret).first(length)) ? counts_.duplicates : counts_.conflicts);
    return;
  }
  SecretReference& slot = entry_of(random).secrets[static_cast<std::size_t>(*kind)];
  if (slot != 0) {
    ++(std::ranges::equal(bytes_of(slot), std::span(secret).first(length)) ? counts_.duplicates : counts_.conflicts);
    return;
  }
  ++counts_.secrets;
  if (length == 32) {
    std::ranges::copy_n(secret.begin(), 32, secrets32_.emplace_back().begin());
    slot = static_cast<SecretReference>(2 * secrets32_.size());
  } else {
    secrets48_.push_back(secret);
    slot = static_cast<SecretReference>(2 * secrets48_.size() + 1);
  }
}

std::span<const std::uint8_t> KeyLog::known_below(const Random& random, SecretKind kind) const {
  const auto found = below_ != nullptr ? below_->find(random) : std::nullopt;
  return found ? found->of(kind) : std::span<const std::uint8_t>{};
}

std::span<const std::uint8_t> KeyLog::bytes_of(SecretReference reference) const {
  if (reference == 0) {
    return {};
  }
  const std::size_t index = reference / 2 - 1;
  return reference % 2 == 0 ? std::span<const std::uint8_t>(secrets32_[index])
                            : std::span<const std::uint8_t>(secrets48_[index]);
}

// Where the random's entry is in table_, or the free place where it belongs.
std::size_t KeyLog::slot_of(const Random& random) const {
  std::array<std::uint64_t, 4> words{};
  std::memcpy(words.data(), random.data(), random.size());
  const auto& salts = salt();
  const std::uint64_t hash = multiply_fold(multiply_fold(words[0] ^ salts[0], words[1] ^ salts[1]) ^ salts[2],
                                           multiply_fold(words[2] ^ salts[2], words[3] ^ salts[3]) ^ salts[0]);
  const std::size_t mask = table_.size() - 1;
  std::size_t at = static_cast<std::size_t>(hash) & mask;
  while (table_[at] != 0 && entries_[table_[at] - 1].random != random) {
    at = (at + 1) & mask;
  }
  return at;
}

KeyLog::Entry& KeyLog::entry_of(const Random& random) {
  if (newest_ < entries_.size() && entries_[newest_].random == random) {
    return entries_[newest_];
  }
  if (entries_.size() * 4 >= table_.size() * 3) {
    grow_table();
  }
  std::uint32_t& place = table_[slot_of(random)];
  if (place == 0) {
    entries_.emplace_back().random = random;
    place = static_cast<std::uint32_t>(entries_.size());
  }
  newest_ = place - 1;
  return entries_[newest_];
}

void KeyLog::grow_table() {
  constexpr std::size_t smallest = 64;
  table_.assign(std::max(smallest, table_.size() * 2), 0);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    table_[slot_of(entries_[i].random)] = static_cast<std::uint32_t>(i + 1);
  }
}

std::optional<ConnectionSecrets> KeyLog::find(std::span<const std::uint8_t> random) const {
  Random key{};
  auto known = below_ != nullptr ? below_->find(random) : std::nullopt;
  if (random.size() != key.size() || table_.empty()) {
    return known;
  }
  std::ranges::copy(random, key.begin());
  const std::uint32_t place = table_[slot_of(key)];
  if (place == 0) {
    return known;
  }
  ConnectionSecrets found = known.value_or(ConnectionSecrets{});
  for (std::size_t kind = 0; kind < secret_kind_count; ++kind) {
    if (found.secrets[kind].empty()) {
      found.secrets[kind] = bytes_of(entries_[place - 1].secrets[kind]);
    }
  }
  return found;
}

}  // namespace tlstrata::tls
