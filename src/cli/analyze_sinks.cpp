#include "cli/analyze_sinks.h"

#include <utility>

#include "cli/analyze_output.h"

namespace tlstrata::cli {
namespace {

constexpr std::uint64_t resamples = 2000;

}  // namespace

void add_analysis_options(CLI::App& command, AnalyzeArguments& arguments) {
  command.add_option("--keylog", arguments.key_logs, "Key log (SSLKEYLOGFILE); may be given several times")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--transactions", arguments.transactions, "Write one row a transaction as CSV")->type_name("FILE");
  command.add_option("--json", arguments.json, "Write everything as JSON; - for standard output")->type_name("FILE");
  command
      .add_option("--threads", arguments.threads,
                  "Worker threads; the result is the same for any number (default: all cores)")
      ->type_name("N")
      ->check(CLI::Range(1U, 256U));
  command.add_option("--filter", arguments.filter, "Only packets that match, in libpcap's language")->type_name("EXPR");
  command
      .add_option("--server", arguments.servers,
                  "Only connections to this server: ADDR, ADDR:PORT, :PORT or an SNI name; may be given several times")
      ->type_name("SERVER")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--since", arguments.since, "Only connections that start at or after TIME (UTC, or epoch seconds)")
      ->type_name("TIME");
  command.add_option("--until", arguments.until, "Only connections that start before TIME")->type_name("TIME");
  command.add_option("--by", arguments.by, "Group the table by group, cipher, server, sni, alpn, hrr, resumed, ...")
      ->type_name("KEYS")
      ->multi_option_policy(CLI::MultiOptionPolicy::Join)
      ->delimiter(',');
}

Checked<analyze::Selection> selection_of(const AnalyzeArguments& arguments) {
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
  if (selection.since_ns && selection.until_ns && *selection.since_ns >= *selection.until_ns) {
    return std::unexpected(Complaint{"--since is not before --until: no connection can start between them",
                                     arguments.since, "give the earlier time to --since", ExitCode::usage});
  }
  return selection;
}

Checked<AnalyzeSinks> AnalyzeSinks::open(const AnalyzeArguments& arguments,
                                         const report::SummaryBuilder::Options& summary) {
  if (arguments.transactions == "-" && arguments.json == "-") {
    return std::unexpected(Complaint{"--transactions and --json can't both go to standard output", "-",
                                     "give one of them a file", ExitCode::usage});
  }
  AnalyzeSinks sinks(arguments.show, summary);
  sinks.live_ = arguments.follow;
  sinks.prints_ = arguments.follow && arguments.transactions != "-" && arguments.json != "-";
  if (!arguments.by.empty()) {
    auto keys = analyze::parse_keys(arguments.by);
    if (!keys) {
      return std::unexpected(keys.error());
    }
    sinks.keys_ = std::move(*keys);
  }
  if (!arguments.transactions.empty()) {
    auto writer = report::TransactionsWriter::open(arguments.transactions, arguments.file_column ? "file" : "");
    if (!writer) {
      return std::unexpected(writer.error());
    }
    sinks.csv_.emplace(std::move(*writer));
  }
  if (!arguments.json.empty()) {
    auto document = report::TransactionsJson::open(arguments.json, "analyze");
    if (!document) {
      return std::unexpected(document.error());
    }
    sinks.json_.emplace(std::move(*document));
  }
  return sinks;
}

Checked<void> AnalyzeSinks::add(strata::Transaction& row, std::string_view file) {
  if (row.connection.number == show_ && row.request <= 1) {
    shown_ = row;
  }
  if (csv_) {
    if (auto added = csv_->add(row, file); !added) {
      return added;
    }
    if (live_) {
      if (auto flushed = csv_->flush(); !flushed) {
        return flushed;
      }
    }
  }
  if (prints_) {
    print_live(row);
  }
  if (json_) {
    if (auto added = json_->add(row, file); !added) {
      return added;
    }
  }
  if (!keys_.empty()) {
    row.cell = analyze::label(row, keys_);
  }
  summary_.add(row);
  return {};
}

report::Summary AnalyzeSinks::summary() {
  return summary_.finish({}, resamples);
}

}  // namespace tlstrata::cli
