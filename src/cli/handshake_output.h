// What `tlstrata handshake` prints: tables for people.
//
// In:      a finished run with its figures. Out: lines for a terminal.
// Threads: pure functions.
#pragma once

#include <span>
#include <string>

#include "cli/handshake_options.h"
#include "handshake/figures.h"

namespace tlstrata::cli {

struct HandshakeResults {
  std::vector<handshake::Measured> measured;
  std::vector<handshake::Figures> figures;
  std::vector<std::string> libraries;  // of --openssl; empty: this process's own
};

std::string handshake_tables(const HandshakeArguments& arguments, const HandshakeResults& results, bool colours);

// Parts of the above, in files of their own.
std::string byte_tables(const HandshakeArguments& arguments, const HandshakeResults& results);
std::string cpu_account_table(const HandshakeResults& results, ossl::Side side);

// "12,345" and "+1,176".
std::string grouped(std::int64_t value);
std::string signed_grouped(std::int64_t value);

}  // namespace tlstrata::cli
