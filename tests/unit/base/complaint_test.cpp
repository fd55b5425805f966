#include "base/complaint.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace tlstrata {
namespace {

TEST(Complaint, SaysWhatWhereAndWhatToDo) {
  EXPECT_EQ(describe({"certificate verify failed", "10.0.0.2:443", "give the server's CA with --ca"}),
            "tlstrata: certificate verify failed (10.0.0.2:443): give the server's CA with --ca");
  EXPECT_EQ(describe({"no groups", "", "name one with --groups"}), "tlstrata: no groups: name one with --groups");
  EXPECT_EQ(describe({"stopped", "", ""}), "tlstrata: stopped");
}

TEST(Complaint, EscapesHostileNames) {
  EXPECT_EQ(describe({"no capture", "evil\x1b[2Jname\n.pcap", "check it"}),
            "tlstrata: no capture (evil\\x1b[2Jname\\x0a.pcap): check it");
}

TEST(Complaint, ExitsWithUnusableUnlessToldOtherwise) {
  EXPECT_EQ(Complaint{}.exit_code, ExitCode::unusable);
  EXPECT_EQ(static_cast<int>(ExitCode::unusable), 3);
  EXPECT_EQ(static_cast<int>(ExitCode::usage), 2);
  EXPECT_EQ(static_cast<int>(ExitCode::failed), 1);
}

TEST(Complaint, OfAnErrorNamesTheByte) {
  const Error error{ErrorCode::malformed, "extensions", 77};
  EXPECT_EQ(complain(error, "x.pcap", "re-capture").what, "extensions at byte 77");
  EXPECT_EQ(complain(Error{ErrorCode::malformed, "extensions"}, "x", "y").what, "extensions");
}

TEST(Complaint, OfTheOperatingSystemSpellsTheNumber) {
  const Error error{ErrorCode::io, "cannot open", 0, EACCES};
  EXPECT_EQ(complain(error, "x.pcap", "check permissions").what, "cannot open: Permission denied");
  errno = ENOSPC;
  const Complaint complaint = complain_errno("cannot write", "out.csv", "free some space");
  EXPECT_EQ(complaint.what, "cannot write: No space left on device");
  EXPECT_EQ(complaint.where, "out.csv");
  EXPECT_EQ(complaint.remedy, "free some space");
}

}  // namespace
}  // namespace tlstrata
