#include "report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <string>

#include "report/html.h"
#include "report/json.h"
#include "report/latex.h"
#include "report/markdown.h"
#include "report/table.h"
#include "unit/report/sample.h"
#include "unit/report/scratch_folder.h"

namespace tlstrata::report {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* hostile_name =
    "<script>alert('x')</script>\"|`*_b_*[l](http://e)\\&#$%{}~^@all\x1b[31m\xe2\x80\xae";

// Without printing a whole page where it fails.
bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::map<std::string, std::string> files_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      files[std::filesystem::relative(entry.path(), folder).string()] = content(entry.path());
    }
  }
  return files;
}

// One of the page's blocks of data, as text.
std::string data_block(const std::string& page, const std::string& id) {
  const std::string opening = "<script type=\"application/json\" id=\"" + id + "\">";
  const std::size_t begin = page.find(opening);
  EXPECT_NE(begin, std::string::npos) << id;
  const std::size_t end = page.find("</script>", begin);
  return page.substr(begin + opening.size(), end - begin - opening.size());
}

Results results_of(const sample::Plan& plan) {
  const ScratchFolder folder;
  sample::write(sample::make(plan), folder.path());
  return *read_results(folder.path());
}

TEST(Report, WritesAllFilesAndTheSameBytesAgain) {
  const ScratchFolder folder;
  sample::write(sample::make({}), folder.path());
  ASSERT_TRUE(write_report(folder.path()));
  const auto first = files_of(folder.path());
  for (const char* name :
       {"summary.json", "report.md", "report.html", "tables/medians.tex", "tables/percentiles.tex",
        "tables/differences.tex", "tables/effects.md", "tables/cpu.csv", "tables/outcomes.json", "plots/layers.svg"}) {
    EXPECT_TRUE(first.contains(name)) << name;
  }
  EXPECT_EQ(first.size(), 55U) << "and nothing else";
  ASSERT_TRUE(write_report(folder.path()));
  EXPECT_EQ(files_of(folder.path()), first);

  const ScratchFolder elsewhere;  // depends on the three files alone, not on where they are
  for (const char* name : {"transactions.csv", "resources.csv", "manifest.json"}) {
    std::filesystem::copy(folder.path() / name, elsewhere.path() / name);
  }
  ASSERT_TRUE(write_report(elsewhere.path()));
  EXPECT_EQ(files_of(elsewhere.path()), first);
}

TEST(Report, SummaryOpensAsEveryDocument) {
  const Results results = results_of({.blocks = 5, .per_block = 4});
  const std::string text = to_text(summary_document("report", results));
  EXPECT_TRUE(text.starts_with("{\n  \"tool\": \"tlstrata\",\n  \"version\": \"")) << text.substr(0, 80);
  EXPECT_EQ(Json::parse(text)["command"], "report");
}

TEST(Report, ComplainsOfWhatIsMissing) {
  EXPECT_THAT(describe(write_report("/nonexistent").error()), HasSubstr("/nonexistent"));
  for (const char* name : {"transactions.csv", "resources.csv", "manifest.json"}) {
    const ScratchFolder folder;
    sample::write(sample::make({.blocks = 1, .per_block = 1}), folder.path());
    std::filesystem::remove(folder.path() / name);
    const auto written = write_report(folder.path());
    ASSERT_FALSE(written);
    EXPECT_THAT(describe(written.error()), HasSubstr(name));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "report.html"));
  }
}

TEST(Report, ComplainsWhereItCannotWrite) {
  const ScratchFolder folder;
  sample::write(sample::make({.blocks = 1, .per_block = 1}), folder.path());
  std::ofstream(folder.path() / "tables") << "a file in the way";
  const auto written = write_report(folder.path());
  ASSERT_FALSE(written);
  EXPECT_THAT(describe(written.error()), HasSubstr("tables"));
}

TEST(Report, OfFewRowsOrNoneIsStillAReport) {
  for (const sample::Plan& plan :
       {sample::Plan{.blocks = 1, .per_block = 1}, sample::Plan{.blocks = 3, .per_block = 2}}) {
    const Json facts = Json::parse(data_block(html_report(results_of(plan)), "facts"));
    EXPECT_EQ(facts["cells"].size(), 6U);
  }
  const ScratchFolder folder;
  sample::Folder empty = sample::make({.blocks = 5, .per_block = 2});
  empty.rows.clear();
  empty.resources.clear();
  sample::write(empty, folder.path());
  ASSERT_TRUE(write_report(folder.path()));
  EXPECT_THAT(content(folder.path() / "report.md"), HasSubstr("**fails**")) << "all that was scheduled is missing";
}

