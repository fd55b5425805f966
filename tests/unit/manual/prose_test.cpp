#include "manual/prose.h"

#include <gmock/gmock.h>

namespace tlstrata::manual {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Prose, FillsBrokenLinesAndKeepsIndentedOnes) {
  const Prose prose = cut_prose("One\ntwo.\n\n  a  table\n  of rows\nthree\n");

  ASSERT_THAT(prose.description, SizeIs(2));
  ASSERT_THAT(prose.description[0], SizeIs(1));
  EXPECT_EQ(prose.description[0][0].text, "One two.");
  EXPECT_FALSE(prose.description[0][0].verbatim);
  EXPECT_THAT(prose.description[1],
              ElementsAre(Field(&Line::verbatim, true), Field(&Line::verbatim, true), Field(&Line::text, "three")));
}

TEST(Prose, ExamplesHaveACommandAndWhatItMeans) {
  const Prose prose = cut_prose(
      "Examples:\n"
      "  x one   beside it\n"
      "  x two \\\n"
      "      --more\n"
      "      below it\n"
      "  x three\n");

  EXPECT_THAT(prose.description, IsEmpty());
  ASSERT_THAT(prose.examples, SizeIs(3));
  EXPECT_EQ(prose.examples[0].command, "x one");
  EXPECT_EQ(prose.examples[0].meaning, "beside it");
  EXPECT_EQ(prose.examples[1].command, "x two --more");
  EXPECT_EQ(prose.examples[1].meaning, "below it");
  EXPECT_EQ(prose.examples[2].command, "x three");
  EXPECT_EQ(prose.examples[2].meaning, "");
}

TEST(Prose, ExitCodesAreASectionAlsoWhereTheyEndAParagraph) {
  const Prose prose = cut_prose("Text.\n\nCtrl-C ends it. Exit codes: 0 fine,\n1 not.\n\nExit code 1: it failed.\n");

  ASSERT_THAT(prose.description, SizeIs(2));
  EXPECT_EQ(prose.description[1][0].text, "Ctrl-C ends it.");
  ASSERT_THAT(prose.exit_status, SizeIs(2));
  EXPECT_EQ(prose.exit_status[0][0].text, "Exit codes: 0 fine, 1 not.");
  EXPECT_EQ(prose.exit_status[1][0].text, "Exit code 1: it failed.");
}

TEST(Prose, NothingIsNothing) {
  const Prose prose = cut_prose("");

  EXPECT_THAT(prose.description, IsEmpty());
  EXPECT_THAT(prose.examples, IsEmpty());
  EXPECT_THAT(prose.exit_status, IsEmpty());
}

}  // namespace
}  // namespace tlstrata::manual
