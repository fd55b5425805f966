#include "handshake/matrix.h"

#include <array>
#include <utility>

#include "handshake/account.h"
#include "handshake/identities.h"
#include "handshake/tcp_view.h"
#include "stats/describe.h"

namespace tlstrata::handshake {
namespace {

Checked<MatrixCell> cell_of(const Configuration& configuration, Identities& identities, std::uint32_t handshakes) {
  auto exchange = Exchange::create(configuration, identities);
  if (!exchange) {
    return std::unexpected(exchange.error());
  }
  MatrixCell cell;
  cell.configuration = configuration;
  PerSide<ossl::Trace> traces;
  Watch watch;
  watch.traces = &traces;
  watch.flights = true;
  const Outcome first = (*exchange)->run(watch);
  if (!first.done) {
    cell.failure = first.failure;
    return cell;
  }
  const auto account = account_of(traces);
  if (!account) {
    return std::unexpected(complain(account.error(), configuration.name, "report it: a byte has no name"));
  }
  cell.verdict = account->retry ? Verdict::retry : Verdict::direct;
  cell.group = first.agreement.group;
  cell.bytes = first.bytes;
  cell.round_trips = tcp_view(first.flights, {}).round_trips;
  PerSide<std::vector<double>> cpu_ns;
  for (std::uint32_t i = 0; i < handshakes; ++i) {
    const Outcome outcome = (*exchange)->run();
    if (!outcome.done || outcome.agreement != first.agreement) {
      return std::unexpected(Complaint{"a handshake was another one than the first: " + outcome.failure,
                                       configuration.name, "", ExitCode::failed});
    }
    for (std::size_t side = 0; side < side_count; ++side) {
      cpu_ns[side].push_back(static_cast<double>(outcome.cpu_ns[side]));
    }
  }
  for (std::size_t side = 0; side < side_count && handshakes != 0; ++side) {
    cell.cpu_ns[side] = static_cast<Nanos>(stats::median_of(cpu_ns[side]));
  }
  return cell;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  constexpr std::array<std::string_view, 3> names{"direct", "retry", "failure"};
  return names.at(static_cast<std::size_t>(verdict));
}

Checked<std::vector<MatrixCell>> matrix_of(std::span<const Configuration> configurations, std::uint32_t handshakes) {
  Identities identities;
  std::vector<MatrixCell> cells;
  for (const Configuration& configuration : configurations) {
    auto cell = cell_of(configuration, identities, handshakes);
    if (!cell) {
      return std::unexpected(cell.error());
    }
    cells.push_back(std::move(*cell));
  }
  return cells;
}

}  // namespace tlstrata::handshake
