// Puts IP fragments together.
//
// In:        one fragment at a time. Out: the whole datagram's payload once its last hole is filled.
// Ownership: the returned span holds until the next call.
// Errors:    fragments that contradict what came before (other total, overlap with other bytes beyond the end) drop the
//            datagram, as RFC 5722 asks for IPv6.
// Limits:    64 datagrams and 64 KiB each at a time; the oldest goes first, and its fragments count as dropped.
// Source:    RFC 791 section 3.2, RFC 8200 section 4.5, RFC 5722.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace tlstrata::tcp {

struct FragmentKey {
  std::array<std::uint8_t, 16> source{};
  std::array<std::uint8_t, 16> destination{};
  std::uint32_t identification = 0;
  std::uint8_t protocol = 0;

  friend bool operator==(const FragmentKey&, const FragmentKey&) = default;
};

struct Fragment {
  FragmentKey key;
  std::uint32_t offset = 0;             // bytes
  bool more = false;                    // more fragments follow
  std::span<const std::uint8_t> bytes;  // whole, not cut by the snap length
};

class Fragments {
 public:
  enum class Verdict : std::uint8_t { kept, dropped, complete };

  Verdict add(const Fragment& fragment);
  // After Verdict::complete: the datagram's payload.
  [[nodiscard]] std::span<const std::uint8_t> datagram() const { return whole_; }

 private:
  struct Piece {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  struct Datagram {
    FragmentKey key;
    std::vector<std::uint8_t> bytes;
    std::vector<Piece> pieces;           // sorted, disjoint
    std::optional<std::uint32_t> total;  // once the last fragment is there
  };

  static bool merge(Datagram& datagram, const Fragment& fragment);

  std::deque<Datagram> open_;
  std::vector<std::uint8_t> whole_;
};

}  // namespace tlstrata::tcp
