// A doubly linked list of things that are known by number, with its links inside the things.
//
// In:        numbers into `Pool`, whose elements have the members `older` and `newer`. A thing is in one list at most.
// Out:       the numbers in the order in which they were appended.
// Ownership: none. The pool may move its elements, as only their numbers are kept.
// Errors:    none.
// Threads:   one at a time.
#pragma once

#include <cstdint>

namespace tlstrata::tcp {

// No number of any thing.
inline constexpr std::uint32_t no_id = 0xFFFFFFFF;

template <typename Pool>
class IdList {
 public:
  [[nodiscard]] std::uint32_t oldest() const { return oldest_; }

  void append(Pool& pool, std::uint32_t id) {
    pool[id].older = newest_;
    pool[id].newer = no_id;
    (newest_ == no_id ? oldest_ : pool[newest_].newer) = id;
    newest_ = id;
  }
  void remove(Pool& pool, std::uint32_t id) {
    const std::uint32_t older = pool[id].older;
    const std::uint32_t newer = pool[id].newer;
    (older == no_id ? oldest_ : pool[older].newer) = newer;
    (newer == no_id ? newest_ : pool[newer].older) = older;
  }

 private:
  std::uint32_t oldest_ = no_id;
  std::uint32_t newest_ = no_id;
};

}  // namespace tlstrata::tcp
