#include "cli/handshake_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/iana.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/columns.h"
#include "ossl/version.h"

namespace tlstrata::cli {
namespace {

using handshake::CpuFigures;
using handshake::Estimate;
using handshake::Figures;
using handshake::Measure;
using ossl::Side;

constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view highlighted = "\x1b[33m";
constexpr std::string_view normal = "\x1b[0m";

std::string styled(std::string text, std::string_view how, bool colours) {
  return colours ? fmt::format("{}{}{}", how, text, normal) : text;
}

std::string duration(double ns) {
  return format_duration(static_cast<Nanos>(std::llround(ns)));
}

std::string signed_duration(double ns) {
  return (ns < 0 ? "-" : "+") + duration(std::abs(ns));
}

const CpuFigures& of(const Figures& figures, Measure measure) {
  return figures.cpu_ns[static_cast<std::size_t>(measure)];
}

std::string transport_text(const handshake::Plan& plan) {
  constexpr std::array texts{"in memory", "over socket pairs", "over TCP"};
  std::string text = texts.at(static_cast<std::size_t>(plan.options.transport));
  return plan.threads > 1 ? text + fmt::format(" on {} threads", plan.threads) : text;
}

std::string libraries_text(const HandshakeResults& results) {
  std::string text;
  for (const std::string& library : results.libraries) {
    text += (text.empty() ? "" : ", ") + for_terminal(library);
  }
  return text.empty() ? ossl::library_version() : text;
}

std::string opening(const HandshakeArguments& arguments, const HandshakeResults& results) {
  const auto& plan = arguments.plan;
  return fmt::format(
      "TLS 1.3 handshakes {}, {}\n{} x {} handshakes of each configuration, {} blocks in random order "
      "(seed {}), {} keys and contexts\n\n",
      transport_text(plan), libraries_text(results), plan.runs, grouped(plan.handshakes),
      results.measured.empty() ? 0 : results.measured.front().blocks.size(), plan.seed,
      plan.options.cold ? "cold" : "warm");
}

std::string cpu_table(const HandshakeResults& results, bool colours) {
  Columns table;
  table.add({"", "client CPU", "spread", "ratio", "server CPU", "spread", "ratio", "client sends", "server sends"});
  for (std::size_t i = 0; i < results.measured.size(); ++i) {
    const Figures& figures = results.figures[i];
    std::vector<std::string> row{for_terminal(results.measured[i].configuration.name) +
                                 (results.measured[i].first.account.retry ? " (retry)" : "")};
    for (const Measure measure : {Measure::client, Measure::server}) {
      const CpuFigures& cpu = of(figures, measure);
      row.push_back(duration(cpu.median_of_runs));
      row.push_back(fmt::format("{:.1f} %", 100 * cpu.spread));
      if (!figures.versus_baseline) {
        row.emplace_back("1.00");
        continue;
      }
      const auto& versus = (*figures.versus_baseline)[static_cast<std::size_t>(measure)];
      row.push_back(styled(fmt::format("{:.2f}", versus.ratio.value), highlighted, colours && versus.flagged));
    }
    for (const handshake::ByteFigures& bytes : figures.bytes) {
      row.push_back(grouped(std::llround(bytes.median)));
    }
    table.add(std::move(row));
  }
  return table.text() +
         "CPU: median of the runs' medians; spread: of those, largest less least. Bytes: median, records and all.\n";
}

std::string rate_line(const HandshakeArguments& arguments, const HandshakeResults& results) {
  if (arguments.plan.threads == 1) {
    return {};
  }
  std::string text = "Handshakes per second, of all threads:";
  for (std::size_t i = 0; i < results.measured.size(); ++i) {
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", for_terminal(results.measured[i].configuration.name),
                        grouped(std::llround(results.figures[i].per_second)));
  }
  return text + '\n';
}

std::string interval_text(const Estimate& estimate) {
  return estimate.interval ? fmt::format("[{}, {}]", signed_duration(estimate.interval->low),
                                         signed_duration(estimate.interval->high))
                           : std::string("-");
}

std::string ratio_interval_text(const Estimate& estimate) {
  return estimate.interval
             ? fmt::format("{:.3f} [{:.3f}, {:.3f}]", estimate.value, estimate.interval->low, estimate.interval->high)
             : fmt::format("{:.3f}", estimate.value);
}

std::string p_text(const handshake::Comparison& comparison) {
  if (!comparison.p_holm) {
    return "-";
  }
  return *comparison.p_holm < 0.001 ? "<0.001" : fmt::format("{:.3f}", *comparison.p_holm);
}

std::string difference_table(const HandshakeResults& results, bool colours) {
  if (results.measured.size() < 2) {
    return {};
  }
  Columns table(2);
  table.add({"", "", "difference", "95 % interval", "ratio", "Glass's delta", "p"});
  for (std::size_t i = 1; i < results.measured.size(); ++i) {
    for (const Measure measure : {Measure::client, Measure::server}) {
      const auto& versus = (*results.figures[i].versus_baseline)[static_cast<std::size_t>(measure)];
      table.add({measure == Measure::client ? for_terminal(results.measured[i].configuration.name) : std::string(),
                 std::string(handshake::measure_names[static_cast<std::size_t>(measure)]),
                 styled(signed_duration(versus.difference.value), highlighted, colours && versus.flagged),
                 interval_text(versus.difference), ratio_interval_text(versus.ratio),
                 versus.glass_delta ? fmt::format("{:+.2f}", *versus.glass_delta) : "-",
                 p_text(versus) + (versus.flagged ? " *" : "")});
    }
  }
  return styled(fmt::format("CPU against {}, differences of medians\n",
                            for_terminal(results.measured.front().configuration.name)),
                bold, colours) +
         table.text() + "p by permuting blocks, Holm-adjusted over this table; * below 0.05.\n\n";
}

std::string tcp_table(const HandshakeArguments& arguments, const HandshakeResults& results, bool colours) {
  const handshake::TcpPath& path = arguments.path;
  Columns table;
  table.add({"", "client's flights", "server's flight", "segments", "round trips", "initial window"});
  for (const handshake::Measured& measured : results.measured) {
    const handshake::TcpView view = handshake::tcp_view(measured.first.flights, path);
    std::string clients;
    std::uint64_t segments = 0;
    for (const handshake::TcpFlight& flight : view.flights) {
      if (flight.side == Side::client) {
        clients += fmt::format("{}{} ({})", clients.empty() ? "" : " + ",
                               grouped(static_cast<std::int64_t>(flight.bytes)), flight.segments);
      } else {
        segments = flight.segments;
      }
    }
    const bool fits = view.window_excess <= 0;
    const std::string verdict = fits ? fmt::format("fits, {} left", grouped(-view.window_excess))
                                     : fmt::format("{} bytes too many", grouped(view.window_excess));
    table.add({for_terminal(measured.configuration.name), clients,
               grouped(static_cast<std::int64_t>(view.server_flight_bytes)), std::to_string(segments),
               std::to_string(view.round_trips), styled(verdict, highlighted, colours && !fits)});
  }
  return styled("TCP\n", bold, colours) + table.text() +
         fmt::format(
             "Bytes with (segments) at {} - {} bytes each; the window of {} segments holds {}. Round trips from "
             "ClientHello to request, TCP's own not counted.\n",
             path.mss, path.option_bytes, path.initcwnd, grouped(static_cast<std::int64_t>(path.window_bytes())));
}

}  // namespace

