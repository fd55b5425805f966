// Known delays that are put into every transaction, so that a calibration can see them in their layer.
//
// In:        "before_hello=cpu:1ms" (places before_hello, before_finished, before_request; cpu computes, sleep sleeps).
// Out:       the delays, and for each what it really was: a line "client,start_ns,place,delay_ns" in the log.
// Units:     nanoseconds; start_ns as in client.csv, which the log joins with on client and start_ns.
// Ownership: copies share their log, 48 bytes a delay until then. One must outlive the workers.
// Errors:    parse: malformed. create: Complaint with the log's name.
// Threads:   at() from any. It blocks its thread, other transactions with it: calibrate at rates where transactions do not
//            overlap. The log is written when the last copy dies: a write right after a delay would be part of the layer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/complaint.h"
#include "base/nanos.h"
#include "load/record.h"

namespace tlstrata::load {

enum class InjectionPlace : std::uint8_t { nowhere, before_hello, before_finished, before_request };

struct Injection {
  InjectionPlace place = InjectionPlace::nowhere;
  bool cpu = false;
  Nanos delay_ns = 0;
};
Result<Injection> parse_injection(std::string_view text);

class Injector {
 public:
  Injector();  // injects nothing
  // `log` empty: none is written.
  static Checked<Injector> create(const Injection& injection, const std::string& log);

  // The transaction has come to `place`. Nothing happens where that is not the injection's.
  void at(InjectionPlace place, const Record& record) const;

  // The library calls back in mid-handshake and knows no transaction: the calling thread's, from here to the scope's
  // end, is this one. before_finished() acts once in it.
  class Scope {
   public:
    Scope(const Injector& injector, const Record& record);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };
  // For ossl::ClientSettings; null where nothing is injected there.
  using Hook = void (*)();
  [[nodiscard]] Hook before_finished() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace tlstrata::load
