// A test bed made for a moment, to see what this machine and this user are allowed.
//
// In:        where nginx is looked for. Out: what worked, and the Complaints about what did not.
// Ownership: everything is made in a child process, so that this process keeps its own user and rights; child, bed and
//            all else are gone when try_bed() returns.
// Errors:    Complaint where not even the child can be had, or it does not end within half a minute.
// Threads:   call from the process's only thread, since it forks.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/complaint.h"
#include "lab/finding.h"
#include "lab/nginx.h"

namespace tlstrata::lab {

struct BedTrial {
  std::optional<Complaint> refused;  // by the kernel or for want of `ip`: then nothing below was tried
  bool in_user_namespace = false;    // rights come from a user namespace: an ordinary user
  double create_ms = 0;              // until packets crossed both links
  std::string congestion_control;    // in the bed
  bool offloads_off = false;         // TSO, GSO and GRO of all its interfaces
  std::string no_capture;            // why packets can't be captured; empty: they can
  std::string no_netem;              // why the kernel can't delay or lose packets by netem; empty: it can
  std::string quota_method;          // how a client's CPU can be limited; "none"
  std::optional<Complaint> no_nginx;
  std::filesystem::path haproxy;  // empty: there is none, and only specifications that name it need it
  std::filesystem::path nginx;    // empty: no_nginx
  ProxyIdentity nginx_identity;
};

Checked<BedTrial> try_bed(const ProgramSearch& search, const std::filesystem::path& openssl_library);

// One finding for each thing above, in a fixed order. Pure.
Findings judge(const BedTrial& trial);

// The TLS library and the groups that `lab` compares. Pure.
Finding judge_openssl(const std::string& version, const std::vector<std::string>& groups);

}  // namespace tlstrata::lab
