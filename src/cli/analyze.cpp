// `tlstrata analyze`: captures and key logs in, five layers per transaction out.
#include "analyze/analyze.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "analyze/grouping.h"
#include "analyze/ladder.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "lab/folder_analysis.h"
#include "report/json.h"
#include "report/manifest.h"
#include "report/summary.h"
#include "report/table.h"
#include "report/transactions_csv.h"
#include "tcp/address.h"

namespace tlstrata::cli {
namespace {

struct Arguments {
  std::vector<std::string> captures;
  std::vector<std::string> key_logs;
  std::string transactions;
  std::string json;
  std::string filter;
  std::vector<std::string> servers;
  std::string since;
  std::string until;
  std::string by;
  std::uint64_t show = 0;  // 0: no connection
  unsigned threads = 0;
};

report::Json counts_json(const analyze::Counts& counts) {
  report::Json json;
  json["packets"] = {{"read", counts.file.packets},
                     {"tcp", counts.packets.tcp},
                     {"late", counts.packets.late},
                     {"no_connection", counts.packets.no_connection},
                     {"not_ip", counts.packets.not_ip},
                     {"not_tcp", counts.packets.not_tcp},
                     {"quic", counts.packets.quic},
                     {"dtls", counts.packets.dtls},
                     {"fragments", counts.packets.fragments},
                     {"fragments_dropped", counts.packets.fragments_dropped},
                     {"malformed", counts.packets.malformed},
                     {"cut_headers", counts.packets.cut_headers},
                     {"unsupported_link", counts.packets.unsupported_link}};
  json["file"] = {{"secrets", counts.file.secrets},
                  {"skipped_blocks", counts.file.skipped_blocks},
                  {"damaged_packets", counts.file.damaged_packets},
                  {"reported_drops", counts.file.reported_drops},
                  {"truncated", counts.truncated_files}};
  json["key_log"] = {{"secrets", counts.keys.secrets},
                     {"duplicates", counts.keys.duplicates},
                     {"conflicts", counts.keys.conflicts},
                     {"other", counts.keys.other},
                     {"junk", counts.keys.junk}};
  json["packets"]["filtered"] = counts.filtered;
  json["connections"] = counts.connections;
  json["not_selected"] = counts.not_selected;
  return json;
}

Checked<void> write_document(const std::string& where, const analyze::Analysis& analysis,
                             const report::Summary& summary) {
  report::Json document = report::open_document("analyze");
  document["outcomes"] = report::to_json(analysis.counts.outcomes);
  document["counts"] = counts_json(analysis.counts);
  document["warnings"] = analysis.warnings;
  document["summary"] = report::to_json(summary);
  report::Json rows = report::Json::array();
  for (const strata::Transaction& row : analysis.rows) {
    rows.push_back(report::to_json(row));
  }
  document["transactions"] = std::move(rows);
  return report::write_json(where, document);
}

void print_ladder(const strata::Transaction& row, const std::vector<analyze::LadderLine>& ladder) {
  fmt::print("connection {}: {} -> {}, {}, {}\n\n", row.connection.number, tcp::to_string(row.connection.client),
             tcp::to_string(row.connection.server), strata::name(row.outcome), strata::name(row.boundary));
  fmt::print("{:>13}  {:>9}  {:^11}  what\n", "time", "packet", "client");
  for (const analyze::LadderLine& line : ladder) {
    const std::string time = fmt::format("{:.3f} us", static_cast<double>(line.time_ns) / 1000.0);
    if (line.kind == analyze::LadderLine::Kind::boundary) {
      fmt::print("{:->13}--{:->9}--{:-^11}  {} begins, {}\n", time, "", "", line.what,
                 format_duration(static_cast<Nanos>(line.bytes)));
      continue;
    }
    const bool is_packet = line.kind == analyze::LadderLine::Kind::packet;
    const char* arrow = is_packet ? (line.from_client ? "---------->" : "<----------")
                                  : (line.from_client ? "|         :" : ":         |");
    const std::string size = line.bytes != 0 ? fmt::format(", {} B", line.bytes) : std::string{};
    fmt::print("{:>13}  {:>9}  {}  {}{}{}\n", time, line.packet != 0 ? fmt::format("#{}", line.packet) : std::string{},
               arrow, is_packet ? "" : "  ", for_terminal(line.what), size);
  }
}

void print_result(const analyze::Analysis& analysis, const report::Summary& summary) {
  const bool on_terminal = isatty(STDOUT_FILENO) == 1;
  fmt::print("{}", report::terminal_table(summary, {.colours = on_terminal, .columns = 100}));
  fmt::print("\n{} transactions on {} connections: {}\n", analysis.rows.size(), analysis.counts.connections,
             report::describe_outcomes(analysis.counts.outcomes));
  const tcp::PacketCounts& packets = analysis.counts.packets;
  fmt::print("{} packets: {} TCP", analysis.counts.file.packets, packets.tcp);
  const std::initializer_list<std::pair<const char*, std::uint64_t>> others{
      {"after their connection's end", packets.late},
      {"left out by the filter", analysis.counts.filtered},
      {"of no connection", packets.no_connection},
      {"not IP", packets.not_ip},
      {"not TCP", packets.not_tcp},
      {"QUIC", packets.quic},
      {"DTLS", packets.dtls},
      {"IP fragments put together", packets.fragments},
      {"IP fragments dropped", packets.fragments_dropped},
      {"malformed", packets.malformed},
      {"with cut headers", packets.cut_headers},
      {"of an unsupported link type", packets.unsupported_link}};
  for (const auto& [what, count] : others) {
    if (count != 0) {
      fmt::print(", {} {}", count, what);
    }
  }
  fmt::print("\n");
  const bool inferred = std::ranges::any_of(
      analysis.rows, [](const strata::Transaction& row) { return row.boundary == strata::Boundary::inferred; });
  if (inferred) {
    fmt::print("boundaries of some rows are inferred from record sizes, not decrypted (column boundary)\n");
  }
}

Checked<analyze::Selection> selection_of(const Arguments& arguments) {
  analyze::Selection selection{.servers = arguments.servers, .since_ns = {}, .until_ns = {}};
  for (const auto& [text, limit] :
       {std::pair(&arguments.since, &selection.since_ns), std::pair(&arguments.until, &selection.until_ns)}) {
    if (!text->empty()) {
      const auto time = analyze::parse_time(*text);
      if (!time) {
        return std::unexpected(time.error());
      }
      *limit = *time;
    }
  }
  return selection;
}

// `manifest` is the folder's, where the argument is one.
Checked<analyze::Analysis> analyse(const Arguments& arguments, const std::optional<report::Manifest>& manifest) {
  const unsigned hardware = std::max(1U, std::thread::hardware_concurrency());
  auto selection = selection_of(arguments);
  if (!selection) {
    return std::unexpected(selection.error());
  }
  const analyze::Options options{arguments.threads != 0 ? arguments.threads : hardware, std::move(*selection)};
  if (!manifest) {
    return analyze::run({arguments.captures, arguments.key_logs, arguments.filter}, options);
  }
  return lab::analyze_folder(arguments.captures.front(), *manifest, options);
}

// Draws the connection `--show` asks for.
Checked<ExitCode> show(const Arguments& arguments, const analyze::Analysis& analysis) {
  const auto row = std::ranges::find_if(analysis.rows, [&](const strata::Transaction& each) {
    return each.connection.number == arguments.show && each.request <= 1;
  });
  if (row == analysis.rows.end()) {
    return std::unexpected(Complaint{fmt::format("there is no connection {}", arguments.show),
                                     arguments.captures.front(), "the column connection of --transactions numbers them",
                                     ExitCode::usage});
  }
  const auto ladder = analyze::draw_ladder({arguments.captures, arguments.key_logs, arguments.filter}, *row);
  if (!ladder) {
    return std::unexpected(ladder.error());
  }
  print_ladder(*row, *ladder);
  return ExitCode::fine;
}

Checked<ExitCode> run(const Arguments& arguments) {
  std::error_code ignored;
  const bool any_folder = std::ranges::any_of(
      arguments.captures, [&](const std::string& path) { return std::filesystem::is_directory(path, ignored); });
  if (any_folder && arguments.captures.size() != 1) {
    return std::unexpected(Complaint{"a result folder is analysed by itself", arguments.captures.front(),
                                     "give one folder, or captures", ExitCode::usage});
  }
  std::optional<report::Manifest> manifest;
  if (any_folder) {
    auto read = report::read_manifest(std::filesystem::path(arguments.captures.front()) / "manifest.json");
    if (!read) {
      return std::unexpected(read.error());
    }
    manifest = std::move(*read);
  }
  auto analysis = analyse(arguments, manifest);
  if (!analysis) {
    return std::unexpected(analysis.error());
  }
  if (any_folder && (arguments.show != 0 || !arguments.filter.empty())) {
    return std::unexpected(Complaint{"--show and --filter are for captures", arguments.captures.front(),
                                     "name one of the folder's captures/*.pcapng", ExitCode::usage});
  }
  for (const std::string& warning : analysis->warnings) {
    fmt::print(stderr, "tlstrata: warning: {}\n", for_terminal(warning));
  }
  if (!arguments.transactions.empty()) {
    if (auto written = report::write_transactions_csv(arguments.transactions, analysis->rows); !written) {
      return std::unexpected(written.error());
    }
  }
  if (arguments.show != 0) {
    return show(arguments, *analysis);
  }
  if (!arguments.by.empty()) {
    const auto keys = analyze::parse_keys(arguments.by);
    if (!keys) {
      return std::unexpected(keys.error());
    }
    for (strata::Transaction& row : analysis->rows) {
      row.cell = analyze::label(row, *keys);
    }
    manifest.reset();
  }
  const bool by_cell = manifest || !arguments.by.empty();
  const report::SummaryInput input{.rows = analysis->rows,
                                   .manifest = manifest ? &*manifest : nullptr,
                                   .grouping = by_cell ? report::Grouping::cell : report::Grouping::group};
  const report::Summary summary = report::summarize(input);
  if (!arguments.json.empty()) {
    if (auto written = write_document(arguments.json, *analysis, summary); !written) {
      return std::unexpected(written.error());
    }
  }
  if (arguments.json != "-" && arguments.transactions != "-") {
    print_result(*analysis, summary);
  }
  return ExitCode::fine;
}

}  // namespace

void add_analyze(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("analyze", "Split the HTTPS transactions of captures into five layers");
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("CAPTURE", arguments->captures,
                   "pcap or pcapng, plain, .gz or .zst; - for standard input; or a result folder")
      ->required();
  command->add_option("--keylog", arguments->key_logs, "Key log (SSLKEYLOGFILE); may be given several times")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--transactions", arguments->transactions, "Write one row a transaction as CSV")
      ->type_name("FILE");
  command->add_option("--json", arguments->json, "Write everything as JSON; - for standard output")->type_name("FILE");
  command
      ->add_option("--threads", arguments->threads,
                   "Worker threads; the result is the same for any number (default: all cores)")
      ->type_name("N")
      ->check(CLI::Range(1U, 256U));
  command->add_option("--filter", arguments->filter, "Only packets that match, in libpcap's language")
      ->type_name("EXPR");
  command
      ->add_option("--server", arguments->servers,
                   "Only connections to this server: ADDR, ADDR:PORT, :PORT or an SNI name; may be given several times")
      ->type_name("SERVER")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--since", arguments->since, "Only connections that start at or after TIME (UTC, or epoch seconds)")
      ->type_name("TIME");
  command->add_option("--until", arguments->until, "Only connections that start before TIME")->type_name("TIME");
  command->add_option("--by", arguments->by, "Group the table by group, cipher, server, sni, alpn, hrr, resumed, ...")
      ->type_name("KEYS");
  command->add_option("--show", arguments->show, "Draw connection N, packet by packet, with its layers")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->footer(
      "Examples:\n"
      "  tlstrata analyze capture.pcapng                          keys embedded in the capture\n"
      "  tlstrata analyze a.pcap b.pcap.gz --keylog keys.log      several files of one capture\n"
      "  tlstrata analyze a.pcap --keylog k --by server,group     one column a server and group\n"
      "  tlstrata analyze a.pcap --keylog k --show 17             the 17th connection as a ladder\n"
      "  tlstrata analyze a.pcap --filter 'host 10.0.0.1' --since 2026-11-30T19:00:00Z\n"
      "  tcpdump -w - port 443 | tlstrata analyze -               from a pipe\n"
      "  tlstrata analyze results/quick-... --transactions t.csv  a lab's folder again");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace tlstrata::cli
