// What is to be analysed.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace tlstrata::analyze {

struct Input {
  std::vector<std::string> captures;  // "-" is standard input
  std::vector<std::string> key_logs;
  std::string filter;  // libpcap's language; empty: every packet
  // Follows the captures and key logs while they grow, until this is set. Null: they are whole.
  const std::atomic<bool>* follow_until = nullptr;
};

}  // namespace tlstrata::analyze
