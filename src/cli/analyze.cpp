// `tlstrata analyze`: captures and key logs in, five layers per transaction out.
#include "analyze/analyze.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "analyze/grouping.h"
#include "analyze/ladder.h"
#include "base/text.h"
#include "cli/analyze_output.h"
#include "cli/cli.h"
#include "lab/folder_analysis.h"
#include "report/manifest.h"
#include "report/summary_builder.h"
#include "report/transactions_csv.h"
#include "report/transactions_json.h"

namespace tlstrata::cli {
namespace {

constexpr std::uint64_t resamples = 2000;

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
  bool follow = false;
  unsigned threads = 0;
};

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

std::atomic<bool> stop_following = false;

// Ctrl-C ends the following, not the program: the table comes then.
void stop_at_signals() {
  struct sigaction action{};
  action.sa_handler = [](int) { stop_following = true; };
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

analyze::Input input_of(const Arguments& arguments) {
  return {.captures = arguments.captures,
          .key_logs = arguments.key_logs,
          .filter = arguments.filter,
          .follow_until = arguments.follow ? &stop_following : nullptr};
}

// Captures, or a result folder's: one row after the other.
class Rows {
 public:
  // `manifest` is the folder's, where the argument is one.
  static Checked<Rows> open(const Arguments& arguments, const std::optional<report::Manifest>& manifest) {
    auto selection = selection_of(arguments);
    if (!selection) {
      return std::unexpected(selection.error());
    }
    const unsigned hardware = std::max(1U, std::thread::hardware_concurrency());
    analyze::Options options;
    options.threads = arguments.threads != 0 ? arguments.threads : hardware;
    options.selection = std::move(*selection);
    Rows rows;
    if (manifest) {
      rows.folder_.emplace(arguments.captures.front(), *manifest, options);
      return rows;
    }
    if (arguments.follow) {
      options.order = analyze::Order::of_end;
      stop_at_signals();
    }
    auto opened = analyze::Analysis::open(input_of(arguments), options);
    if (!opened) {
      return std::unexpected(opened.error());
    }
    rows.captures_ = std::move(*opened);
    return rows;
  }

  // Null at the end.
  Checked<strata::Transaction*> next() { return folder_ ? folder_->next() : captures_->next(); }
  [[nodiscard]] const analyze::Counts& counts() const { return folder_ ? folder_->counts() : captures_->counts(); }
  [[nodiscard]] const std::vector<std::string>& warnings() const {
    return folder_ ? folder_->warnings() : captures_->warnings();
  }

 private:
  std::optional<analyze::Analysis> captures_;
  std::optional<lab::FolderAnalysis> folder_;
};

// Where rows go as they come.
class Sinks {
 public:
  static Checked<Sinks> open(const Arguments& arguments, const report::SummaryBuilder::Options& summary) {
    Sinks sinks(arguments.show, summary);
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
      auto writer = report::TransactionsWriter::open(arguments.transactions);
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

  Checked<void> add(strata::Transaction& row) {
    if (row.connection.number == show_ && row.request <= 1) {
      shown_ = row;
    }
    if (csv_) {
      if (auto added = csv_->add(row); !added) {
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
      if (auto added = json_->add(row); !added) {
        return added;
      }
    }
    if (!keys_.empty()) {
      row.cell = analyze::label(row, keys_);
    }
    summary_.add(row);
    return {};
  }

  Checked<void> finish_csv() { return csv_ ? csv_->finish() : Checked<void>{}; }
  Checked<void> finish_json(const report::Json& rest) { return json_ ? json_->finish(rest) : Checked<void>{}; }
  report::Summary summary() { return summary_.finish({}, resamples); }
  // The first row of the connection that `--show` asks for.
  [[nodiscard]] const std::optional<strata::Transaction>& shown() const { return shown_; }

 private:
  Sinks(std::uint64_t show, const report::SummaryBuilder::Options& summary) : show_(show), summary_(summary) {}

  std::uint64_t show_;
  bool live_ = false;    // somebody waits for each row
  bool prints_ = false;  // and reads them here
  std::vector<analyze::Key> keys_;
  std::optional<report::TransactionsWriter> csv_;
  std::optional<report::TransactionsJson> json_;
  report::SummaryBuilder summary_;
  std::optional<strata::Transaction> shown_;
};

// Draws the connection that `--show` asks for.
Checked<std::vector<analyze::LadderLine>> draw(const Arguments& arguments, const Sinks& sinks) {
  if (!sinks.shown()) {
    return std::unexpected(Complaint{fmt::format("there is no connection {}", arguments.show),
                                     arguments.captures.front(), "the column connection of --transactions numbers them",
                                     ExitCode::usage});
  }
  return analyze::draw_ladder(input_of(arguments), *sinks.shown());
}

// The manifest where the argument is a result folder.
Checked<std::optional<report::Manifest>> manifest_of(const Arguments& arguments) {
  std::error_code ignored;
  const bool any_folder = std::ranges::any_of(
      arguments.captures, [&](const std::string& path) { return std::filesystem::is_directory(path, ignored); });
  if (!any_folder) {
    return std::nullopt;
  }
  if (arguments.captures.size() != 1) {
    return std::unexpected(Complaint{"a result folder is analysed by itself", arguments.captures.front(),
                                     "give one folder, or captures", ExitCode::usage});
  }
  if (arguments.show != 0 || !arguments.filter.empty() || arguments.follow) {
    return std::unexpected(Complaint{"--show, --filter and --follow are for captures", arguments.captures.front(),
                                     "name one of the folder's captures/*.pcapng", ExitCode::usage});
  }
  auto read = report::read_manifest(std::filesystem::path(arguments.captures.front()) / "manifest.json");
  if (!read) {
    return std::unexpected(read.error());
  }
  return std::move(*read);
}

Checked<void> read_all(Rows& rows, Sinks& sinks) {
  while (true) {
    const auto row = rows.next();
    if (!row) {
      return std::unexpected(row.error());
    }
    if (*row == nullptr) {
      return sinks.finish_csv();
    }
    if (auto added = sinks.add(**row); !added) {
      return added;
    }
  }
}

Checked<ExitCode> run(const Arguments& arguments) {
  const auto manifest = manifest_of(arguments);
  if (!manifest) {
    return std::unexpected(manifest.error());
  }
  auto rows = Rows::open(arguments, *manifest);
  if (!rows) {
    return std::unexpected(rows.error());
  }
  const bool by_manifest = *manifest && arguments.by.empty();
  const bool by_cell = *manifest || !arguments.by.empty();
  auto sinks = Sinks::open(arguments, {.manifest = by_manifest ? &**manifest : nullptr,
                                       .grouping = by_cell ? report::Grouping::cell : report::Grouping::group});
  if (!sinks) {
    return std::unexpected(sinks.error());
  }
  if (auto read = read_all(*rows, *sinks); !read) {
    return std::unexpected(read.error());
  }
  for (const std::string& warning : rows->warnings()) {
    fmt::print(stderr, "tlstrata: warning: {}\n", for_terminal(warning));
  }
  std::optional<std::vector<analyze::LadderLine>> ladder;
  if (arguments.show != 0) {
    auto drawn = draw(arguments, *sinks);
    if (!drawn) {
      return std::unexpected(drawn.error());
    }
    ladder = std::move(*drawn);
  }
  const report::Summary summary = sinks->summary();
  const report::Json rest = arguments.json.empty()
                                ? report::Json()
                                : analysis_json(rows->counts(), rows->warnings(), summary, ladder ? &*ladder : nullptr);
  if (auto written = sinks->finish_json(rest); !written) {
    return std::unexpected(written.error());
  }
  if (arguments.json == "-" || arguments.transactions == "-") {
    return ExitCode::fine;
  }
  if (ladder) {
    print_ladder(*sinks->shown(), *ladder);
  } else {
    print_analysis(rows->counts(), summary);
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
  command->add_flag("--follow", arguments->follow,
                    "Read on as the captures and key logs grow, a line a transaction, until Ctrl-C; then the table");
  command->footer(
      "Examples:\n"
      "  tlstrata analyze capture.pcapng                          keys embedded in the capture\n"
      "  tlstrata analyze a.pcap b.pcap.gz --keylog keys.log      several files of one capture\n"
      "  tlstrata analyze a.pcap --keylog k --by server,group     one column a server and group\n"
      "  tlstrata analyze a.pcap --keylog k --show 17             the 17th connection as a ladder\n"
      "  tlstrata analyze a.pcap --filter 'host 10.0.0.1' --since 2026-11-30T19:00:00Z\n"
      "  tlstrata analyze growing.pcap --keylog k --follow        while another program writes it\n"
      "  tcpdump -w - port 443 | tlstrata analyze -               from a pipe\n"
      "  tlstrata analyze results/quick-... --transactions t.csv  a lab's folder again");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace tlstrata::cli
