// Reads the RFC 8448 traces of tests/unit/tls/rfc8448 (README.md there explains the names).
//
// In:      "simple_1rtt", "resumed_0rtt", "hello_retry_request", "client_authentication" or "compatibility_mode".
// Out:     Vectors, which answers by name; record lists in the order of the wire.
// Errors:  test code: std::runtime_error for a missing file, name or digit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tlstrata::rfc8448 {

using Bytes = std::vector<std::uint8_t>;

struct Record {
  bool from_client = false;
  std::string protection;  // plain, early, handshake, application
  std::uint8_t type = 0;   // content type inside the protection
  Bytes wire;              // with the five-byte header
  Bytes content;           // plaintext without type byte and padding
};

class Vectors {
 public:
  explicit Vectors(const std::string& trace) {
    std::ifstream file(std::string(TLSTRATA_SOURCE_DIR "/tests/unit/tls/rfc8448/") + trace + ".txt");
    if (!file) {
      throw std::runtime_error("no RFC 8448 trace " + trace);
    }
    std::string line;
    std::string name;
    while (std::getline(file, line)) {
      if (line.empty() || line.front() == '#') {
        continue;
      }
      std::string_view value = line;
      if (line.front() != ' ') {
        const auto equals = line.find(" =");
        if (equals == std::string::npos) {
          throw std::runtime_error("RFC 8448 trace " + trace + ": no value in: " + line);
        }
        name = line.substr(0, equals);
        value.remove_prefix(equals + 2);
      }
      value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
      values_[name] += value;
    }
  }

  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }

  [[nodiscard]] const std::string& text(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) {
      throw std::runtime_error("RFC 8448 trace lacks " + name);
    }
    return found->second;
  }

  [[nodiscard]] Bytes bytes(const std::string& name) const {
    const std::string& hex = text(name);
    if (hex.size() % 2 != 0) {
      throw std::runtime_error("RFC 8448 trace: odd number of digits in " + name);
    }
    Bytes out;
    for (std::size_t i = 0; i < hex.size(); i += 2) {
      out.push_back(static_cast<std::uint8_t>(digit(hex[i]) << 4U | digit(hex[i + 1])));
    }
    return out;
  }

  // All records, in the order of the wire.
  [[nodiscard]] std::vector<Record> records() const {
    std::vector<Record> out;
    std::istringstream flow(text("flow"));
    for (std::string step; flow >> step;) {
      const std::string side = step.front() == 'c' ? "client_" : "server_";
      const std::string number = step.substr(1);
      out.push_back({.from_client = step.front() == 'c',
                     .protection = text(side + "protection_" + number),
                     .type = bytes(side + "type_" + number).at(0),
                     .wire = bytes(side + "record_" + number),
                     .content = bytes(side + "content_" + number)});
    }
    return out;
  }

  // One side's byte stream.
  [[nodiscard]] Bytes stream(bool from_client) const {
    Bytes out;
    for (const Record& record : records()) {
      if (record.from_client == from_client) {
        out.insert(out.end(), record.wire.begin(), record.wire.end());
      }
    }
    return out;
  }

  // The key log that an endpoint would have written (NSS format).
  [[nodiscard]] std::string key_log() const {
    static constexpr std::pair<const char*, const char*> labels[] = {
        {"CLIENT_EARLY_TRAFFIC_SECRET", "client_early_traffic_secret"},
        {"CLIENT_HANDSHAKE_TRAFFIC_SECRET", "client_handshake_traffic_secret"},
        {"SERVER_HANDSHAKE_TRAFFIC_SECRET", "server_handshake_traffic_secret"},
        {"CLIENT_TRAFFIC_SECRET_0", "client_application_traffic_secret_0"},
        {"SERVER_TRAFFIC_SECRET_0", "server_application_traffic_secret_0"},
        {"EXPORTER_SECRET", "exporter_master_secret"},
    };
    std::string out;
    for (const auto& [label, name] : labels) {
      if (has(name)) {
        out += std::string(label) + ' ' + text("client_random") + ' ' + text(name) + '\n';
      }
    }
    return out;
  }

 private:
  static unsigned digit(char c) {
    if (c >= '0' && c <= '9') {
      return static_cast<unsigned>(c - '0');
    }
    if (c >= 'a' && c <= 'f') {
      return static_cast<unsigned>(c - 'a') + 10U;
    }
    throw std::runtime_error(std::string("RFC 8448 trace: no hexadecimal digit: ") + c);
  }

  std::map<std::string, std::string> values_;
};

}  // namespace tlstrata::rfc8448
