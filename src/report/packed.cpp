#include "report/packed.h"

namespace tlstrata::report {

std::string base64(std::string_view bytes) {
  static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t has = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = (group << 8U) | (k < has ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= has ? digits[(group >> (18U - 6U * k)) & 0x3FU] : '=';
    }
  }
  return text;
}

void PackedColumn::add(std::uint64_t value) {
  while (value >= 0x80) {
    bytes_ += static_cast<char>((value & 0x7FU) | 0x80U);
    value >>= 7U;
  }
  bytes_ += static_cast<char>(value);
}

std::size_t NameList::number_of(std::string_view name) {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) {
    return found->second;
  }
  const std::size_t number = numbers_.size();
  numbers_.emplace(name, number);
  names_.push_back(name);
  return number;
}

}  // namespace tlstrata::report
