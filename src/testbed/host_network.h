// The network inside one namespace: kernel settings, offloads, counters. What Bed::create() does on each host.
//
// In/Out:    all of it concerns the network namespace of the calling thread.
// Errors:    Complaint that names the setting.
// Threads:   on a thread inside the host's namespace.
// Source:    ip-sysctl in the kernel's documentation, ethtool's ioctl (linux/ethtool.h).
#pragma once

#include <string>
#include <string_view>

#include "base/complaint.h"
#include "testbed/bed.h"

namespace tlstrata::testbed {

// Congestion control, ephemeral ports, no saved TCP metrics, as `options` has them.
Checked<void> apply_host_options(const BedOptions& options);

// TSO, GSO and GRO of an interface, on or off.
Checked<void> set_offloads(const std::string& interface, bool on);

// Reads back what is in force: everything of HostSettings but the names, addresses and MACs, which are given.
Checked<void> read_settings(HostSettings& settings);

// One setting below /proc/sys, without its newline ("net/ipv4/tcp_congestion_control").
Checked<std::string> read_setting(std::string_view name);

}  // namespace tlstrata::testbed
