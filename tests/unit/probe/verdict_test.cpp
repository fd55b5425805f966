#include "probe/verdict.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

namespace tlstrata::probe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint16_t hybrid = 0x11EC;
constexpr std::uint16_t x25519 = 0x001D;
constexpr std::uint32_t modern_size = 1520;
constexpr std::uint32_t plain_size = 280;

Outcome answered(std::uint16_t group = x25519) {
  Outcome outcome;
  outcome.ending = Ending::hello;
  outcome.version = version::tls13;
  outcome.group = group;
  return outcome;
}

// A server that has the hybrid and X25519, and prefers the hybrid.
Scan good_scan() {
  Scan scan;
  scan.modern = answered(hybrid);
  scan.plain = answered();
  scan.offered = answered(hybrid);
  scan.versions = {{version::tls13, true, answered()}};
  for (const std::uint16_t group : {hybrid, x25519}) {
    scan.groups.push_back({group, Support::accepted, Support::accepted, answered(group), answered(group)});
    scan.order.push_back(group);
  }
  scan.policy = Policy{hybrid, x25519, answered(hybrid), answered(hybrid), answered(hybrid)};
  scan.policy->classical_share.retried = true;
  return scan;
}

// Every axis as tolerance.cpp tries it, against a server that fails where `fails` says so.
Tolerance tried(const std::function<Ending(const Trial&)>& ending_of, bool modern_passes = true) {
  Tolerance tolerance;
  const auto add = [&](Axis axis, std::uint32_t at, bool is_modern, std::uint32_t size) {
    Trial trial{.axis = axis, .at = at, .is_modern = is_modern, .outcome = answered()};
    trial.outcome.hello_size = size;
    trial.outcome.ending = ending_of(trial);
    tolerance.trials.push_back(trial);
  };
  add(Axis::modern, 0, false, modern_size);
  add(Axis::plain, 0, false, plain_size);
  add(Axis::hybrid_offer, 0, false, plain_size + 2);
  const std::uint32_t base = modern_passes ? modern_size : plain_size;
  for (const std::uint32_t cut : {1U, 5U, base / 2, base + 4}) {
    add(Axis::split, cut, modern_passes, base);
  }
  add(Axis::records, 64, modern_passes, base);
  add(Axis::records, 512, true, modern_size);
  add(Axis::small_mss, 536, true, modern_size);
  for (const std::uint32_t size : {512U, 1024U, modern_size, 2048U, 4096U, 8192U, 16384U}) {
    add(Axis::size, size, false, size);
  }
  for (const std::uint32_t size : {522U, 526U}) {
    add(Axis::odd_length, size, false, size);
  }
  add(Axis::even_length, 524, false, 524);
  return tolerance;
}

std::vector<FaultKind> faults_of(const Scan& scan, const Tolerance& tolerance) {
  std::vector<FaultKind> kinds;
  for (const Fault& fault : judge(scan, tolerance).faults) {
    EXPECT_THAT(fault.evidence, testing::Not(IsEmpty()));
    kinds.push_back(fault.kind);
  }
  return kinds;
}

bool is(const Trial& trial, Axis axis) {
  return trial.axis == axis;
}

TEST(VerdictTest, AServerWithoutFaultIsReady) {
  const Verdict verdict = judge(good_scan(), tried([](const Trial&) { return Ending::hello; }));
  EXPECT_EQ(verdict.level, Level::ready);
  EXPECT_THAT(verdict.faults, IsEmpty());
  EXPECT_EQ(verdict.words, "ready: it has X25519MLKEM768");
}

TEST(VerdictTest, EachAxisIsItsOwnFault) {
  struct Case {
    Axis axis;
    FaultKind fault;
  };
  for (const Case& expected :
       {Case{Axis::split, FaultKind::hello_split}, Case{Axis::records, FaultKind::hello_records},
        Case{Axis::odd_length, FaultKind::odd_length}, Case{Axis::small_mss, FaultKind::small_mss}}) {
    for (const Ending ending : {Ending::reset, Ending::silence, Ending::alert, Ending::close}) {
      const Tolerance tolerance =
          tried([&](const Trial& trial) { return is(trial, expected.axis) ? ending : Ending::hello; });
      EXPECT_THAT(faults_of(good_scan(), tolerance), ElementsAre(expected.fault)) << name(expected.fault);
    }
  }
}

