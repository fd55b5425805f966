// The heads of answers that origin and proxy make themselves.
//
// In/Out:  a status and what follows it; text up to and with the empty line.
// Threads: a DateField is one thread's.
// Source:  RFC 9110 sections 6.6.1 (Date) and 10.2.1 (Allow); RFC 9112 section 9.3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/nanos.h"

namespace tlstrata::serve {

// "Date: ...\r\n", made anew when the second changes.
class DateField {
 public:
  std::string_view at(Nanos realtime_ns);

 private:
  std::string text_;
  std::int64_t second_ = -1;
};

struct Answer {
  std::uint16_t status = 200;
  std::uint64_t body_bytes = 0;
  bool has_type = false;    // Content-Type is sent
  bool keep_alive = false;  // the connection serves on
  bool is_http_1_0 = false;
};

std::string answer_head(const Answer& answer, DateField& date);

}  // namespace tlstrata::serve
