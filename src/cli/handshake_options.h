// The options of `tlstrata handshake` and the configurations that they ask for.
//
// In:      the command line. Out: a plan, the path for the TCP view, where results go.
// Errors:  usage, naming the option.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "handshake/run.h"
#include "handshake/tcp_view.h"

namespace tlstrata::cli {

// --fail-if, read.
struct FailCondition {
  std::string text;      // as it was given
  std::string metric;    // "server.cpu"
  double threshold = 0;  // of the change; relative: 0.03
  bool relative = true;
};

struct HandshakeArguments {
  std::string groups;         // empty: the study's
  std::string key_shares;     // empty: the first of each offer
  std::string server_groups;  // empty: each offer itself
  std::string certificates;   // empty: the study's
  std::string ciphers;
  std::string verify = "on";
  std::uint32_t chain = 1;
  bool resume = false;
  bool mutual = false;
  bool matrix = false;
  bool bytes = false;
  std::string account = "on";
  std::string transport = "memory";
  std::string key_log;
  std::string json;
  std::string save;
  std::string against;
  std::vector<std::string> fail_if;
  std::vector<FailCondition> conditions;  // read() makes them of fail_if
  std::string under;                      // "callgrind", or empty: time
  std::vector<std::string> prefixes;      // of OpenSSL; empty: the one that this program is linked with
  // For processes that this program starts itself.
  std::uint32_t count = 0;  // handshakes under callgrind; 0: it is not that process
  bool worker = false;      // measures blocks as it is told
  handshake::TcpPath path;
  handshake::Plan plan;

  // Fills the plan.
  Checked<void> read();
};

void add_handshake_options(CLI::App& command, HandshakeArguments& arguments);

}  // namespace tlstrata::cli
