#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "lab/bed_trial.h"
#include "lab/machine_state.h"
#include "lab/servers.h"
#include "unit/testbed/bed_fixture.h"

namespace tlstrata::lab {
namespace {

using testbed::must;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Finding named(const Findings& findings, const std::string& name) {
  const auto found = std::ranges::find(findings, name, &Finding::name);
  EXPECT_NE(found, findings.end()) << name;
  return found == findings.end() ? Finding{} : *found;
}

MachineState quiet_server() {
  MachineState state;
  state.cores = 16;
  state.usable_cores = 16;
  state.load_average = 0.1;
  state.busy_share = 0.01;
  state.stolen_share = 0;
  state.governor = "performance";
  state.turbo = false;
  state.smt = false;
  state.clock_source = "tsc";
  state.available_memory_bytes = 1ULL << 35U;
  state.folder = "/data";
  state.folder_writable = true;
  state.free_disk_bytes = 1ULL << 40U;
  state.open_files = 524288;
  state.ephemeral_ports = 28232;
  state.congestion_control = "cubic";
  state.counters = HardwareCounters::there;
  state.programs = {{"tshark", "/usr/bin/tshark"}};
  return state;
}

TEST(MachineJudgement, OfAQuietServerIsFine) {
  for (const Finding& finding : judge(quiet_server())) {
    EXPECT_EQ(finding.verdict, Verdict::ok) << finding.name;
    EXPECT_THAT(finding.state, Not(IsEmpty())) << finding.name;
    EXPECT_THAT(finding.meaning + finding.remedy, IsEmpty()) << finding.name;
  }
}

TEST(MachineJudgement, SaysWhatEachDisturbanceMeansAndWhatToDo) {
  MachineState state = quiet_server();
  state.usable_cores = 2;
  state.busy_share = 0.5;
  state.is_virtual = true;
  state.stolen_share = 0.02;
  state.governor = "powersave";
  state.turbo = true;
  state.smt = true;
  state.clock_source = "hpet";
  state.available_memory_bytes = 1U << 20U;
  state.free_disk_bytes = 1U << 20U;
  state.open_files = 1024;
  state.ephemeral_ports = 1000;
  state.counters = HardwareCounters::refused;
  for (const Finding& finding : judge(state)) {
    if (finding.name != "tshark") {
      EXPECT_EQ(finding.verdict, Verdict::warn) << finding.name;
      EXPECT_THAT(finding.meaning, Not(IsEmpty())) << finding.name;
      EXPECT_THAT(finding.remedy, Not(IsEmpty())) << finding.name;
    }
  }
  EXPECT_TRUE(can_run_lab(judge(state)));
}

TEST(MachineJudgement, SeesTheLimitOfAContainer) {
  MachineState state = quiet_server();
  state.quota_cores = 1.5;
  EXPECT_EQ(named(judge(state), "cores").verdict, Verdict::warn);
  EXPECT_THAT(named(judge(state), "cores").state, HasSubstr("1.5"));
}

TEST(MachineJudgement, AnUnwritableFolderStopsALabAndAMissingToolDoesNot) {
  MachineState state = quiet_server();
  state.programs = {{"tshark", ""}, {"valgrind", ""}};
  EXPECT_EQ(named(judge(state), "tshark").verdict, Verdict::missing);
  EXPECT_TRUE(can_run_lab(judge(state)));
  state.folder_writable = false;
  EXPECT_FALSE(can_run_lab(judge(state)));
}

TEST(MachineJudgement, WhatTheKernelDoesNotTellIsNoFault) {
  MachineState state;
  state.cores = 4;
  state.usable_cores = 4;
  state.folder_writable = true;
  for (const Finding& finding : judge(state)) {
    if (finding.name == "governor" || finding.name == "turbo" || finding.name == "smt" || finding.name == "clock" ||
        finding.name == "memory" || finding.name == "ports") {
      EXPECT_EQ(finding.verdict, Verdict::ok) << finding.name;
    }
  }
}

TEST(MachineStateOfThisMachine, IsRead) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const MachineState state = read_machine_state(folder, "/nowhere");
  EXPECT_GE(state.cores, 1U);
  EXPECT_GE(state.usable_cores, 1U);
  EXPECT_LE(state.usable_cores, state.cores);
  ASSERT_TRUE(state.busy_share);
  EXPECT_GE(*state.busy_share, 0.0);
  EXPECT_LE(*state.busy_share, 1.0);
  EXPECT_TRUE(state.load_average);
  EXPECT_GT(state.available_memory_bytes.value_or(0), 1U << 20U);
  EXPECT_EQ(state.free_disk_bytes.value_or(0) / (1ULL << 30U),
            std::filesystem::space(folder).available / (1ULL << 30U));
  EXPECT_TRUE(state.folder_writable);
  EXPECT_GT(state.open_files, 0U);
  EXPECT_GT(state.ephemeral_ports.value_or(0), 0U);
  EXPECT_THAT(state.congestion_control, Not(IsEmpty()));
  EXPECT_FALSE(read_machine_state("/proc/1/no-such-folder", "").folder_writable);
}

TEST(OpensslJudgement, NeedsTheGroupsThatLabCompares) {
  EXPECT_EQ(judge_openssl("OpenSSL 3.5.0", {"X25519", "secp256r1", "X25519MLKEM768", "MLKEM1024"}).verdict,
            Verdict::ok);
  const Finding old = judge_openssl("OpenSSL 3.0.17", {"X25519", "secp256r1"});
  EXPECT_EQ(old.verdict, Verdict::missing);
  EXPECT_THAT(old.state, HasSubstr("without X25519MLKEM768, MLKEM1024"));
  EXPECT_FALSE(can_run_lab({old}));
}

TEST(BedJudgement, ARefusedBedIsOneFindingWithTheRemedy) {
  BedTrial trial;
  trial.refused = Complaint{"may not", "kernel.x = 1", "run with sudo"};
  const Findings findings = judge(trial);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].remedy, "run with sudo");
  EXPECT_FALSE(can_run_lab(findings));
}

