// libpcap, loaded when it is first needed: for a filter or a live capture. With what it drags in (D-Bus, systemd, four
// more) it is a third of what the program links, and would cost every start, of `analyze` on a file too, a millisecond.
//
// Out:       its functions, as <pcap/pcap.h> declares them.
// Ownership: stays loaded until the program ends.
// Errors:    load(): a Complaint where the library, or a function in it, is not there.
// Threads:   any.
#pragma once

#include <pcap/pcap.h>

#include "base/complaint.h"

namespace tlstrata::capture {

struct PcapLibrary {
  decltype(&::pcap_activate) activate = nullptr;
  decltype(&::pcap_close) close = nullptr;
  decltype(&::pcap_compile) compile = nullptr;
  decltype(&::pcap_create) create = nullptr;
  decltype(&::pcap_datalink) datalink = nullptr;
  decltype(&::pcap_freecode) freecode = nullptr;
  decltype(&::pcap_get_selectable_fd) get_selectable_fd = nullptr;
  decltype(&::pcap_geterr) geterr = nullptr;
  decltype(&::pcap_next_ex) next_ex = nullptr;
  decltype(&::pcap_offline_filter) offline_filter = nullptr;
  decltype(&::pcap_open_dead) open_dead = nullptr;
  decltype(&::pcap_set_buffer_size) set_buffer_size = nullptr;
  decltype(&::pcap_set_promisc) set_promisc = nullptr;
  decltype(&::pcap_set_snaplen) set_snaplen = nullptr;
  decltype(&::pcap_set_timeout) set_timeout = nullptr;
  decltype(&::pcap_set_tstamp_precision) set_tstamp_precision = nullptr;
  decltype(&::pcap_setfilter) setfilter = nullptr;
  decltype(&::pcap_setnonblock) setnonblock = nullptr;
  decltype(&::pcap_stats) stats = nullptr;
  decltype(&::pcap_statustostr) statustostr = nullptr;

  static Checked<void> load();
  // After load() has succeeded.
  static const PcapLibrary& functions();
};

}  // namespace tlstrata::capture