// ---- the page; what a browser makes of it is tests/e2e/report_test.py's

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Html, ForbidsEveryRequestAndMakesNone) {
  const std::string page = html_report(results_of({}));
  EXPECT_TRUE(std::regex_search(
      page.substr(0, 2000),
      std::regex("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
                 "'sha256-[A-Za-z0-9+/=]{44}'; style-src 'sha256-[A-Za-z0-9+/=]{44}'; style-src-attr 'unsafe-inline'; "
                 "base-uri 'none'; form-action 'none'\">")));
  EXPECT_FALSE(has(page, "<link"));
  EXPECT_FALSE(has(page, "@import"));
  EXPECT_FALSE(has(page.substr(0, page.find("<script")), "url(")) << "no picture, no font";
  EXPECT_FALSE(has(page, "<script src"));
}

TEST(Html, HasTheSummaryAndWhatPicturesNeed) {
  const Results results = results_of({});
  const std::string page = html_report(results);
  const Json facts = Json::parse(data_block(page, "facts"));
  const Json summary = summary_document("report", results);
  for (const auto& [key, value] : summary.items()) {
    EXPECT_EQ(facts[key], value) << key;
  }
  EXPECT_EQ(facts["answer"]["question"], "What do X25519MLKEM768 and MLKEM1024 cost against X25519?");
  EXPECT_TRUE(has(page, "<h1>What do X25519MLKEM768 and MLKEM1024 cost against X25519?</h1>")) << "without scripts too";
  ASSERT_EQ(facts["families"].size(), 2U);
  EXPECT_EQ(facts["families"][0]["names"][2], "MLKEM1024");
  EXPECT_EQ(facts["manifest"]["machine"]["cpu"], "invented for a test");
  const Json& curve = facts["curves"]["cells"][0][total_measure];
  ASSERT_EQ(curve.size(), facts["curves"]["probabilities"].size());
  EXPECT_EQ(curve.front(), facts["cells"][0]["layers"]["total"]["min_ns"]);
  EXPECT_EQ(curve.back(), facts["cells"][0]["layers"]["total"]["max_ns"]);
  EXPECT_TRUE(std::is_sorted(curve.begin(), curve.end()));
  EXPECT_EQ(facts["blocks"].size(), 60U);
  EXPECT_EQ(facts["blocks"][0]["medians_ns"].size(), measure_count);
}

TEST(Html, DataCannotEndItsBlock) {
  for (const char* hostile : {"", hostile_name, "</script><script>alert(1)</script>", "<!--<script>"}) {
    const std::string page = html_report(results_of({.hostile = hostile}));
    EXPECT_EQ(count_of(page, "<script"), 4U) << "three blocks of data, and the page's own";
    EXPECT_EQ(count_of(page, "</script"), 4U);
    EXPECT_FALSE(has(page, "<!--"));
    EXPECT_FALSE(has(page, "\x1b"));
    for (const char* id : {"facts", "rows", "ladders"}) {
      EXPECT_FALSE(has(data_block(page, id), "<")) << id;
    }
    const Json facts = Json::parse(data_block(page, "facts"));
    EXPECT_EQ(facts["cells"][0]["name"], std::string("X25519-4KiB") + hostile) << "and nothing is lost";
  }
}

TEST(Html, AnswerShowsHostileNamesAsText) {
  const std::string page = html_report(results_of({.hostile = hostile_name}));
  const std::string before_data = page.substr(0, page.find("<script"));
  EXPECT_FALSE(has(before_data, "\xe2\x80\xae"));
  EXPECT_FALSE(has(before_data, "alert('x')"));
}

// ---- the other formats