TEST(BedJudgement, NginxAndCaptureAreNeededAndNetemIsNot) {
  BedTrial trial;
  trial.offloads_off = true;
  trial.no_netem = "unknown";
  EXPECT_TRUE(can_run_lab(judge(trial)));
  EXPECT_EQ(named(judge(trial), "netem").verdict, Verdict::missing);
  trial.offloads_off = false;
  EXPECT_EQ(named(judge(trial), "offloads").verdict, Verdict::warn);
  trial.no_capture = "Operation not permitted";
  EXPECT_FALSE(can_run_lab(judge(trial)));
  trial.no_capture.clear();
  trial.no_nginx = Complaint{"there is no nginx", "PATH", "./run setup"};
  EXPECT_FALSE(can_run_lab(judge(trial)));
}

TEST(BedTrialHere, FindsWhatTheTestsOfTheBedFind) {
  TLSTRATA_NEEDS_BED();
  const BedTrial trial =
      must(try_bed({.named = {}, .checkouts = {TLSTRATA_SOURCE_DIR}, .search_path = {}}, own_openssl_library()));
  ASSERT_FALSE(trial.refused) << describe(*trial.refused);
  EXPECT_GT(trial.create_ms, 0);
  EXPECT_TRUE(trial.offloads_off);
  EXPECT_EQ(trial.no_capture, "");
  EXPECT_FALSE(trial.no_nginx);
  EXPECT_THAT(trial.nginx_identity.running_with, HasSubstr("OpenSSL"));
  const testbed::Bed bed = must(testbed::Bed::create());
  EXPECT_EQ(trial.congestion_control, bed.settings(testbed::Host::client).congestion_control);
  const auto netem = bed.run(testbed::Host::client,
                             {"tc", "qdisc", "add", "dev", "client", "root", "netem", "loss", "1%"}, nanos_per_second);
  EXPECT_EQ(trial.no_netem.empty(), netem.has_value()) << trial.no_netem;
}

TEST(BedTrialHere, TellsWhyThereIsNoNginx) {
  TLSTRATA_NEEDS_BED();
  const BedTrial trial = must(try_bed({.named = "/no/such/nginx", .checkouts = {}, .search_path = {}}, {}));
  ASSERT_TRUE(trial.no_nginx);
  EXPECT_THAT(trial.no_nginx->where, HasSubstr("/no/such/nginx"));
}

}  // namespace
}  // namespace tlstrata::lab
