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
  std::string json;
  handshake::TcpPath path;
  handshake::Plan plan;

  // Fills the plan.
  Checked<void> read();
};

void add_handshake_options(CLI::App& command, HandshakeArguments& arguments);

}  // namespace tlstrata::cli
