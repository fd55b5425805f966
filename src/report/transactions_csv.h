// transactions.csv: one row a transaction, written and read byte-exactly.
//
// In/Out:    strata::Transaction to the columns of design.md section 4 and back. What has no column (server_name,
//            offered_groups, traffic, file) is lost; all that statistics need is kept.
// Units:     nanoseconds, bytes; `tls_version` as 1.3; `block` and absent intervals are empty fields, never zero.
// Ownership: the writer owns its file: `<path>.tmp` until finish() renames it, removed where finish() never came.
// Errors:    Complaint; the reader's names line and column.
// Threads:   none shared; one writer a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/complaint.h"
#include "io/output_file.h"
#include "strata/transaction.h"

namespace tlstrata::report {

// "1.3"; "0x7f1c" for what has no name, empty for 0.
std::string tls_version_name(std::uint16_t version);

// 0x0304 of "1.3"; 0 of an empty text; absent where the text is neither a name nor a code point.
std::optional<std::uint16_t> tls_version_code(std::string_view text);

// The header line, with its newline.
std::string_view transactions_header();

// One line, with its newline, added to `out`. Fields that came from outside go through for_csv.
void append_transaction(std::string& out, const strata::Transaction& row);

// Streams rows of any number into one file; "-" is standard output.
class TransactionsWriter {
 public:
  // `further`: the name of one more column, the last; empty: there is none.
  static Checked<TransactionsWriter> open(const std::filesystem::path& path, std::string_view further = {});

  // `further`: what stands in that column; hostile.
  Checked<void> add(const strata::Transaction& row, std::string_view further = {});
  // What was added so far can be read by others then.
  Checked<void> flush() { return file_.flush(); }
  Checked<void> finish();

 private:
  explicit TransactionsWriter(io::OutputFile file) : file_(std::move(file)) {}

  io::OutputFile file_;
  bool has_further_ = false;
  std::string line_;  // scratch
};

Checked<void> write_transactions_csv(const std::filesystem::path& path, std::span<const strata::Transaction> rows);

// Reads exactly what the writer writes, and what earlier ones wrote, without flights. Columns after ours are ignored, so that other tools may append theirs.
Checked<std::vector<strata::Transaction>> read_transactions_csv(const std::filesystem::path& path);
// The same from text; `where` names the text in complaints.
Checked<std::vector<strata::Transaction>> parse_transactions_csv(std::string_view text, const std::string& where);

}  // namespace tlstrata::report
