// What is to be analysed.
#pragma once

#include <string>
#include <vector>

namespace tlstrata::analyze {

struct Input {
  std::vector<std::string> captures;  // "-" is standard input
  std::vector<std::string> key_logs;
  std::string filter;  // libpcap's language; empty: every packet
};

}  // namespace tlstrata::analyze
