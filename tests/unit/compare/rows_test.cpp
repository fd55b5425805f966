#include "compare/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "unit/report/sample.h"
#include "unit/report/scratch_folder.h"

namespace tlstrata::compare {
namespace {

using report::ScratchFolder;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::vector<std::string>> all_records(const std::string& text) {
  Records records = Records::of_text(text, "text");
  std::vector<std::vector<std::string>> result;
  while (records.next().value()) {
    result.emplace_back(records.fields().begin(), records.fields().end());
  }
  return result;
}

std::string complaint_of(const std::string& text) {
  Records records = Records::of_text(text, "text");
  while (true) {
    const auto more = records.next();
    if (!more) {
      return describe(more.error());
    }
    if (!*more) {
      return "";
    }
  }
}

TEST(Records, TakesEveryDialect) {
  EXPECT_THAT(all_records("a,b\n1,2\n"), ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2")));
  EXPECT_THAT(all_records("\xef\xbb\xbf"
                          "a;b\r\n1,5;2\r\n\r\n"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("1,5", "2")));
  EXPECT_THAT(all_records("a\tb\n1\t"), ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "")));
  EXPECT_THAT(all_records("a,b\n\"x,\"\"y\"\"\nz\",2"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("x,\"y\"\nz", "2")));
  EXPECT_THAT(all_records("a\n\"'=1\"\n'=1\n"), ElementsAre(ElementsAre("a"), ElementsAre("=1"), ElementsAre("'=1")));
  EXPECT_TRUE(all_records("").empty());
}

TEST(Records, RefusesWhatIsBroken) {
  EXPECT_THAT(complaint_of("a,b\n1\n"), HasSubstr("1 fields where the header has 2 (text:2)"));
  EXPECT_THAT(complaint_of("a,b\n\n1,2,3\n"), HasSubstr("(text:3)"));
  EXPECT_THAT(complaint_of("a\n\"open\nline"), HasSubstr("no end"));
  EXPECT_THAT(complaint_of("a\n\"x\"y\n"), HasSubstr("follows a closing quote"));
  EXPECT_THAT(complaint_of("a\n" + std::string(2 << 20, 'x')), HasSubstr("1 MiB"));
}

TEST(Records, OfAFileAreThoseOfItsText) {
  std::string text = "a,b\n";
  for (int i = 0; i < 60'000; ++i) {
    text += std::to_string(i) + (i % 3 == 0 ? ",\"quoted, and long\"\n" : ",x\n");
  }
  const ScratchFolder folder;
  std::ofstream(folder.path() / "file.csv") << text;
  Records file = Records::open((folder.path() / "file.csv").string()).value();
  std::vector<std::vector<std::string>> read;
  while (file.next().value()) {
    read.emplace_back(file.fields().begin(), file.fields().end());
  }
  EXPECT_EQ(read, all_records(text));
  EXPECT_FALSE(Records::open("/nonexistent.csv"));
  EXPECT_FALSE(Records::open("/").value().next()) << "a folder cannot be read";
}

TEST(Columns, AreMappedWithUnits) {
  const Columns columns = parse_columns("tcp_to_tls_ns=gap_us:us,block=run,total=all:s").value();
  EXPECT_EQ(columns.mapped[1]->name, "gap_us");
  EXPECT_EQ(columns.mapped[1]->unit_ns, 1e3);
  EXPECT_EQ(columns.mapped[static_cast<std::size_t>(Field::block)]->name, "run");
  EXPECT_EQ(columns.mapped[5]->unit_ns, 1e9);
  EXPECT_FALSE(columns.mapped[0]);
  for (const char* wrong :
       {"gap", "gap=", "=x", "total=a,total=b", "total=a:parsec", "block=run:us", "nothing=x", ",", "total=a:"}) {
    const auto refused = parse_columns(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().exit_code, ExitCode::usage);
  }
  EXPECT_TRUE(parse_columns(""));
}

Rows rows_of(const std::string& text, const char* columns) {
  return Rows::of_records(Records::of_text(text, "text"), parse_columns(columns).value()).value();
}

TEST(Rows, OfOtherToolsAreUnderstood) {
  Rows rows = rows_of("run,gap_us,all,curve\nfirst,12.5,0.001,x25519\nsecond,,NaN,kyber9000\nfirst,1e2,0.25,\n,3,,\n",
                      "tcp_to_tls=gap_us:us,total=all:s,block=run,group=curve");
  Row row;
  ASSERT_TRUE(rows.next(row).value());
  EXPECT_EQ(row.transaction.layers[1], 12'500);
  EXPECT_EQ(row.transaction.total_ns, 1'000'000);
  EXPECT_EQ(row.transaction.connection.group, 0x001d);
  EXPECT_EQ(row.transaction.outcome, strata::Outcome::complete);
  const auto first = row.transaction.block;
  ASSERT_TRUE(first);
  ASSERT_TRUE(rows.next(row).value()) << "the second row has no figure: passed over";
  EXPECT_EQ(row.transaction.block, first);
  EXPECT_EQ(row.transaction.layers[1], 100'000);
  ASSERT_TRUE(rows.next(row).value());
  EXPECT_FALSE(row.transaction.block);
  EXPECT_FALSE(row.transaction.total_ns);
  EXPECT_FALSE(rows.next(row).value());
  EXPECT_EQ(rows.passed_over(), 1U);
}

TEST(Rows, OfOursAreWhatTheReaderOfReportsHas) {
  const ScratchFolder folder;
  report::sample::Folder made = report::sample::make({.blocks = 2, .per_block = 3, .hostile = "=\"\n,'"});
  made.rows[1].outcome = strata::Outcome::reset;
  made.rows[2].connection.hrr = true;
  made.rows[3].layers[0].reset();
  report::sample::write(made, folder.path());
  Rows rows = Rows::open((folder.path() / "transactions.csv").string(), {}).value();
  Row row;
  for (const strata::Transaction& expected : made.rows) {
    ASSERT_TRUE(rows.next(row).value());
    EXPECT_EQ(row.transaction.cell, expected.cell);
    EXPECT_EQ(row.transaction.block, expected.block);
    EXPECT_EQ(row.transaction.layers, expected.layers);
    EXPECT_EQ(row.transaction.total_ns, expected.total_ns);
    EXPECT_EQ(row.transaction.outcome, expected.outcome);
    EXPECT_EQ(row.transaction.boundary, expected.boundary);
    EXPECT_EQ(row.transaction.connection.start_ns, expected.connection.start_ns);
    EXPECT_EQ(row.transaction.connection.group, expected.connection.group);
    EXPECT_EQ(row.transaction.connection.tls_version, expected.connection.tls_version);
    EXPECT_EQ(row.transaction.connection.hrr, expected.connection.hrr);
  }
  EXPECT_FALSE(rows.next(row).value());
}

TEST(Rows, SayWhereTheyAreWrong) {
  const auto complaint = [](const char* text, const char* columns) {
    const auto mapped = parse_columns(columns).value();
    auto rows = Rows::of_records(Records::of_text(text, "text"), mapped);
    if (!rows) {
      return describe(rows.error());
    }
    Row row;
    const auto more = rows->next(row);
    return more ? std::string() : describe(more.error());
  };
  EXPECT_THAT(complaint("x\n1\n", ""), HasSubstr("no column of this file is a layer"));
  EXPECT_THAT(complaint("x\n1\n", "total=y"), HasSubstr("no column \"y\""));
  EXPECT_THAT(complaint("x\n1,5\n", "total=x"), HasSubstr("more fields"));
  EXPECT_THAT(complaint("x\n-1\n", "total=x"), HasSubstr("not a time (text:2, column x: \"-1\")"));
  EXPECT_THAT(complaint("x\n1e300\n", "total=x:s"), HasSubstr("not a time"));
  EXPECT_THAT(complaint("x\ninf\n", "total=x"), HasSubstr("not a time"));
  EXPECT_THAT(complaint("x\n12 ms\n", "total=x"), HasSubstr("not a time"));
  EXPECT_THAT(complaint("x,hrr\n1,maybe\n", "total=x"), HasSubstr("a flag is 0 or 1"));
  EXPECT_THAT(complaint("x,outcome\n1,fine\n", "total=x"), HasSubstr("unknown outcome"));
}

}  // namespace
}  // namespace tlstrata::compare
