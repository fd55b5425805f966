// Asks one server several questions, as many at once as its politeness allows.
//
// In:      the server's address and name, attempts. Out: their outcomes in the same order.
// Threads: ask() starts threads of its own where more than one connection at once is allowed, and joins them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/address.h"
#include "probe/attempt.h"
#include "probe/guide.h"

namespace tlstrata::probe {

class Crew {
 public:
  Crew(const io::Address& address, std::string server_name, Guide& guide)
      : address_(address), server_name_(std::move(server_name)), guide_(guide) {}

  std::vector<Outcome> ask(std::span<const Attempt> attempts);
  Outcome ask(const Attempt& one) { return attempt(address_, server_name_, one, guide_); }

  [[nodiscard]] const io::Address& address() const { return address_; }
  [[nodiscard]] Guide& guide() { return guide_; }

 private:
  io::Address address_;
  std::string server_name_;  // for SNI; empty: none
  Guide& guide_;
};

}  // namespace tlstrata::probe
