// Holding a run of `tlstrata handshake` against an earlier one: --save, --against, --fail-if.
//
// In:      two documents as --json writes them; conditions like "server.cpu > +3%".
// Out:     what changed, and whether a condition holds.
// Units:   of the metrics: cpu in nanoseconds of the medians, bytes of the medians, instructions a handshake.
// Absence: a metric that a document lacks is not compared; a configuration that the earlier run lacks is named.
// Errors:  usage for a condition that cannot be read or met by no configuration; a file that is no such document.
// Source:  a condition holds where the change is larger than its threshold and, where there are blocks, the 95 % interval of
//          the change lies above zero: noise alone does not fail a build.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/complaint.h"
#include "cli/handshake_options.h"
#include "handshake/configuration.h"
#include "report/json.h"

namespace tlstrata::cli {

Checked<FailCondition> parse_fail_condition(std::string_view text);

struct MetricChange {
  std::string configuration;
  std::string metric;
  double before = 0;
  double after = 0;
  std::optional<double> low;  // 95 %, of the difference; nullopt: no blocks
  std::optional<double> high;

  [[nodiscard]] double change() const { return after - before; }
};

bool holds(const FailCondition& condition, const MetricChange& change);

// Of all configurations and metrics that both have, in the order of `after`.
std::vector<MetricChange> changes_between(const report::Json& before, const report::Json& after, std::uint64_t seed);

// Writes what was asked for, prints the table and the changes, and judges them.
Checked<ExitCode> finish_handshake(const HandshakeArguments& arguments, const report::Json& document,
                                   const std::string& table);

// The options that ask for exactly this configuration.
std::vector<std::string> arguments_of(const handshake::Configuration& configuration);

}  // namespace tlstrata::cli
