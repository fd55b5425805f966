#include "lab/warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tlstrata::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

report::CellSummary cell_of(std::uint64_t scheduled, std::uint64_t complete, std::uint64_t reset,
                            std::uint64_t not_started) {
  report::CellSummary cell;
  cell.name = "x25519-4KiB";
  cell.scheduled = scheduled;
  cell.outcomes[static_cast<std::size_t>(strata::Outcome::complete)] = complete;
  cell.outcomes[static_cast<std::size_t>(strata::Outcome::reset)] = reset;
  cell.outcomes[static_cast<std::size_t>(strata::Outcome::not_started)] = not_started;
  return cell;
}

Manifest whole_run() {
  Manifest manifest;
  manifest.partial = false;
  manifest.planned_blocks = 1;
  manifest.blocks.resize(1);
  return manifest;
}

TEST(Warnings, ASoundRunHasNone) {
  report::Summary summary;
  summary.cells = {cell_of(100, 100, 0, 0)};
  EXPECT_THAT(warnings_of(whole_run(), summary, 0), ElementsAre());
  EXPECT_EQ(failed_transactions(summary), 0U);
  EXPECT_TRUE(is_sound(whole_run(), summary, 0));
}

TEST(Warnings, ARowThatIsMissingIsSaid) {
  report::Summary summary;
  summary.cells = {cell_of(100, 99, 0, 0)};
  EXPECT_THAT(warnings_of(whole_run(), summary, 0), ElementsAre(HasSubstr("100 transactions were scheduled, but 99")));
  EXPECT_FALSE(is_sound(whole_run(), summary, 0));
}

TEST(Warnings, ARowTooManyIsSaid) {
  report::Summary summary;
  summary.cells = {cell_of(100, 101, 0, 0)};
  EXPECT_THAT(warnings_of(whole_run(), summary, 0), ElementsAre(HasSubstr("100 transactions were scheduled, but 101")));
}

TEST(Warnings, FailuresAreSaidAndCounted) {
  report::Summary summary;
  summary.cells = {cell_of(100, 95, 3, 2), cell_of(100, 99, 1, 0)};
  EXPECT_THAT(warnings_of(whole_run(), summary, 0), ElementsAre(HasSubstr("3 reset"), HasSubstr("1 reset")));
  EXPECT_EQ(failed_transactions(summary), 6U);
  EXPECT_TRUE(is_sound(whole_run(), summary, 0)) << "a failure that is counted is no loss";
}

TEST(Warnings, LossesAndAnEarlyEndAreSaid) {
  Manifest manifest = whole_run();
  manifest.partial = true;
  manifest.planned_blocks = 60;
  manifest.blocks[0].capture_dropped = 7;
  EXPECT_THAT(warnings_of(manifest, {}, 2),
              ElementsAre(HasSubstr("1 of 60 blocks"), HasSubstr("lost 7 packets"), HasSubstr("cut 2 packets")));
  EXPECT_FALSE(is_sound(manifest, {}, 0));
  EXPECT_FALSE(is_sound(whole_run(), {}, 1));
  manifest = whole_run();
  manifest.blocks[0].capture_dropped = 1;
  EXPECT_FALSE(is_sound(manifest, {}, 0));
}

}  // namespace
}  // namespace tlstrata::lab
