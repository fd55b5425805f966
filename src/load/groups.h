// The language of --groups and --key-shares: which key exchanges to offer, and which to bet on.
//
// In:        "X25519MLKEM768:X25519,MLKEM1024=2": `:` joins the groups of one offer, `,` separates configurations, `=N`
//            is a configuration's weight in the mix. Key shares: "X25519:MLKEM1024"; for several configurations one
//            list that serves all, or as many as there are, separated by `,`. Names are base/iana.h's.
// Out:       configurations with code points.
// Errors:    usage: names the part that is wrong, and for an unknown group those that the library knows. The prefixes
//            of OpenSSL's own lists (*, ?, -, /) are refused: what is sent as key share is said in --key-shares.
// Threads:   pure functions.
// Source:    design.md section 3; RFC 8446 section 4.2.8: shares are a subset of the offer, in its order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/complaint.h"

namespace tlstrata::load {

struct Configuration {
  std::vector<std::uint16_t> groups;      // offered, in order of preference; at least one
  std::vector<std::uint16_t> key_shares;  // sent, in the offer's order; at least one
  std::uint32_t weight = 1;
  std::string name;  // "X25519MLKEM768:X25519", canonical spelling, without the weight
};

// `supported` are the code points that the library can use, `most_shares` how many it can send. Empty `key_shares`: the
// first group of each offer.
Checked<std::vector<Configuration>> parse_configurations(std::string_view groups, std::string_view key_shares,
                                                         std::span<const std::uint16_t> supported,
                                                         std::size_t most_shares);

// "X25519MLKEM768+X25519": names as tables and CSV join them.
std::string joined_names(std::span<const std::uint16_t> groups);

}  // namespace tlstrata::load
