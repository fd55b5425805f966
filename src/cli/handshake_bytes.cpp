// The byte account as tables: what each message is made of, and by what two configurations differ.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/handshake_output.h"

namespace tlstrata::cli {
namespace {

using handshake::AccountDifference;
using handshake::SideAccount;
using ossl::Side;

constexpr handshake::PerSide<const char*> titles{"client", "server"};

std::string name_of(const HandshakeResults& results, std::size_t i) {
  return for_terminal(results.measured[i].configuration.name);
}

// Both sides' differences to the first configuration, each with its name, and their sum.
void add_differences(Columns& table, const HandshakeResults& results, std::size_t i, std::size_t side) {
  const SideAccount& before = results.measured.front().first.account.sides[side];
  const SideAccount& after = results.measured[i].first.account.sides[side];
  std::int64_t sum = 0;
  std::int64_t signature = 0;
  for (const AccountDifference& line : difference(before, after)) {
    sum += line.bytes;
    const bool is_signature = line.message == "CertificateVerify" && line.field == "signature";
    if (is_signature && before.signature_bytes != 0 && after.signature_bytes != 0) {
      signature += line.bytes;
      continue;  // told with its spread below
    }
    std::string details = line.before;
    if (!line.after.empty() || !line.before.empty()) {
      details =
          fmt::format("{} -> {}", line.before.empty() ? "none" : line.before, line.after.empty() ? "none" : line.after);
    }
    table.add({"", "", line.message + ": " + line.field, for_terminal(details), signed_grouped(line.bytes)});
  }
  const auto& lengths = results.figures[i].signatures[side];
  const auto& base_lengths = results.figures.front().signatures[side];
  if (lengths && base_lengths) {
    table.add({"", "", "CertificateVerify: signature, DER length",
               fmt::format("{}..{}..{} -> {}..{}..{}", base_lengths->min, fmt::format("{:.1f}", base_lengths->mean),
                           base_lengths->max, lengths->min, fmt::format("{:.1f}", lengths->mean), lengths->max),
               fmt::format("{:+.1f}", lengths->mean - base_lengths->mean)});
  }
  table.add({"", titles[side], "sum without the signature's length", "", signed_grouped(sum - signature)});
}

std::string differences(const HandshakeResults& results) {
  if (results.measured.size() < 2) {
    return {};
  }
  Columns table(4);
  for (std::size_t i = 1; i < results.measured.size(); ++i) {
    table.add({name_of(results, i)});
    for (std::size_t side = 0; side < handshake::side_count; ++side) {
      add_differences(table, results, i, side);
    }
  }
  std::string text = fmt::format("Bytes against {}; DER lengths are min..mean..max\n", name_of(results, 0));
  return text + table.text();
}

std::string full_table(const SideAccount& account, const char* side) {
  Columns table(3);
  table.add({side, "", "", "bytes"});
  std::string message;
  for (const handshake::AccountLine& line : account.lines) {
    table.add({line.message == message ? std::string() : line.message, line.field, for_terminal(line.detail),
               grouped(line.bytes)});
    message = line.message;
  }
  table.add({"sum", "", "", grouped(account.total)});
  Columns records(2);
  records.add({fmt::format("{}'s records", side), "", "bytes"});
  for (const handshake::AccountRecord& record : account.records) {
    records.add({record.type, record.messages, grouped(record.bytes)});
  }
  return table.text() + '\n' + records.text() + '\n';
}

// One line a message of each configuration.
std::string message_table(const HandshakeResults& results, std::size_t side) {
  std::vector<std::string> names;
  for (const handshake::Measured& measured : results.measured) {
    for (const auto& line : measured.first.account.sides[side].lines) {
      if (std::ranges::find(names, line.message) == names.end()) {
        names.push_back(line.message);
      }
    }
  }
  Columns table;
  std::vector<std::string> head{titles[side]};
  for (std::size_t i = 0; i < results.measured.size(); ++i) {
    head.push_back(name_of(results, i));
  }
  table.add(std::move(head));
  const auto add_row = [&](const std::string& title, auto counts) {
    std::vector<std::string> row{title};
    for (const handshake::Measured& measured : results.measured) {
      std::int64_t bytes = 0;
      for (const auto& line : measured.first.account.sides[side].lines) {
        bytes += counts(line) ? line.bytes : 0;
      }
      row.push_back(bytes != 0 ? grouped(bytes) : "-");
    }
    table.add(std::move(row));
  };
  for (const std::string& name : names) {
    add_row(name, [&](const handshake::AccountLine& line) { return line.message == name; });
  }
  add_row("sum", [](const handshake::AccountLine&) { return true; });
  return table.text();
}

}  // namespace

std::string byte_tables(const HandshakeArguments& arguments, const HandshakeResults& results) {
  std::string text = "Bytes of one handshake, by message\n";
  for (std::size_t side = 0; side < handshake::side_count; ++side) {
    text += message_table(results, side) + '\n';
  }
  text += differences(results);
  for (std::size_t i = 0; arguments.bytes && i < results.measured.size(); ++i) {
    text += "\n" + name_of(results, i) + "\n";
    for (std::size_t side = 0; side < handshake::side_count; ++side) {
      text += full_table(results.measured[i].first.account.sides[side], titles[side]);
    }
  }
  return text;
}

}  // namespace tlstrata::cli
