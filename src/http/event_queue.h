// Events that wait to be taken, in order.
//
// In/Out:    push(), next().
// Ownership: owns the events; the memory serves again once all are taken, and through clear().
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "http/types.h"

namespace tlstrata::http {

class EventQueue {
 public:
  // The new event, to be filled.
  Event& push() { return events_.emplace_back(); }
  std::optional<Event> next() {
    if (taken_ == events_.size()) {
      clear();
      return std::nullopt;
    }
    return std::move(events_[taken_++]);
  }
  void clear() {
    events_.clear();
    taken_ = 0;
  }

 private:
  std::vector<Event> events_;
  std::size_t taken_ = 0;  // of events_, from the front
};

}  // namespace tlstrata::http