std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(std::abs(value));
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return (value < 0 ? "-" : "") + digits;
}

std::string signed_grouped(std::int64_t value) {
  return (value > 0 ? "+" : "") + grouped(value);
}

std::string cpu_account_table(const HandshakeResults& results, Side side) {
  const std::size_t at = handshake::at(side);
  Columns table;
  std::vector<std::string> head{side == Side::client ? "client" : "server"};
  for (const handshake::Measured& measured : results.measured) {
    head.push_back(for_terminal(measured.configuration.name));
  }
  table.add(std::move(head));
  const auto microseconds = [](double ns) { return fmt::format("{:.1f}", ns / 1000); };
  const auto add_row = [&](std::string_view title, auto figure) {
    std::vector<std::string> row{std::string(title)};
    bool any = false;
    for (const Figures& figures : results.figures) {
      const auto& account = figures.account[at];
      const double value = account ? figure(figures, *account) : 0.0;
      any = any || value != 0;
      row.push_back(value != 0 ? microseconds(value) : "-");
    }
    if (any) {
      table.add(std::move(row));
    }
  };
  for (std::size_t part = 0; part < handshake::part_count; ++part) {
    add_row(handshake::part_title(static_cast<handshake::Part>(part)),
            [part](const Figures&, const handshake::CpuAccount& account) { return account.parts_ns[part]; });
  }
  add_row("sum", [](const Figures&, const handshake::CpuAccount& account) { return account.total_ns; });
  add_row("of which the account itself", [at](const Figures& figures, const handshake::CpuAccount& account) {
    return account.total_ns - figures.middle_ns[at].value_or(account.total_ns);
  });
  add_row("floor: its primitives alone",
          [at](const Figures& figures, const handshake::CpuAccount&) { return figures.floor_ns[at].value_or(0); });
  std::vector<std::string> ratios{"handshake : floor"};
  for (const Figures& figures : results.figures) {
    const auto& middle = figures.middle_ns[at];
    const auto& floor = figures.floor_ns[at];
    ratios.push_back(middle && floor ? fmt::format("{:.2f}", *middle / *floor) : "-");
  }
  table.add(std::move(ratios));
  return table.text();
}

std::string handshake_tables(const HandshakeArguments& arguments, const HandshakeResults& results, bool colours) {
  std::string text = opening(arguments, results) + cpu_table(results, colours) + rate_line(arguments, results) + '\n';
  text += difference_table(results, colours);
  if (arguments.plan.account) {
    text +=
        styled("Where the CPU goes, us: means of the middle half of handshakes whose calls to libcrypto were timed\n",
               bold, colours);
    text += cpu_account_table(results, Side::client) + '\n' + cpu_account_table(results, Side::server) + '\n';
  }
  text += byte_tables(arguments, results) + '\n';
  return text + tcp_table(arguments, results, colours);
}

}  // namespace tlstrata::cli
