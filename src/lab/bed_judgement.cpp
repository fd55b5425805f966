// The findings about a BedTrial: what each thing means and what to do about it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "lab/bed_trial.h"

namespace tlstrata::lab {
namespace {

// What the built-in experiment compares.
constexpr std::array<const char*, 3> needed_groups = {"X25519", "X25519MLKEM768", "MLKEM1024"};

Finding missing(std::string name, std::string state, std::string meaning, std::string remedy) {
  return {.name = std::move(name),
          .verdict = Verdict::missing,
          .required = true,
          .state = std::move(state),
          .meaning = std::move(meaning),
          .remedy = std::move(remedy)};
}
Finding there(std::string name, bool required, std::string state) {
  return {.name = std::move(name),
          .verdict = Verdict::ok,
          .required = required,
          .state = std::move(state),
          .meaning = {},
          .remedy = {}};
}

Finding judge_nginx(const BedTrial& trial) {
  if (trial.no_nginx) {
    return missing("nginx", fmt::format("{} ({})", trial.no_nginx->what, trial.no_nginx->where),
                   "lab has no proxy to measure", trial.no_nginx->remedy);
  }
  return there("nginx", true,
               fmt::format("{}, running with {} ({})", trial.nginx_identity.version, trial.nginx_identity.running_with,
                           trial.nginx.string()));
}

Finding judge_netem(const BedTrial& trial) {
  Finding finding = there("netem", false, "links can be given delay and loss");
  if (!trial.no_netem.empty()) {
    finding.verdict = Verdict::missing;
    finding.state = trial.no_netem;
    finding.meaning = "links have no delay or loss but their own; the built-in experiments need none";
    finding.remedy = "a kernel with CONFIG_NET_SCH_NETEM (modprobe sch_netem) and iproute2's tc";
  }
  return finding;
}

Finding judge_quota(const BedTrial& trial) {
  Finding finding = there("client-cpu", false, "a client's CPU can be limited by " + trial.quota_method);
  if (trial.quota_method.empty() || trial.quota_method == "none") {
    finding.verdict = Verdict::missing;
    finding.state = "a client's CPU cannot be limited";
    finding.meaning = "specifications with client_cpu cannot run; the built-in ones have none";
    finding.remedy = "run as root, or delegate a cgroup with the cpu controller";
  }
  return finding;
}

Finding judge_haproxy(const BedTrial& trial) {
  Finding finding = there("haproxy", false, trial.haproxy.string());
  if (trial.haproxy.empty()) {
    finding.verdict = Verdict::missing;
    finding.state = "there is no HAProxy";
    finding.meaning = "specifications with proxy.name = \"haproxy\" cannot run; the built-in ones do not name it";
    finding.remedy = "tools/haproxy.sh unpacks one into .deps, or name one with TLSTRATA_HAPROXY";
  }
  return finding;
}

}  // namespace

Findings judge(const BedTrial& trial) {
  if (trial.refused) {
    return {missing("test-bed", fmt::format("{} ({})", trial.refused->what, trial.refused->where),
                    "lab cannot make its hosts client, proxy and origin", trial.refused->remedy)};
  }
  Findings findings;
  findings.push_back(there("privileges", true,
                           trial.in_user_namespace
                               ? "not an administrator's; a user namespace of its own gives what is needed"
                               : "an administrator's"));
  findings.push_back(
      there("test-bed", true, fmt::format("three namespaces and two veth links, made in {:.0f} ms", trial.create_ms)));
  if (trial.no_capture.empty()) {
    findings.push_back(there("capture", true, "packets of the test bed can be captured"));
  } else {
    findings.push_back(missing("capture", trial.no_capture, "without packets there are no layers",
                               "a kernel with CONFIG_PACKET, and the right CAP_NET_RAW"));
  }
  findings.push_back(there("offloads", false, "off in the test bed: a captured packet is one on the wire"));
  if (!trial.offloads_off) {
    findings.back().verdict = Verdict::warn;
    findings.back().state = "some stay on in the test bed";
    findings.back().meaning = "captured packets may be several of the wire in one";
    findings.back().remedy = "none known; the stamps of a layer's boundaries then are those of the joined packet";
  }
  findings.push_back(there("congestion-control", false, trial.congestion_control + " in the test bed"));
  findings.push_back(judge_netem(trial));
  findings.push_back(judge_quota(trial));
  findings.push_back(judge_nginx(trial));
  findings.push_back(judge_haproxy(trial));
  return findings;
}

Finding judge_openssl(const std::string& version, const std::vector<std::string>& groups) {
  std::vector<std::string> lacking;
  for (const char* group : needed_groups) {
    if (std::ranges::find(groups, group) == groups.end()) {
      lacking.emplace_back(group);
    }
  }
  if (lacking.empty()) {
    return there("openssl", true, fmt::format("{} with {} groups, ML-KEM among them", version, groups.size()));
  }
  return missing("openssl", fmt::format("{} without {}", version, fmt::join(lacking, ", ")),
                 "the groups that lab compares are not all there", "./run build finds or builds OpenSSL 3.5 or newer");
}

}  // namespace tlstrata::lab
