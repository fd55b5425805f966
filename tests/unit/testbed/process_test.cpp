#include "testbed/process.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "unit/testbed/bed_fixture.h"

namespace tlstrata::testbed {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr Nanos seconds = nanos_per_second;

class ProcessTest : public BedTest {
 protected:
  static Process sh(const std::string& script, SpawnOptions options = {}) {
    options.pipe_output = true;
    return must(bed().spawn(Host::client, {"sh", "-c", script}, options));
  }
  // Whether a process exists and is no zombie.
  static bool alive(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(stat, line);
    const std::size_t name_end = line.rfind(')');
    return name_end != std::string::npos && line.at(name_end + 2) != 'Z';
  }
  fs::path scratch(const std::string& name) {
    const fs::path folder = fs::temp_directory_path() / ("tlstrata-process-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    folder_ = folder;
    return folder / name;
  }
  void TearDown() override {
    if (!folder_.empty()) {
      fs::remove_all(folder_);
    }
  }

 private:
  fs::path folder_;
};

TEST_F(ProcessTest, GivesLinesThenTheEnd) {
  Process process = sh("echo one; echo; printf 'last without newline'");
  EXPECT_EQ(must(process.read_line(5 * seconds)), "one");
  EXPECT_EQ(must(process.read_line(5 * seconds)), "");
  EXPECT_EQ(must(process.read_line(5 * seconds)), "last without newline");
  EXPECT_EQ(must(process.read_line(5 * seconds)), std::nullopt);
  EXPECT_TRUE(must(process.wait(5 * seconds)).value().ok());
}

TEST_F(ProcessTest, SilenceIsAComplaintAfterTheTimeOut) {
  Process process = sh("echo because >&2; sleep 60");
  const auto line = process.read_line(nanos_per_second / 5);
  ASSERT_FALSE(line);
  EXPECT_THAT(describe(line.error()), HasSubstr("because"));
  EXPECT_TRUE(process.running());
  EXPECT_EQ(must(process.wait(nanos_per_second / 20)), std::nullopt);
}

TEST_F(ProcessTest, EndlessLineComesInPieces) {
  Process process = sh("head -c 150000 /dev/zero | tr '\\0' x");
  EXPECT_EQ(must(process.read_line(5 * seconds)).value().size(), 65536U);
  EXPECT_EQ(must(process.read_line(5 * seconds)).value().size(), 65536U);
  EXPECT_EQ(must(process.read_line(5 * seconds)).value().size(), 150000U - 2 * 65536U);
}

TEST_F(ProcessTest, TellsHowItEnded) {
  EXPECT_EQ(must(sh("exit 7").wait(5 * seconds)).value().code, 7);
  // The kernel delivers no signal of its own making to PID 1; a fault is another matter.
  const ExitStatus fault =
      must(must(bed().spawn(Host::client, {"python3", "-c", "import ctypes; ctypes.string_at(0)"})).wait(20 * seconds))
          .value();
  EXPECT_EQ(fault.signal, SIGSEGV);
  EXPECT_EQ(fault.code, 128 + SIGSEGV);
  EXPECT_FALSE(fault.killed);
  EXPECT_THAT(describe(fault), HasSubstr("signal 11 (Segmentation fault)"));
}

TEST_F(ProcessTest, TakesInputAndItsEnd) {
  Process process =
      sh("read line; echo got $line; cat", {.environment = {}, .working_directory = {}, .log = {}, .pipe_input = true});
  must(process.write_input("first\nsecond\n"));
  EXPECT_EQ(must(process.read_line(5 * seconds)), "got first");
  EXPECT_EQ(must(process.read_line(5 * seconds)), "second");
  process.close_input();
  EXPECT_EQ(must(process.read_line(5 * seconds)), std::nullopt);
}

TEST_F(ProcessTest, InputThatNobodyReadsIsAComplaintAndNoSignal) {
  Process process = sh("exec <&-; echo closed; sleep 60",
                       {.environment = {}, .working_directory = {}, .log = {}, .pipe_input = true});
  EXPECT_EQ(must(process.read_line(5 * seconds)), "closed");
  EXPECT_FALSE(process.write_input("anybody?"));
}

TEST_F(ProcessTest, HasNoInputUnlessAsked) {
  EXPECT_EQ(must(sh("cat; echo end").read_all(5 * seconds)), "end\n");
}

TEST_F(ProcessTest, HasExactlyTheGivenEnvironment) {
  const std::string seen =
      must(bed().run(Host::origin, {"env"}, 5 * seconds,
                     {.environment = {"LC_ALL=C", "EXTRA=a b"}, .working_directory = {}, .log = {}}));
  EXPECT_EQ(seen, "PATH=" + std::string(system_search_path) + "\nLC_ALL=C\nEXTRA=a b\n");
}

TEST_F(ProcessTest, RunsInTheGivenFolder) {
  EXPECT_EQ(shell(bed(), Host::client, "pwd", {.environment = {}, .working_directory = "/usr", .log = {}}), "/usr\n");
  const auto lost = bed().spawn(Host::client, {"pwd"}, {.environment = {}, .working_directory = "/nowhere", .log = {}});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().where, "/nowhere");
}

TEST_F(ProcessTest, LogsBothStreamsToAPrivateFile) {
  const fs::path log = scratch("log");
  for (const char* word : {"first", "second"}) {
    Process process = must(bed().spawn(Host::client, {"sh", "-c", std::string("echo ") + word + "; echo sigh >&2"},
                                       {.environment = {}, .working_directory = {}, .log = log}));
    EXPECT_TRUE(must(process.wait(5 * seconds)).value().ok());
    EXPECT_EQ(process.log_tail(2), std::string(word) + "\nsigh");
  }
  EXPECT_EQ(tail_of(log, 10), "first\nsigh\nsecond\nsigh");
  EXPECT_EQ(fs::status(log).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(ProcessTest, RemembersItsErrorsWithoutALog) {
  Process process = sh("seq 9 >&2; echo out");
  EXPECT_EQ(must(process.read_all(5 * seconds)), "out\n");
  EXPECT_EQ(process.log_tail(3), "7\n8\n9");
}

TEST_F(ProcessTest, PipesErrorsWhereAsked) {
  EXPECT_EQ(shell(bed(), Host::client, "echo a >&2",
                  {.environment = {}, .working_directory = {}, .log = {}, .pipe_error = true}),
            "a\n");
}

TEST_F(ProcessTest, FailedRunTellsWhatTheProgramSaid) {
  const auto failed = bed().run(Host::client, {"sh", "-c", "echo half; echo disk full >&2; exit 3"}, 5 * seconds);
  ASSERT_FALSE(failed);
  EXPECT_EQ(describe(failed.error()), "tlstrata: the program ended with code 3 (sh): disk full");
}

TEST_F(ProcessTest, RunGivesUpAtItsTimeOut) {
  const auto start = std::chrono::steady_clock::now();
  const auto closed_output = bed().run(Host::client, {"sh", "-c", "exec >&-; sleep 60"}, nanos_per_second / 4);
  const auto open_output = bed().run(Host::client, {"sleep", "60"}, nanos_per_second / 4);
  EXPECT_FALSE(closed_output);
  EXPECT_FALSE(open_output);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST_F(ProcessTest, WhatCannotBeExecutedIsAComplaint) {
  EXPECT_FALSE(bed().spawn(Host::client, {"no-such-program-here"}));
  EXPECT_FALSE(bed().spawn(Host::client, {}));
  const fs::path text = scratch("text");
  std::ofstream(text) << "#!/no/such/interpreter\n";
  fs::permissions(text, fs::perms::owner_all);
  const auto refused = bed().spawn(Host::client, {text.string()});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("cannot be executed: No such file or directory"));
  EXPECT_FALSE(
      bed().spawn(Host::client, {"true"}, {.environment = {}, .working_directory = {}, .log = "/nowhere/log"}));
}

TEST_F(ProcessTest, IsTheFirstOfItsPidNamespaceAndHasASessionOfItsOwn) {
  Process process = sh("echo $$; cut -d' ' -f6 /proc/self/stat; sleep 60");
  EXPECT_EQ(must(process.read_line(5 * seconds)), "1");
  // As this machine's /proc shows it, the session's leader is the process itself: Ctrl-C does not reach it.
  EXPECT_EQ(must(process.read_line(5 * seconds)), std::to_string(process.pid()));
  EXPECT_TRUE(alive(process.pid()));
}

TEST_F(ProcessTest, InheritsNoDescriptorsAndNoIgnoredSignals) {
  const int leaky = ::dup(0);  // without O_CLOEXEC
  ::signal(SIGPIPE, SIG_IGN);
  const std::string seen = shell(bed(), Host::client, "ls /proc/self/fd | tr '\\n' ' '; grep SigIgn /proc/self/status");
  ::signal(SIGPIPE, SIG_DFL);
  ::close(leaky);
  // 3 is the folder that ls reads.
  EXPECT_EQ(seen, "0 1 2 3 SigIgn:\t0000000000000000\n");
}

TEST_F(ProcessTest, StopsByTheSignalWhereItIsCaught) {
  Process process = sh("trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.02; done");
  ASSERT_EQ(must(process.read_line(5 * seconds)), "ready");
  const ExitStatus status = process.stop(10 * seconds);
  EXPECT_EQ(status.code, 5);
  EXPECT_EQ(status.signal, 0);
  EXPECT_EQ(must(process.read_all(seconds)), "bye\n");
  EXPECT_EQ(process.stop().code, 5);  // again: the same
}

TEST_F(ProcessTest, StopsAtOnceWhereTheSignalWouldBeDropped) {
  Process process = sh("echo ready; exec sleep 60");
  ASSERT_EQ(must(process.read_line(5 * seconds)), "ready");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto start = std::chrono::steady_clock::now();
  const ExitStatus status = process.stop(30 * seconds);
  EXPECT_EQ(status.signal, SIGKILL);
  EXPECT_TRUE(status.killed);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST_F(ProcessTest, IsKilledWhereTheGraceIsOver) {
  Process process = sh("trap 'echo no' TERM; echo ready; while :; do sleep 0.02; done");
  ASSERT_EQ(must(process.read_line(5 * seconds)), "ready");
  const ExitStatus status = process.stop(nanos_per_second / 5);
  EXPECT_EQ(status.signal, SIGKILL);
}

TEST_F(ProcessTest, TakesAllItsDescendantsWithIt) {
  Process process =
      sh("sleep 61 & (setsid sleep 61 &) ; sleep 0.1; "
         "cat /proc/self/status | grep -c NSpid; sleep 61");
  ASSERT_EQ(must(process.read_line(5 * seconds)), "1");
  const auto in_namespace = [own = fs::read_symlink("/proc/" + std::to_string(process.pid()) + "/ns/pid")] {
    int count = 0;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      count += fs::read_symlink(entry.path() / "ns/pid", ignored) == own ? 1 : 0;
    }
    return count;
  };
  EXPECT_GE(in_namespace(), 3);  // sh and its two sleeps in the background, at least
  (void)process.kill();
  EXPECT_EQ(in_namespace(), 0);
}

TEST_F(ProcessTest, DiesWithItsObject) {
  pid_t pid = 0;
  {
    const Process process = sh("sleep 60");
    pid = process.pid();
    EXPECT_TRUE(alive(pid));
  }
  EXPECT_FALSE(alive(pid));
}

TEST_F(ProcessTest, TellsItsCpu) {
  const ExitStatus status = must(sh("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done").wait(60 * seconds)).value();
  EXPECT_TRUE(status.ok());
  EXPECT_GT(status.cpu_user_ns, 10 * nanos_per_millisecond);
  EXPECT_LT(status.cpu_user_ns + status.cpu_system_ns, 60 * seconds);
}

TEST(FindProgram, LooksWhereItIsTold) {
  EXPECT_TRUE(find_program("sh", "/nowhere:/bin"));
  EXPECT_EQ(find_program("sh", "/nowhere::"), std::nullopt);
  EXPECT_EQ(find_program("sh", ""), std::nullopt);
  EXPECT_EQ(find_program("", "/bin"), std::nullopt);
  EXPECT_EQ(find_program("/bin", "/bin"), std::nullopt);         // a folder
  EXPECT_EQ(find_program("/etc/passwd", "/bin"), std::nullopt);  // no program
  EXPECT_TRUE(find_program("/bin/sh", ""));
}

TEST(TailOf, GivesTheLastLinesAndNothingOfNothing) {
  const fs::path file = fs::temp_directory_path() / ("tlstrata-tail-" + std::to_string(::getpid()));
  EXPECT_EQ(tail_of(file, 3), "");
  std::ofstream(file) << "a\nb\n\nc\n\n";
  EXPECT_EQ(tail_of(file, 1), "c");
  EXPECT_EQ(tail_of(file, 3), "b\n\nc");
  EXPECT_EQ(tail_of(file, 99), "a\nb\n\nc");
  std::ofstream(file) << std::string(10000, 'x');
  EXPECT_EQ(tail_of(file, 1).size(), 4096U);
  fs::remove(file);
}

}  // namespace
}  // namespace tlstrata::testbed