TEST(VerdictTest, ASizeHasItsEdge) {
  const Tolerance tolerance = tried(
      [](const Trial& trial) { return is(trial, Axis::size) && trial.at > 4096 ? Ending::reset : Ending::hello; });
  const Verdict verdict = judge(good_scan(), tolerance);
  ASSERT_EQ(verdict.faults.size(), 1U);
  EXPECT_EQ(verdict.faults[0].kind, FaultKind::hello_size);
  EXPECT_EQ(verdict.faults[0].words, "ClientHellos of 8192 bytes and more fail, of 4096 bytes pass");
  EXPECT_EQ(verdict.level, Level::partly);
}

// The first segment must hold a whole record: large hellos and cut ones fail, in small records they pass.
TEST(VerdictTest, ABoxThatLooksAtTheFirstSegmentIsOneFault) {
  for (const Ending ending : {Ending::reset, Ending::silence}) {
    const Tolerance tolerance = tried(
        [&](const Trial& trial) {
          const bool is_whole = is(trial, Axis::records);
          const bool is_small = trial.outcome.hello_size <= 1443 && !is(trial, Axis::split);
          return is_whole || is_small ? Ending::hello : ending;
        },
        false);
    Scan scan = good_scan();
    scan.modern.ending = ending;
    EXPECT_THAT(faults_of(scan, tolerance), ElementsAre(FaultKind::first_segment));
    EXPECT_EQ(judge(scan, tolerance).level, Level::not_ready);
  }
}

TEST(VerdictTest, AGroupIsToldFromASize) {
  for (const bool by_offer : {false, true}) {
    const Tolerance tolerance = tried(
        [&](const Trial& trial) {
          const bool has_share = is(trial, Axis::modern) || trial.is_modern;
          return has_share || (by_offer && is(trial, Axis::hybrid_offer)) ? Ending::reset : Ending::hello;
        },
        false);
    EXPECT_THAT(faults_of(good_scan(), tolerance),
                ElementsAre(by_offer ? FaultKind::hybrid_offer : FaultKind::hybrid_share));
  }
}

TEST(VerdictTest, AnMtuThatNobodyTellsIsNoFaultOfTheServer) {
  const Tolerance tolerance = tried(
      [&](const Trial& trial) {
        return trial.outcome.hello_size > 1443 && !is(trial, Axis::small_mss) ? Ending::silence : Ending::hello;
      },
      false);
  EXPECT_THAT(faults_of(good_scan(), tolerance), ElementsAre(FaultKind::path_mtu));
}

TEST(VerdictTest, DowngradeIsTheServersChoiceAndNotTheClients) {
  Scan scan = good_scan();
  scan.policy->classical_share = answered(x25519);
  EXPECT_THAT(faults_of(scan, {}), ElementsAre(FaultKind::downgrade));
  scan.policy->two_shares = answered(x25519);
  EXPECT_THAT(faults_of(scan, {}), IsEmpty()) << "it prefers X25519 anyway";
  EXPECT_THAT(judge(scan, {}).words, HasSubstr("prefers X25519"));
}

TEST(VerdictTest, ARetryThatIsNotTaken) {
  Scan scan = good_scan();
  scan.groups[0].by_retry = Support::refused;
  scan.groups[0].retry_outcome->ending = Ending::reset;
  EXPECT_THAT(faults_of(scan, {}), ElementsAre(FaultKind::retry));
}

TEST(VerdictTest, WithoutTls13OrGroupsItIsNotReady) {
  Scan scan = good_scan();
  scan.order = {x25519};
  scan.policy.reset();
  EXPECT_EQ(judge(scan, {}).words, "not ready: TLS 1.3, but no post-quantum group; it has X25519");
  scan.versions[0].supported = false;
  EXPECT_EQ(judge(scan, {}).level, Level::not_ready);
  Scan nobody;
  nobody.modern.ending = nobody.plain.ending = Ending::refused;
  EXPECT_EQ(judge(nobody, {}).level, Level::unreachable);
}

}  // namespace
}  // namespace tlstrata::probe
