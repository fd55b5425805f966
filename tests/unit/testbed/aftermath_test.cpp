// What is left when the owner of a bed is killed: nothing. And the same for an ordinary user.
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "testbed/bed.h"
#include "unit/testbed/bed_fixture.h"

namespace tlstrata::testbed {
namespace {

namespace fs = std::filesystem;

// What the doomed process tells: to look for afterwards.
struct Told {
  std::array<ino_t, 3> namespaces = {};
  int proxy_namespace = -1;  // descriptor, in the doomed process
  std::array<pid_t, 2> pids = {};
};

// Makes a bed with two programs that have children, tells, and waits for its end.
[[noreturn]] void live_until_killed(int tell) {
  Checked<Bed> bed = Bed::create();
  if (!bed) {
    ::_exit(1);
  }
  Told told;
  for (std::size_t i = 0; i < all_hosts.size(); ++i) {
    struct stat about = {};
    ::fstat(bed->network_namespace(all_hosts.at(i)), &about);
    told.namespaces.at(i) = about.st_ino;
  }
  told.proxy_namespace = bed->network_namespace(Host::proxy);
  const char* script = "sleep 62 & (setsid sleep 62 &) ; trap '' TERM INT HUP; echo ready; sleep 62; sleep 62";
  SpawnOptions piped;
  piped.pipe_output = true;
  Checked<Process> one = bed->spawn(Host::client, {"sh", "-c", script}, piped);
  Checked<Process> two = bed->spawn(Host::origin, {"sh", "-c", script}, piped);
  if (!one || !two || !one->read_line(10 * nanos_per_second) || !two->read_line(10 * nanos_per_second)) {
    ::_exit(1);
  }
  told.pids = {one->pid(), two->pid()};
  (void)!::write(tell, &told, sizeof told);
  for (;;) {
    ::pause();
  }
}

// Processes in, and descriptors of, one of the namespaces; zombies have none.
int holders(const std::array<ino_t, 3>& namespaces) {
  int count = 0;
  std::error_code ignored;
  const auto is_one = [&](const fs::path& link) {
    struct stat about = {};
    return ::stat(link.c_str(), &about) == 0 && std::ranges::find(namespaces, about.st_ino) != namespaces.end();
  };
  for (const auto& process : fs::directory_iterator("/proc")) {
    const std::string name = process.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(::getpid())) {
      continue;  // no process, or this test with its own descriptor
    }
    count += is_one(process.path() / "ns/net") ? 1 : 0;
    for (fs::directory_iterator entry(process.path() / "fd", ignored), end; entry != end; entry.increment(ignored)) {
      const bool names_one = fs::read_symlink(entry->path(), ignored).string().starts_with("net:[");
      count += names_one && is_one(entry->path()) ? 1 : 0;
    }
  }
  return count;
}

bool gone(pid_t pid) {
  if (::kill(pid, 0) != 0 && errno == ESRCH) {
    return true;
  }
  std::error_code ignored;
  return !fs::exists("/proc/" + std::to_string(pid) + "/exe", ignored);  // a zombie that init has yet to reap
}

bool has_interface(int network_namespace, const char* name) {
  bool found = false;
  std::thread([&] { found = ::setns(network_namespace, CLONE_NEWNET) == 0 && ::if_nametoindex(name) != 0; }).join();
  return found;
}

template <typename Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

TEST(Aftermath, AKilledOwnerLeavesNoProcessNoNamespaceAndNoInterface) {
  TLSTRATA_NEEDS_BED();
  std::array<int, 2> ends = {};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const pid_t owner = ::fork();
  ASSERT_GE(owner, 0);
  if (owner == 0) {
    live_until_killed(ends[1]);
  }
  ::close(ends[1]);
  Told told;
  ASSERT_EQ(::read(ends[0], &told, sizeof told), static_cast<ssize_t>(sizeof told));
  ::close(ends[0]);
  EXPECT_GE(holders(told.namespaces), 3 + 2 * 3);  // descriptors; two shells with two or three children each
  // Held by this test: when the kernel removes the others, their ends of the links take the proxy's ends with them.
  const int proxy = ::open(("/proc/" + std::to_string(owner) + "/fd/" + std::to_string(told.proxy_namespace)).c_str(),
                           O_RDONLY | O_CLOEXEC);
  ASSERT_GE(proxy, 0);
  EXPECT_TRUE(has_interface(proxy, "proxy-front"));
  EXPECT_TRUE(has_interface(proxy, "proxy-back"));

  ASSERT_EQ(::kill(owner, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(owner, &status, 0), owner);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);

  EXPECT_TRUE(soon([&] { return gone(told.pids[0]) && gone(told.pids[1]); }));
  EXPECT_TRUE(soon([&] { return holders(told.namespaces) == 0; })) << holders(told.namespaces);
  EXPECT_TRUE(soon([&] { return !has_interface(proxy, "proxy-front") && !has_interface(proxy, "proxy-back"); }));
  ::close(proxy);

  // And the next one works.
  EXPECT_TRUE(Bed::create());
}

TEST(Aftermath, AnEndedBedLeavesNothingInItsOwnProcess) {
  TLSTRATA_NEEDS_BED();
  const auto entries = [](const char* folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  (void)must(Bed::create());  // what a first one allocates for good is not counted
  const auto descriptors = entries("/proc/self/fd");
  const auto threads = entries("/proc/self/task");
  {
    const Bed bed = must(Bed::create());
    const Process process = must(bed.spawn(Host::proxy, {"sleep", "60"}));
    EXPECT_GT(entries("/proc/self/fd"), descriptors);
    EXPECT_GT(entries("/proc/self/task"), threads);
  }
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
  EXPECT_EQ(entries("/proc/self/task"), threads);
}

// This whole program once more, as the user nobody.
TEST(OrdinaryUser, HasTheSameBedInAUserNamespace) {
  TLSTRATA_NEEDS_BED();
  if (::geteuid() != 0 || *rights() != Privileges::direct) {
    return;  // an ordinary user's process already: the other tests show it
  }
  const int program = ::open("/proc/self/exe", O_RDONLY);  // by descriptor: nobody may not see this folder
  ASSERT_GE(program, 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::setenv("TMPDIR", "/tmp", 1);
    char name[] = "unit_testbed";
    // Who may open /dev/net/tun is the machine's choice.
    char filter[] = "--gtest_filter=-OrdinaryUser.*:RelayTest.*";
    char brief[] = "--gtest_brief=1";
    char* const argv[] = {name, filter, brief, nullptr};
    if (::setgroups(0, nullptr) == 0 && ::setresgid(65534, 65534, 65534) == 0 &&
        ::setresuid(65534, 65534, 65534) == 0) {
      ::fexecve(program, argv, environ);
    }
    ::_exit(126);
  }
  ::close(program);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace tlstrata::testbed
