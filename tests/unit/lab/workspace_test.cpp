#include "lab/workspace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>

namespace tlstrata::lab {
namespace {

namespace fs = std::filesystem;

class WorkspaceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "lab-workspace-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    out_ = pattern;
  }
  void TearDown() override { fs::remove_all(out_); }

  static void touch(const fs::path& path) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "x";
  }

  // A run that was killed with SIGKILL after it had written something; returns its folder.
  fs::path killed_run(const std::string& utc) {
    const pid_t child = fork();
    if (child == 0) {
      auto workspace = Workspace::create(out_, "killed", utc, false);
      if (workspace) {
        touch(workspace->work() / "proxy.key");
        touch(workspace->folder() / "captures" / "cell-0.pcapng");
        touch(workspace->folder() / "captures" / "cell-1.pcapng.tmp");
        touch(workspace->folder() / "manifest.json");
      }
      (void)::kill(getpid(), SIGKILL);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return out_ / ("killed-" + utc);
  }

  fs::path out_;
};

TEST_F(WorkspaceTest, WorkIsPrivateAndGoesAndResultsStay) {
  fs::path folder;
  {
    auto workspace = Workspace::create(out_ / "new" / "results", "quick", "20261130T192100Z", false);
    ASSERT_TRUE(workspace) << describe(workspace.error());
    folder = workspace->folder();
    EXPECT_EQ(folder, out_ / "new" / "results" / "quick-20261130T192100Z");
    struct stat work{};
    ASSERT_EQ(stat(workspace->work().c_str(), &work), 0);
    EXPECT_EQ(work.st_mode & 0777U, 0700U);
    touch(workspace->work() / "proxy.key");
    touch(folder / "captures" / "a.pcapng");
    touch(folder / "captures" / "b.pcapng.tmp");
  }
  EXPECT_FALSE(fs::exists(folder / ".work"));
  EXPECT_TRUE(fs::exists(folder / "captures" / "a.pcapng"));
  EXPECT_FALSE(fs::exists(folder / "captures" / "b.pcapng.tmp"));
}

TEST_F(WorkspaceTest, WorkStaysWhenAskedFor) {
  fs::path work;
  {
    auto workspace = Workspace::create(out_, "quick", "1", true);
    ASSERT_TRUE(workspace);
    work = workspace->work();
    touch(work / "origin.log");
  }
  EXPECT_TRUE(fs::exists(work / "origin.log"));
}

TEST_F(WorkspaceTest, ARunWithoutResultsLeavesNoFolder) {
  {
    ASSERT_TRUE(Workspace::create(out_, "quick", "1", false));
  }
  EXPECT_TRUE(fs::is_empty(out_));
}

TEST_F(WorkspaceTest, TwoRunsOfOneSecondGetTwoFolders) {
  const auto first = Workspace::create(out_, "quick", "1", false);
  const auto second = Workspace::create(out_, "quick", "1", false);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->folder(), second->folder());
}

TEST_F(WorkspaceTest, AKilledRunIsCleanedUpAndItsResultsStay) {
  const fs::path killed = killed_run("1");
  ASSERT_TRUE(fs::exists(killed / ".work" / "proxy.key"));
  EXPECT_THAT(clean_up_killed_runs(out_), testing::ElementsAre(killed));
  EXPECT_FALSE(fs::exists(killed / ".work"));
  EXPECT_FALSE(fs::exists(killed / "captures" / "cell-1.pcapng.tmp"));
  EXPECT_TRUE(fs::exists(killed / "captures" / "cell-0.pcapng"));
  EXPECT_TRUE(fs::exists(killed / "manifest.json"));
  EXPECT_TRUE(clean_up_killed_runs(out_).empty());
}

TEST_F(WorkspaceTest, ALivingRunAndOtherPeoplesFoldersAreNotTouched) {
  const auto living = Workspace::create(out_, "living", "1", false);
  ASSERT_TRUE(living);
  touch(living->folder() / "captures" / "now.pcapng.tmp");
  touch(out_ / "elsewhere" / ".work" / "precious");  // no owner file: not a run of ours
  touch(out_ / "elsewhere" / "draft.tmp");
  touch(out_ / "other.tmp");
  const fs::path killed = killed_run("1");
  fs::create_directory_symlink(killed, out_ / "link");
  EXPECT_THAT(clean_up_killed_runs(out_), testing::ElementsAre(killed));
  EXPECT_TRUE(fs::exists(living->work() / "owner"));
  EXPECT_TRUE(fs::exists(living->folder() / "captures" / "now.pcapng.tmp"));
  EXPECT_TRUE(fs::exists(out_ / "elsewhere" / ".work" / "precious"));
  EXPECT_TRUE(fs::exists(out_ / "elsewhere" / "draft.tmp"));
  EXPECT_TRUE(fs::exists(out_ / "other.tmp"));
}

TEST_F(WorkspaceTest, ASymlinkInsideWorkIsNotFollowed) {
  touch(out_ / "precious" / "file");
  const fs::path killed = killed_run("1");
  fs::create_directory_symlink(out_ / "precious", killed / ".work" / "link");
  clean_up_killed_runs(out_);
  EXPECT_TRUE(fs::exists(out_ / "precious" / "file"));
}

TEST_F(WorkspaceTest, AFolderThatCannotBeMadeIsNamed) {
  touch(out_ / "file");
  const auto workspace = Workspace::create(out_ / "file", "quick", "1", false);
  ASSERT_FALSE(workspace);
  EXPECT_THAT(workspace.error().where, testing::HasSubstr((out_ / "file").string()));
  EXPECT_THAT(workspace.error().remedy, testing::HasSubstr("--out"));
}

TEST_F(WorkspaceTest, ADiskWithoutRoomIsSaid) {
  const Checked<void> written = write_private_file("/dev/full", "text");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().what, testing::HasSubstr("No space left"));
}

TEST_F(WorkspaceTest, APrivateFileIsPrivateWhateverTheUmask) {
  const mode_t before = umask(0);
  ASSERT_TRUE(write_private_file(out_ / "key", "secret"));
  umask(before);
  struct stat key{};
  ASSERT_EQ(stat((out_ / "key").c_str(), &key), 0);
  EXPECT_EQ(key.st_mode & 0777U, 0600U);
}

TEST(ExclusiveLab, ASecondOneIsToldWhoHasIt) {
  const std::string name = "tlstrata-lab-test-" + std::to_string(getpid());  // a real lab may be running
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const auto lab = ExclusiveLab::acquire(name);
    (void)!write(ready[1], lab ? "y" : "n", 1);
    pause();
    _exit(0);
  }
  char held = 0;
  ASSERT_EQ(read(ready[0], &held, 1), 1);
  ASSERT_EQ(held, 'y');
  const auto second = ExclusiveLab::acquire(name);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().where, "process " + std::to_string(holder));
  (void)::kill(holder, SIGKILL);
  EXPECT_EQ(waitpid(holder, nullptr, 0), holder);
  EXPECT_TRUE(ExclusiveLab::acquire(name));
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace tlstrata::lab
