// The options of `tlstrata load`, as they are written and as the library takes them.
//
// In:      argv, by CLI11. Out: LoadArguments, whose `options` are complete after read().
// Errors:  usage, with the option and what was written.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "load/client_csv.h"
#include "load/load.h"

namespace tlstrata::cli {

struct LoadArguments {
  load::Options options;
  std::string rate = "100";
  std::optional<std::string> duration;
  std::string arrivals = "constant";
  std::string think = "0s";
  std::string alpn = "http/1.1";
  std::string verify = "on";
  std::string split = "on";
  std::vector<std::string> local_addresses;
  std::optional<std::string> body;  // text, or @FILE
  std::string connect_timeout = "5s";
  std::string handshake_timeout = "5s";
  std::string response_timeout = "10s";
  std::string transactions;  // file; empty: none
  std::string json;          // file or -; empty: none
  std::string capture;       // file; empty: none
  std::string metrics;       // address and port; empty: none
  bool hold = false;
  std::string injection;      // empty: none
  std::string injection_log;  // file; empty: none
  bool predict = false;
  std::string resolver;  // address and port; empty: the system's
  load::CsvLabels labels;
  std::uint64_t max_failures = 0;

  // What was written, into `options`.
  Checked<void> read();
};

void add_load_options(CLI::App& load, LoadArguments& arguments);

}  // namespace tlstrata::cli
