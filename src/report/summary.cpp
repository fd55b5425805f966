#include "report/summary.h"

#include <fmt/format.h>

#include <numeric>

#include "report/figures.h"
#include "report/summary_builder.h"

namespace tlstrata::report {

const std::string_view cos_definition =
    "cryptographic overhead share (COS): the sum over tcp_to_tls, tls_handshake and tls_to_app of the cell's median "
    "less "
    "the baseline's, divided by the cell's median total; signed. Its twin puts means for medians (medians don't add "
    "up, "
    "means do). This definition is our reconstruction of the published figure.";

std::uint64_t CellSummary::outcome_sum() const {
  return std::accumulate(outcomes.begin(), outcomes.end(), std::uint64_t{0});
}

strata::OutcomeCounts Summary::outcomes() const {
  strata::OutcomeCounts sum{};
  for (const CellSummary& cell : cells) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += cell.outcomes[i];
    }
  }
  return sum;
}

Summary summarize(const SummaryInput& input) {
  SummaryBuilder builder({.manifest = input.manifest, .grouping = input.grouping, .exact_rows = input.rows.size()});
  for (const strata::Transaction& row : input.rows) {
    builder.add(row);
  }
  return builder.finish(input.resources, input.resamples);
}

std::string describe_class(const RowClass& rows) {
  std::string text = rows.group.empty() ? std::string("no group") : rows.group;
  if (!rows.tls_version.empty() && rows.tls_version != "1.3") {
    text += ", TLS " + rows.tls_version;
  }
  for (const auto& [holds, what] :
       {std::pair(rows.hrr, ", HelloRetryRequest"), std::pair(rows.resumed, ", resumed"),
        std::pair(rows.early_data, ", early data"), std::pair(rows.later_request, ", later request of a connection")}) {
    text += holds ? what : "";
  }
  if (!rows.boundary.empty() && rows.boundary != "decrypted") {
    text += ", " + rows.boundary + " boundaries";
  }
  return text;
}

std::string describe_outcomes(const strata::OutcomeCounts& outcomes) {
  std::string text;
  for (std::size_t i = outcomes.size(); i > 0; --i) {
    if (outcomes[i - 1] > 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(outcomes[i - 1]), strata::outcome_names[i - 1]);
    }
  }
  return text.empty() ? "none" : text;
}

}  // namespace tlstrata::report
