// The links of the bed: which interface is where, how they are made and when they carry packets.
//
// In:        a Bed whose namespaces exist. Out: links that are up, with addresses and known neighbours.
// Errors:    Complaint with the words of ip(8).
// Threads:   one at a time.
// Source:    ip-link(8), ip-address(8), ip-neighbour(8), veth(4).
#pragma once

#include <vector>

#include "base/complaint.h"
#include "testbed/bed.h"
#include "testbed/relay.h"

namespace tlstrata::testbed {

// The interfaces of a host as designed: names, addresses, MACs. Their settings are read once they exist.
std::vector<Interface> planned_interfaces(Host host);

// Both veth pairs, each end in its host, still down; without the client's where a Relay makes that link.
Checked<void> make_links(const Bed& bed, int mtu_bytes, bool client_link_too);

// The client's link as a Relay between devices that have the names, addresses and MTU that a veth pair would have.
Checked<Relay> make_client_relay(const Bed& bed, int mtu_bytes);

// Addresses, neighbours for good (no ARP before the first SYN), lo and interfaces up.
Checked<void> bring_up(const Bed& bed, Host host, int mtu_bytes);

// Returns once a datagram has crossed each link each way: the kernel may switch a new link on a moment after both ends
// are up.
Checked<void> wait_for_links(const Bed& bed);

}  // namespace tlstrata::testbed
