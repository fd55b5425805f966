// Names for groups of transactions: what `--by` puts together.
//
// In:      keys, comma-separated: group, key_shares, cipher, tls_version, server, client, sni, alpn, hrr, resumed, early_data,
//          boundary, outcome, method, status.
// Out:     a row's label over those keys, like "X25519MLKEM768, 10.0.0.1:443".
// Errors:  parse: a Complaint (usage) that lists the keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/complaint.h"
#include "strata/transaction.h"

namespace tlstrata::analyze {

using Key = std::string (*)(const strata::Transaction& row);

Checked<std::vector<Key>> parse_keys(std::string_view list);

std::string label(const strata::Transaction& row, const std::vector<Key>& keys);

}  // namespace tlstrata::analyze
