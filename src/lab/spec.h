// What an experiment is: the specification that `lab` runs, from TOML.
//
// In:        text of a TOML file (specs/quick.toml shows every key and its default).
// Out:       a Spec whose every value is inside its limits.
// Units:     durations in nanoseconds, sizes in bytes, rates per second.
// Ownership: Spec owns all it holds.
// Errors:    Complaint with "file:line" and the key: unknown key (with the nearest known one), wrong type or unit, a
//            value outside its limits, two cells of the same name.
// Source:    TOML 1.0 (toml.io/en/v1.0.0); group lists as design.md section 3.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/complaint.h"
#include "base/nanos.h"

namespace tlstrata::lab {

// One configuration of key exchange.
struct GroupChoice {
  std::string offer;       // names joined with ':', as --groups takes one offer
  std::string key_shares;  // names joined with ':'; empty: the offer's first group alone
  std::string label;       // first part of its cells' names; safe in file names
};

struct Spec {
  std::string name;                        // safe in file names
  std::vector<GroupChoice> groups;         // at least one; the first is the baseline
  std::vector<std::uint64_t> responses;    // body sizes, all different
  double rate = 100;                       // transactions started per second in a block
  std::string arrivals = "constant";       // or "poisson"
  Nanos block_ns = nanos_per_second;       // length of a block's schedule
  std::uint32_t blocks = 10;               // per cell
  std::uint64_t seed = 1;                  // of the blocks' order and of poisson arrivals
  std::string certificate = "ecdsa-p256";  // the proxy's
  std::uint32_t warmup_transactions = 60;  // before the first block, over all cells
  std::uint32_t warmup_per_block = 2;      // in each block's client before its capture
  std::string proxy = "nginx";
  std::uint32_t proxy_workers = 1;
  std::uint64_t snaplen = 262144;            // bytes kept of each frame
  std::uint64_t capture_buffer = 134217728;  // the kernel's ring
  Nanos connect_timeout_ns = 5 * nanos_per_second;
  Nanos handshake_timeout_ns = 5 * nanos_per_second;
  Nanos response_timeout_ns = 10 * nanos_per_second;
};

// `where` names the text in errors (a path, or "built-in quick").
Checked<Spec> parse_spec(std::string_view text, std::string_view where);

// A specification that is part of the program, from specs/*.toml at build time.
struct BuiltinSpec {
  std::string_view name;  // "quick"
  std::string_view text;  // the file, byte for byte
};
std::span<const BuiltinSpec> builtin_specs();

// What `lab NAME_OR_PATH` means: a built-in one's name, else a file.
struct SpecText {
  std::string text;
  std::string where;  // for errors
};
Checked<SpecText> load_spec_text(const std::string& name_or_path);

// "4KiB", "1MB", "0B", "1500B": short, exact, safe in a path and a URL, and read back by parse_size.
std::string exact_size(std::uint64_t bytes);

}  // namespace tlstrata::lab