TEST(Markdown, ShowsHostileNamesAsText) {
  const std::string text = markdown_report(results_of({.hostile = hostile_name}));
  EXPECT_FALSE(has(text, "<script"));
  EXPECT_FALSE(has(text, "@all"));
  EXPECT_THAT(text, Not(HasSubstr("](http")));
  EXPECT_FALSE(has(text, "http://"));
  EXPECT_FALSE(has(text, "_b_"));
  EXPECT_FALSE(has(text, "\x1b"));
  // Every row of a table has as many cells as the one above it.
  std::istringstream lines(text);
  std::string line;
  std::ptrdiff_t bars = 0;
  while (std::getline(lines, line)) {
    if (!line.starts_with("|")) {
      bars = 0;
      continue;
    }
    const auto count = std::count(line.begin(), line.end(), '|');
    EXPECT_TRUE(bars == 0 || bars == count) << line;
    bars = count;
  }
}

TEST(Markdown, SaysTheAnswer) {
  const std::string text = markdown_report(results_of({.per_block = 60}));
  EXPECT_TRUE(text.starts_with("## What do X25519MLKEM768 and MLKEM1024 cost against X25519?\n"));
  EXPECT_TRUE(has(text, "changes tcp_to_tls most (+")) << "changes tcp_to_tls most (+";
  EXPECT_TRUE(has(text, "| `total`, \u00b5s |")) << "| `total`, \u00b5s |";
}

TEST(Latex, EscapesWhatItWouldRun) {
  for (const LatexTable& table : latex_tables(results_of({.hostile = "\\input{/etc/passwd}%$_&#^~{"}).summary)) {
    EXPECT_THAT(table.text, Not(HasSubstr("\\input{"))) << table.file_name;
    if (table.file_name == "dilution.tex") {
      continue;  // names offers, not cells
    }
    EXPECT_THAT(table.text, HasSubstr("\\textbackslash{}input\\{/etc/passwd\\}\\%\\$\\_\\&\\#\\textasciicircum{}"))
        << table.file_name;
    EXPECT_THAT(table.text, HasSubstr("\\toprule"));
    std::istringstream lines(table.text);
    std::string line;
    std::ptrdiff_t columns = 0;
    while (std::getline(lines, line)) {
      if (line.find(" & ") == std::string::npos) {
        continue;
      }
      const std::regex separator(R"((^|[^\\])&)");
      const auto count =
          std::distance(std::sregex_iterator(line.begin(), line.end(), separator), std::sregex_iterator());
      EXPECT_TRUE(columns == 0 || columns == count) << line;
      columns = count;
    }
  }
}

TEST(Table, FitsItsWidthAndIsPlainUnlessTold) {
  const Summary summary = results_of({}).summary;
  const std::string plain = terminal_table(summary, {});
  EXPECT_FALSE(has(plain, "\x1b"));
  EXPECT_THAT(terminal_table(summary, {.colours = true}), HasSubstr("\x1b["));
  for (const std::size_t columns : {std::size_t{50}, std::size_t{80}, std::size_t{100}}) {
    std::istringstream lines(terminal_table(summary, {.columns = columns}));
    std::string line;
    std::size_t figures = 0;
    while (std::getline(lines, line)) {
      if (line.starts_with("tcp_to_tls")) {
        EXPECT_LE(line.size(), columns) << line;
        ++figures;
      }
    }
    EXPECT_EQ(figures, columns == 50 ? 4U : 2U) << "what does not fit goes below";
  }
  EXPECT_THAT(plain, HasSubstr("4 KiB responses: medians, ratios to X25519"));
  EXPECT_THAT(plain, HasSubstr("Transactions: 1,200 scheduled = 1,200 complete\n"));
}

TEST(Table, ShowsHostileNamesAsText) {
  const std::string table = terminal_table(results_of({.hostile = "\x1b[2J\xe2\x80\xae"}).summary, {});
  EXPECT_FALSE(has(table, "\x1b"));
  EXPECT_FALSE(has(table, "\xe2\x80\xae"));
}

TEST(Table, HasACellWithoutFigures) {
  std::vector<strata::Transaction> rows = sample::make({.blocks = 5, .per_block = 2}).rows;
  for (strata::Transaction& row : rows) {
    if (row.cell == "MLKEM1024-4KiB") {
      row.outcome = strata::Outcome::tls_alert;
    }
  }
  const std::string table = terminal_table(summarize({.rows = rows}), {.columns = 300});
  EXPECT_THAT(table, HasSubstr("10 tls_alert"));
  EXPECT_THAT(table, HasSubstr("MLKEM1024-4KiB: no transaction is complete"));
}

}  // namespace
}  // namespace tlstrata::report
