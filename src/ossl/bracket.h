// How a call of libssl to libcrypto is bracketed: primitive_costs.cpp and detail_calls.cpp define those calls.
//
// In/Out:    bracketed() calls on and adds what the call cost to a part of the thread's current PrimitiveCosts.
// Units:     nanoseconds of CPU, by cpu_stopwatch.h.
// Ownership: only files of src/ossl include this header.
// Threads:   each has its own current costs.
#pragma once

#include <dlfcn.h>

#include <ctime>
#include <functional>

#include "ossl/cpu_stopwatch.h"
#include "ossl/primitive_costs.h"

namespace tlstrata::ossl {

// Where the thread's calls are counted; null: nowhere.
extern thread_local constinit PrimitiveCosts* current_costs;

inline Nanos bracket_clock_ns() {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * nanos_per_second + now.tv_nsec;
}

// The library's own definition behind ours.
template <typename Function>
Function* next_definition(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// Calls `function`, and adds what it cost where `part` of `costs` says; `shortest` is the least so far on this thread.
template <typename Part, typename Function, typename... Arguments>
auto bracketed(PrimitiveCosts& costs, Nanos& shortest, Part part, Function* function, Arguments... arguments) {
  // What is called in here, by a provider say, is part of this call.
  current_costs = nullptr;
  CpuStopwatch watch;
  watch.start(bracket_clock_ns());
  const auto result = function(arguments...);
  const Nanos spent = watch.stop(bracket_clock_ns(), shortest);
  current_costs = &costs;
  ++costs.brackets;
  std::invoke(part, costs) += spent;
  return result;
}

}  // namespace tlstrata::ossl
