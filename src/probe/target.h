// The servers to ask: HOST[:PORT] as people write it, one by one or in a file.
//
// In:      "example.org", "example.org:8443", "192.0.2.1", "[2001:db8::1]:443"; a file has one a line, `#` begins a comment.
// Out:     host and port; 443 where none is said.
// Errors:  usage, with what is wrong; for a file its name and line.
// Threads: pure, but for the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/complaint.h"

namespace tlstrata::probe {

struct Target {
  std::string host;  // name or address, IPv6 without its brackets
  bool host_is_address = false;
  std::uint16_t port = 443;

  [[nodiscard]] std::string text() const;  // with its port
};

Checked<Target> parse_target(std::string_view text);
// `text` is the file's content, `name` what messages call it.
Checked<std::vector<Target>> parse_targets(std::string_view text, std::string_view name);

}  // namespace tlstrata::probe
