// What a component used: CPU of a program and its children, bytes and packets of its interfaces, TCP's retransmissions.
//
// In:        a pid or a host of the bed. Out: running totals; take them before and after and subtract.
// Units:     CPU in nanoseconds; bytes on an interface are of whole frames, Ethernet headers counted.
// Errors:    Complaint: the process is gone, /proc can't be read.
// Threads:   any.
// Source:    proc(5), clock_getcpuclockid(3), RFC 4022 (tcpRetransSegs).
//
// CPU here is what the kernel books to the process: its own code and its system calls, the sending half of the network
// stack included. Packets that the kernel handles in soft interrupts are booked to whoever runs at that moment or to
// nobody; no kernel attributes them, so no figure here does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "base/nanos.h"
#include "testbed/bed.h"

namespace tlstrata::testbed {

struct CpuTime {
  // user_ns + system_ns is exact for living processes; the split between them is good to one clock tick (10 ms) a
  // process, as the kernel shows it.
  Nanos user_ns = 0;
  Nanos system_ns = 0;
  [[nodiscard]] Nanos total_ns() const { return user_ns + system_ns; }
  CpuTime& operator+=(const CpuTime& other);
  friend CpuTime operator-(const CpuTime& after, const CpuTime& before);
};

// Times that a process gave up its core by itself (it waited), or was made to; all threads, all living descendants.
struct ContextSwitches {
  std::uint64_t voluntary = 0;
  std::uint64_t involuntary = 0;
  friend ContextSwitches operator-(const ContextSwitches& after, const ContextSwitches& before);
};
Checked<ContextSwitches> context_switches_of(pid_t pid);

// The process, its living descendants, and the children that any of them has waited for. Take nginx's master, get its
// workers. A process that forks and ends within the call may be missed.
Checked<CpuTime> cpu_of(pid_t pid);

struct InterfaceCounters {
  std::string name;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t packets_sent = 0;
  std::uint64_t packets_received = 0;
  std::uint64_t dropped = 0;  // both directions
};

struct NetworkCounters {
  std::vector<InterfaceCounters> interfaces;  // in the order of HostSettings::interfaces; lo is left out
  std::uint64_t tcp_retransmitted_segments = 0;
  std::uint64_t tcp_listen_overflows = 0;  // connections refused by a full accept queue
  // Summed over the interfaces.
  [[nodiscard]] InterfaceCounters sum() const;
  friend NetworkCounters operator-(const NetworkCounters& after, const NetworkCounters& before);
};

Checked<NetworkCounters> network_counters(const Bed& bed, Host host);

// TCP connections at an IPv4 address of the host that may still send something by themselves: all but those that wait in
// TIME_WAIT, and listeners.
Checked<std::uint64_t> unfinished_connections(const Bed& bed, Host host, const std::string& address);

}  // namespace tlstrata::testbed
