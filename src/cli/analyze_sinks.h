// What analyses of one process and of many ranks have in common: their options, and where rows go as they come.
//
// In:        the command line; rows in order.
// Out:       transactions.csv, JSON and the summary. With `file_column` each row names the capture in which its connection
//            began, in a last column of its own.
// Ownership: a manifest that the summary goes by must outlive the sinks.
// Errors:    Complaint: times, keys or files that can't be used.
// Threads:   one an object.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/grouping.h"
#include "analyze/selection.h"
#include "base/complaint.h"
#include "report/json.h"
#include "report/summary_builder.h"
#include "report/transactions_csv.h"
#include "report/transactions_json.h"

namespace tlstrata::cli {

struct AnalyzeArguments {
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
  bool file_column = false;
  unsigned threads = 0;
};

// All but the captures, --show and --follow.
void add_analysis_options(CLI::App& command, AnalyzeArguments& arguments);

Checked<analyze::Selection> selection_of(const AnalyzeArguments& arguments);

class AnalyzeSinks {
 public:
  static Checked<AnalyzeSinks> open(const AnalyzeArguments& arguments, const report::SummaryBuilder::Options& summary);

  // `file`: of the file column, where there is one; hostile.
  Checked<void> add(strata::Transaction& row, std::string_view file = {});

  Checked<void> finish_csv() { return csv_ ? csv_->finish() : Checked<void>{}; }
  Checked<void> finish_json(const report::Json& rest) { return json_ ? json_->finish(rest) : Checked<void>{}; }
  report::Summary summary();
  // The first row of the connection that `--show` asks for.
  [[nodiscard]] const std::optional<strata::Transaction>& shown() const { return shown_; }

 private:
  AnalyzeSinks(std::uint64_t show, const report::SummaryBuilder::Options& summary) : show_(show), summary_(summary) {}

  std::uint64_t show_;
  bool live_ = false;    // somebody waits for each row
  bool prints_ = false;  // and reads them here
  std::vector<analyze::Key> keys_;
  std::optional<report::TransactionsWriter> csv_;
  std::optional<report::TransactionsJson> json_;
  report::SummaryBuilder summary_;
  std::optional<strata::Transaction> shown_;
};

}  // namespace tlstrata::cli
