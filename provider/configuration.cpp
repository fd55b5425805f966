#include "provider/configuration.h"

#include <openssl/crypto.h>
#include <openssl/params.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>

namespace tlstrata::provider {
namespace {

constexpr unsigned most_code = 0xFFFF;
constexpr unsigned fewest_security_bits = 80;
// Beyond the last that is allowed: numbers up to here are looked for, so that one too many is told.
constexpr unsigned last_number_tried = 64;
constexpr int longest_value_shown = 64;

constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= Group::longest_name && is_letter(text.front()) &&
         std::ranges::all_of(text,
                             [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

bool is_same(const char* a, const char* b) {
  return OPENSSL_strcasecmp(a, b) == 0;
}

// RFC 8701: such a code point must be unknown to everybody.
bool is_grease(unsigned code) {
  return (code & 0x0F0FU) == 0x0A0AU && (code >> 8U) == (code & 0xFFU);
}

// A whole number, decimal or with 0x; nothing else around it.
std::optional<unsigned> number_in(std::string_view text, unsigned least, unsigned most) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, base);
  if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != end || number < least || number > most) {
    return std::nullopt;
  }
  return number;
}

// One group's section.
class Reader {
 public:
  Reader(const Section& section, const Library& library, const GroupList& list, unsigned number, Problem& problem)
      : section_(section), library_(library), list_(list), number_(number), problem_(problem) {}

  [[nodiscard]] bool is_there() const {
    constexpr std::array keys{"name", "code_point", "mlkem", "classical", "order", "security_bits"};
    return std::ranges::any_of(keys, [this](const char* key) { return value(key) != nullptr; });
  }

  bool read(Group& group) {
    return read_name(group) && read_code(group) && read_kem(group) && read_classical(group) && read_order(group) &&
           read_security(group);
  }

  // Writes the problem; false, so that a caller can return it.
  bool wrong(const char* key, const char* what, const char* remedy) {
    const char* const found = value(key);
    std::snprintf(problem_.text.data(), problem_.text.size(), "group%u.%s%s%.*s: %s; %s", number_, key,
                  found != nullptr ? " = " : "", longest_value_shown, found != nullptr ? found : "", what, remedy);
    for (char& c : problem_.text) {
      if (c != '\0' && (c < ' ' || c > '~')) {
        c = '?';
      }
    }
    return false;
  }

 private:
  [[nodiscard]] const char* value(const char* key) const {
    std::array<char, 40> name = {};
    std::snprintf(name.data(), name.size(), "group%u.%s", number_, key);
    return section_.value(name.data());
  }

  const char* required(const char* key, const char* remedy) {
    const char* const found = value(key);
    if (found == nullptr) {
      wrong(key, "is missing", remedy);
    }
    return found;
  }

  bool read_name(Group& group) {
    constexpr const char* remedy = "write 1 to 63 letters, digits, '_' and '-', a letter first";
    const char* const text = required("name", remedy);
    if (text == nullptr) {
      return false;
    }
    if (!is_name(text) || !set_name(group.name, text)) {
      return wrong("name", "no name of a group", remedy);
    }
    if (library_.has_name(text)) {
      return wrong("name", "OpenSSL itself has an algorithm or group of this name", "choose another");
    }
    for (const Group& other : list_.all()) {
      if (is_same(other.name.data(), text) || is_same(other.alias.data(), text)) {
        return wrong("name", "another group of this provider has this name", "choose another");
      }
    }
    return true;
  }

  bool read_code(Group& group) {
    constexpr const char* remedy = "write a number from 0x0001 to 0xFFFF that is not 0x?A?A (RFC 8701)";
    const char* const text = required("code_point", remedy);
    if (text == nullptr) {
      return false;
    }
    const auto code = number_in(text, 1, most_code);
    if (!code || is_grease(*code)) {
      return wrong("code_point", "no code point of a group", remedy);
    }
    const auto others = list_.all();
    if (library_.has_code(*code) || std::ranges::find(others, *code, &Group::code) != others.end()) {
      return wrong("code_point", "another group has this code point",
                   "choose another, 0xFE00 to 0xFEFF are for private use");
    }
    group.code = *code;
    return true;
  }

  bool read_kem(Group& group) {
    constexpr const char* remedy = "write ML-KEM-512, ML-KEM-768 or ML-KEM-1024";
    const char* const text = required("mlkem", remedy);
    if (text == nullptr) {
      return false;
    }
    const auto parts = kem_parts();
    const auto part = std::ranges::find_if(parts, [&](const KemPart& kem) { return is_same(kem.algorithm, text); });
    if (part == parts.end()) {
      return wrong("mlkem", "no parameter set of ML-KEM", remedy);
    }
    group.kem = &*part;
    return true;
  }

  bool read_classical(Group& group) {
    constexpr const char* remedy = "write X25519, X448, P-256, P-384 or P-521";
    const char* const text = required("classical", remedy);
    if (text == nullptr) {
      return false;
    }
    const auto parts = classical_parts();
    const auto part = std::ranges::find_if(parts, [&](const ClassicalPart& p) { return is_same(p.name, text); });
    if (part == parts.end()) {
      return wrong("classical", "no group for the classical part", remedy);
    }
    group.classical = &*part;
    return true;
  }

  bool read_order(Group& group) {
    constexpr const char* remedy = "write mlkem-first or classical-first";
    const char* const text = required("order", remedy);
    if (text == nullptr) {
      return false;
    }
    const bool mlkem_first = is_same(text, "mlkem-first");
    if (!mlkem_first && !is_same(text, "classical-first")) {
      return wrong("order", "no order", remedy);
    }
    group.order = mlkem_first ? Order::mlkem_first : Order::classical_first;
    return true;
  }

  bool read_security(Group& group) {
    constexpr const char* remedy = "write a number from 80 to the bits of the stronger part";
    const char* const text = required("security_bits", remedy);
    if (text == nullptr) {
      return false;
    }
    const unsigned most = std::max(group.kem->security_bits, group.classical->security_bits);
    const auto bits = number_in(text, fewest_security_bits, most);
    if (!bits) {
      return wrong("security_bits", "more or less than these two parts can have", remedy);
    }
    group.security_bits = *bits;
    return true;
  }

  const Section& section_;
  const Library& library_;
  const GroupList& list_;
  unsigned number_;
  Problem& problem_;
};

}  // namespace

const char* Section::value(const char* name) const {
  char* found = nullptr;
  std::array<OSSL_PARAM, 2> params{OSSL_PARAM_construct_utf8_ptr(name, &found, 0), OSSL_PARAM_construct_end()};
  return get_params_(core_, params.data()) == 1 ? found : nullptr;
}

bool read_groups(const Section& section, const Library& library, GroupList& list, Problem& problem) {
  GroupList read = list;
  for (unsigned number = 0; number <= last_number_tried; ++number) {
    Reader reader(section, library, read, number, problem);
    if (!reader.is_there()) {
      continue;
    }
    if (number == 0 || number > most_configured_groups || read.count == read.groups.size()) {
      return reader.wrong("name", "no such number", "write group1 to group16");
    }
    Group group;
    if (!reader.read(group)) {
      return false;
    }
    read.groups.at(read.count) = group;
    ++read.count;
  }
  list = read;
  return true;
}

}  // namespace tlstrata::provider
