// The order in which an experiment's blocks run.
//
// In:        a Spec. Out: its cells in the spec's order (responses, in each what else differs, and in each the groups), the
//            servers that they need, and the blocks in the order they run.
// Units:     sizes in bytes.
// Errors:    none: a Spec is inside its limits.
// Order:     round after round; every round has each cell once, shuffled anew (Fisher-Yates over std::mt19937_64 seeded
//            with the spec's seed). So slow changes of the machine meet every cell alike, and no cell always follows
//            the same other one. The same seed gives the same order on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/spec.h"

namespace tlstrata::lab {

// A configuration with a response: what is compared.
struct Cell {
  std::string name;  // "x25519-4KiB"; safe as a file name; unique
  std::string groups;
  std::string key_shares;  // empty: the first group alone
  Response response = {};
  bool baseline = false;   // the first cell of this response and link
  std::size_t server = 0;  // index into Plan::servers
  double rate = 100;
  Injection injection = {};
  LinkChoice link = {};
  std::string compared_with = {};  // name of the baseline of its response and link; its own where it is that

  friend bool operator==(const Cell&, const Cell&) = default;
};

// A proxy and what is behind it.
struct ServerChoice {
  std::string proxy;  // "nginx"
  CertificateChoice certificate;
  UpstreamChoice upstream;

  friend bool operator==(const ServerChoice&, const ServerChoice&) = default;
};

struct PlannedBlock {
  std::size_t cell = 0;     // index into cells
  std::uint32_t block = 0;  // of its cell, from 0: the round
  std::uint32_t order = 0;  // from 0: its place in the whole run
  std::uint64_t seed = 0;   // of the block's arrivals

  friend bool operator==(const PlannedBlock&, const PlannedBlock&) = default;
};

struct Plan {
  std::vector<Cell> cells;
  std::vector<ServerChoice> servers;  // all at once, each on a port of its own; idle ones use nothing
  std::vector<PlannedBlock> blocks;
};

Plan make_plan(const Spec& spec);

}  // namespace tlstrata::lab
