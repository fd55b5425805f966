#include "io/output_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "unit/io/scratch.h"

namespace tlstrata::io {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777U;
}

TEST(OutputFile, AppearsOnlyWhenComplete) {
  const Scratch scratch;
  const std::string path = scratch.path("rows.csv");
  auto file = OutputFile::create(path);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("one\n"));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::exists(path + ".tmp"));
  ASSERT_TRUE(file->finish());
  EXPECT_EQ(content_of(path), "one\n");
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
}

TEST(OutputFile, KeepsTheFormerFileWhenItIsGivenUp) {
  const Scratch scratch;
  const std::string path = scratch.path("rows.csv");
  {
    auto first = OutputFile::create(path);
    ASSERT_TRUE(first && first->write("first") && first->finish());
    auto second = OutputFile::create(path);
    ASSERT_TRUE(second && second->write("second"));
  }
  EXPECT_EQ(content_of(path), "first");
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
}

TEST(OutputFile, WritesMoreThanItsBuffer) {
  const Scratch scratch;
  const std::string path = scratch.path("big");
  auto file = OutputFile::create(path);
  ASSERT_TRUE(file);
  std::string expected;
  for (int i = 0; i < 50'000; ++i) {
    const std::string line = std::to_string(i) + ",";
    expected += line;
    ASSERT_TRUE(file->write(line));
  }
  ASSERT_TRUE(file->write(expected));
  ASSERT_TRUE(file->finish());
  EXPECT_EQ(content_of(path), expected + expected);
}

TEST(OutputFile, KeysAreForTheOwnerEvenWhereATemporaryWasLeftOpenToAll) {
  const Scratch scratch;
  const std::string path = scratch.path("keys");
  std::ofstream(path + ".tmp") << "left over";
  ASSERT_EQ(::chmod((path + ".tmp").c_str(), 0666), 0);
  auto file = OutputFile::create(path, OutputFile::for_owner);
  ASSERT_TRUE(file && file->write("secret") && file->finish());
  EXPECT_EQ(mode_of(path), 0600U);
  EXPECT_EQ(content_of(path), "secret");
}

TEST(OutputFile, NeverWritesThroughALinkLeftAsTemporary) {
  const Scratch scratch;
  const std::string victim = scratch.path("victim");
  std::ofstream(victim) << "precious";
  std::filesystem::create_symlink(victim, scratch.path("out.tmp"));
  auto file = OutputFile::create(scratch.path("out"));
  ASSERT_TRUE(file && file->write("x") && file->finish());
  EXPECT_EQ(content_of(victim), "precious");
  EXPECT_EQ(content_of(scratch.path("out")), "x");
}

TEST(OutputFile, ReplacesWhatALinkLeadsTo) {
  const Scratch scratch;
  std::ofstream(scratch.path("real")) << "old";
  std::filesystem::create_symlink(scratch.path("real"), scratch.path("link"));
  auto file = OutputFile::create(scratch.path("link"));
  ASSERT_TRUE(file && file->write("new") && file->finish());
  EXPECT_TRUE(std::filesystem::is_symlink(scratch.path("link")));
  EXPECT_EQ(content_of(scratch.path("real")), "new");
}

TEST(OutputFile, SaysWhatToDo) {
  const Scratch scratch;
  const auto no_folder = OutputFile::create(scratch.path("none/file"));
  ASSERT_FALSE(no_folder);
  EXPECT_EQ(no_folder.error().remedy, "make the folder first");
  EXPECT_EQ(no_folder.error().where, scratch.path("none/file"));
  EXPECT_EQ(no_folder.error().exit_code, ExitCode::unusable);
  const auto folder = OutputFile::create(scratch.path(""));
  ASSERT_FALSE(folder);
}

TEST(OutputFile, ReportsAFullDiskAndLeavesTheDeviceAlone) {
  auto file = OutputFile::create("/dev/full");
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("x"));
  const auto finished = file->finish();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().remedy, "free some space");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  EXPECT_FALSE(std::filesystem::exists("/dev/full.tmp"));
}

TEST(OutputFile, LeavesNothingWhereTheFileCannotGrow) {
  const Scratch scratch;
  const std::string path = scratch.path("limited");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 100'000;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  {
    auto file = OutputFile::create(path);
    ASSERT_TRUE(file);
    EXPECT_FALSE(file->write(std::string(1'000'000, 'x')));
    EXPECT_FALSE(file->write("more"));
    EXPECT_FALSE(file->finish());
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
}

TEST(KeyLog, IsPrivateAndAppends) {
  const Scratch scratch;
  const std::string path = scratch.path("keys");
  std::ofstream(path) << "first\n";
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  const auto fd = open_key_log(path);
  ASSERT_TRUE(fd);
  ASSERT_EQ(::write(fd->get(), "second\n", 7), 7);
  EXPECT_EQ(content_of(path), "first\nsecond\n");
  EXPECT_EQ(mode_of(path), 0600U);
  EXPECT_FALSE(open_key_log(scratch.path("none/keys")));
}

}  // namespace
}  // namespace tlstrata::io
