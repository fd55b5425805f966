// A JSON document with every transaction in it, written row by row so that the rows need not be kept.
//
// Out:     {"tool", "version", "command", "transactions": [...], and what finish() adds}.
// Errors:  a Complaint where the document can't be written; nothing that looks whole is left then.
// Threads: one an object.
#pragma once

#include <string>
#include <string_view>

#include "base/complaint.h"
#include "io/output_file.h"
#include "report/json.h"

namespace tlstrata::report {

class TransactionsJson {
 public:
  // `where` is a file, or "-" for standard output.
  static Checked<TransactionsJson> open(const std::string& where, std::string_view command);

  // `file`: becomes a last member `file`, unless it is empty.
  Checked<void> add(const strata::Transaction& row, std::string_view file = {});
  // The object's members follow the transactions.
  Checked<void> finish(const Json& rest);

 private:
  explicit TransactionsJson(io::OutputFile file) : file_(std::move(file)) {}

  io::OutputFile file_;
  bool any_ = false;
};

}  // namespace tlstrata::report
