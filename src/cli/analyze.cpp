// `tlstrata analyze`: captures and key logs in, five layers per transaction out.
#include "analyze/analyze.h"

#include <fmt/format.h>
#include <unistd.h>

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
#include "cli/analyze_sinks.h"
#include "cli/cli.h"
#include "lab/folder_analysis.h"
#include "report/manifest.h"
#include "report/summary_builder.h"
#include "report/transactions_csv.h"
#include "report/transactions_json.h"

namespace tlstrata::cli {
namespace {

std::atomic<bool> stop_following = false;

// Ctrl-C ends the following, not the program: the table comes then.
void stop_at_signals() {
  struct sigaction action{};
  action.sa_handler = [](int) { stop_following = true; };
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

analyze::Input input_of(const AnalyzeArguments& arguments) {
  return {.captures = arguments.captures,
          .key_logs = arguments.key_logs,
          .filter = arguments.filter,
          .follow_until = arguments.follow ? &stop_following : nullptr};
}

// Captures, or a result folder's: one row after the other.
class Rows {
 public:
  // `manifest` is the folder's, where the argument is one.
  static Checked<Rows> open(const AnalyzeArguments& arguments, const std::optional<report::Manifest>& manifest) {
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
    rows.captures_.emplace(std::move(*opened));
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

// Draws the connection that `--show` asks for.
Checked<std::vector<analyze::LadderLine>> draw(const AnalyzeArguments& arguments, const AnalyzeSinks& sinks) {
  if (!sinks.shown()) {
    return std::unexpected(Complaint{fmt::format("there is no connection {}", arguments.show),
                                     arguments.captures.front(), "the column connection of --transactions numbers them",
                                     ExitCode::usage});
  }
  return analyze::draw_ladder(input_of(arguments), *sinks.shown());
}

// The manifest where the argument is a result folder.
Checked<std::optional<report::Manifest>> manifest_of(const AnalyzeArguments& arguments) {
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
  const std::filesystem::path manifest = std::filesystem::path(arguments.captures.front()) / "manifest.json";
  if (!std::filesystem::exists(manifest, ignored)) {
    return std::unexpected(Complaint{"a folder, but no result folder of `tlstrata lab`: it has no manifest.json",
                                     arguments.captures.front(), "name the captures in it", ExitCode::usage});
  }
  auto read = report::read_manifest(manifest);
  if (!read) {
    return std::unexpected(read.error());
  }
  return std::move(*read);
}

Checked<void> read_all(Rows& rows, AnalyzeSinks& sinks) {
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

Checked<ExitCode> run(const AnalyzeArguments& arguments) {
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
  auto sinks = AnalyzeSinks::open(arguments, {.manifest = by_manifest ? &**manifest : nullptr,
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
    print_analysis(rows->counts(), summary, isatty(STDOUT_FILENO) == 1);
  }
  return ExitCode::fine;
}

}  // namespace

void add_analyze(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("analyze", "Split the HTTPS transactions of captures into five layers");
  auto arguments = std::make_shared<AnalyzeArguments>();
  command
      ->add_option("CAPTURE", arguments->captures,
                   "pcap or pcapng, plain, .gz or .zst; - for standard input; or a result folder")
      ->required();
  add_analysis_options(*command, *arguments);
  command->add_option("--show", arguments->show, "Draw connection N, packet by packet, with its layers")
      ->type_name("N")
      ->check(CLI::Validator(
          [](const std::string& text) {
            const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
            const bool is_zero = text.find_first_not_of('0') == std::string::npos;
            return is_number && !is_zero ? std::string() : text + " is no connection's number: they begin with 1";
          },
          ""));
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
