// Passes side by side, their connections put together in the order of one.
//
// In:        passes that share the connections of one input out among them, and their dealer.
// Out:       next(): the connection that comes next; the same sequence for any number of passes.
// Ownership: owns both. A connection holds until the next call.
// Errors:    none.
// Threads:   next() from one thread; a single pass runs in it, several on threads of their own. Passes wait while more is there
//            than next() has come to, so memory is bounded by what one slow connection keeps back.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <latch>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "analyze/pass.h"

namespace tlstrata::analyze {

class Crew {
 public:
  // `dealer`: of several passes. `impatient`: connections are given out as soon as they are over.
  Crew(std::unique_ptr<Dealer> dealer, std::vector<std::unique_ptr<Pass>> passes, bool impatient);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  Crew(Crew&&) = delete;
  Crew& operator=(Crew&&) = delete;

  // Null at the end of the input.
  Ended* next();

  // Complete once next() has given null.
  [[nodiscard]] const std::vector<std::unique_ptr<Pass>>& passes() const { return passes_; }

 private:
  static constexpr std::uint64_t at_end = std::numeric_limits<std::uint64_t>::max();

  // What a pass has handed over. `given`, `spent` and `watermark` are guarded by mutex_, the rest is next()'s own.
  struct Lane {
    std::vector<Ended> given;
    std::vector<Ended> spent;     // goes back to the worker
    std::uint64_t watermark = 0;  // nothing comes that began before this packet
    std::condition_variable room;
    std::vector<Ended> taken;
    std::size_t position = 0;           // in `taken`
    std::uint64_t known_watermark = 0;  // of what is behind `taken`

    [[nodiscard]] bool has_head() const { return position < taken.size(); }
    [[nodiscard]] std::uint64_t head() const { return taken[position].opened.packet; }
  };

  void stop();
  Ended* next_of_one();
  void work(std::size_t index, const std::stop_token& stop);
  bool give(Lane& lane, std::vector<Ended>& batch, std::uint64_t watermark, const std::stop_token& stop);
  void refill();

  std::unique_ptr<Dealer> dealer_;
  std::vector<std::unique_ptr<Pass>> passes_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::size_t packets_a_turn_;
  bool ended_ = false;  // of a single pass
  std::mutex mutex_;
  // Guarded by mutex_: next() waits for news of some lane. Passes wait for one another at the dealer, so then none may wait here.
  bool starving_ = false;
  std::condition_variable something_;
  std::latch all_there_{1};  // a thread that began at once would keep the maker of the others from its processor
  std::vector<std::jthread> threads_;  // last: they end before what they use
};

}  // namespace tlstrata::analyze
