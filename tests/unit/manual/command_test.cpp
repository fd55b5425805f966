#include "manual/command.h"

#include <gmock/gmock.h>

#include <string>

#include "manual/completion.h"
#include "manual/man_page.h"

namespace tlstrata::manual {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

// A program of two commands with an option of each kind.
class ManualTest : public testing::Test {
 protected:
  ManualTest() : app_("Does it", "tool") {
    CLI::App* const make = app_.add_subcommand("make", "Make a thing");
    make->footer("Long\ntext.\n\nExamples:\n  tool make x   a thing\n");
    CLI::App* const size = make->add_option_group("Size");
    CLI::Option* const width = size->add_option("-w,--width", width_, "Of it")
                                   ->type_name("N")
                                   ->check(CLI::Range(1, 256))
                                   ->capture_default_str();
    make->add_option("THING", thing_, "What")->required();
    make->add_option("--mode", mode_, "'How'")->check(CLI::IsMember({"slow", "fast"}))->needs(width);
    make->add_option("--to", to_, "Where [here]")->type_name("PLACE:PORT");
    make->add_flag("--quick", quick_, "Now");
    make->add_option("--secret", to_)->group("");
    app_.add_subcommand("show", "Show it");
  }

  CLI::App app_;
  int width_ = 3;
  std::string thing_;
  std::string mode_;
  std::string to_;
  bool quick_ = false;
};

TEST_F(ManualTest, ReadsTheTree) {
  const Command program = read_command(app_);

  ASSERT_THAT(program.subcommands, SizeIs(2));
  const Command& make = program.subcommands[0];
  EXPECT_THAT(make.words, ElementsAre("tool", "make"));
  EXPECT_EQ(name_of(make, '-'), "tool-make");
  EXPECT_EQ(make.summary, "Make a thing");
  ASSERT_THAT(make.positionals, SizeIs(1));
  EXPECT_EQ(make.positionals[0].value, "THING");
  EXPECT_TRUE(make.positionals[0].required);
  ASSERT_THAT(make.groups, SizeIs(2));
  ASSERT_THAT(make.groups[0].options, SizeIs(3));  // the hidden one is not there
  EXPECT_THAT(make.groups[0].options[0].choices, ElementsAre("slow", "fast"));
  EXPECT_THAT(make.groups[0].options[0].needs, ElementsAre("--width"));
  EXPECT_EQ(make.groups[0].options[1].value, "PLACE:PORT");
  EXPECT_EQ(make.groups[0].options[2].value, "");
  EXPECT_EQ(make.groups[1].title, "Size");
  const Option& width = make.groups[1].options[0];
  EXPECT_THAT(width.names, ElementsAre("-w", "--width"));
  EXPECT_EQ(width.value, "N");
  EXPECT_EQ(width.range, "1 to 256");
  EXPECT_EQ(width.standard, "3");
}

TEST_F(ManualTest, PageHasItsSections) {
  const Command program = read_command(app_);
  const std::string page = man_page(program.subcommands[0], program, {"1.2", "2026-01-02", "0 or 1.", {}, {}, {}, {}});

  EXPECT_THAT(page, HasSubstr(".TH TOOL\\-MAKE 1 \"2026-01-02\" \"tool 1.2\" \"User Commands\"\n"));
  EXPECT_THAT(page, HasSubstr("tool\\-make \\- make a thing\n"));
  EXPECT_THAT(page, HasSubstr(".SH DESCRIPTION\nLong text.\n"));
  EXPECT_THAT(page,
              HasSubstr("\\fB\\-w\\fR, \\fB\\-\\-width\\fR \\fIN\\fR\nOf it. From 1 to 256. Default: \\fB3\\fR.\n"));
  EXPECT_THAT(page, HasSubstr(".SH EXAMPLES\n\\fBtool make x\\fR\n.RS 4\nA thing.\n.RE\n"));
  EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS\n0 or 1.\n"));
  EXPECT_THAT(page, HasSubstr("\\fBtool\\-show\\fR(1)"));
  EXPECT_THAT(page, Not(HasSubstr("secret")));
}

TEST_F(ManualTest, QuotesInTextsEndNoStringOfAScript) {
  const Command program = read_command(app_);

  EXPECT_THAT(zsh_completion(program, {}), HasSubstr("'--mode=['\\''How'\\'']:slow|fast:(slow fast)'"));
  EXPECT_THAT(bash_completion(program, {}), HasSubstr("'make:--mode') kind=word offered='slow fast' ;;"));
  EXPECT_THAT(bash_completion(program, {}), Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace tlstrata::manual
