#include "capture/pcap_library.h"

#include <dlfcn.h>

#include <bit>
#include <initializer_list>
#include <string>

namespace tlstrata::capture {
namespace {

// From a pointer to an object, as dlsym gives it, to one to a function: POSIX has them agree.
template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = std::bit_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, PcapLibrary& pcap) {
  return find(library, "pcap_activate", pcap.activate) && find(library, "pcap_close", pcap.close) &&
         find(library, "pcap_compile", pcap.compile) && find(library, "pcap_create", pcap.create) &&
         find(library, "pcap_datalink", pcap.datalink) && find(library, "pcap_freecode", pcap.freecode) &&
         find(library, "pcap_get_selectable_fd", pcap.get_selectable_fd) && find(library, "pcap_geterr", pcap.geterr) &&
         find(library, "pcap_next_ex", pcap.next_ex) && find(library, "pcap_offline_filter", pcap.offline_filter) &&
         find(library, "pcap_open_dead", pcap.open_dead) &&
         find(library, "pcap_set_buffer_size", pcap.set_buffer_size) &&
         find(library, "pcap_set_promisc", pcap.set_promisc) && find(library, "pcap_set_snaplen", pcap.set_snaplen) &&
         find(library, "pcap_set_timeout", pcap.set_timeout) &&
         find(library, "pcap_set_tstamp_precision", pcap.set_tstamp_precision) &&
         find(library, "pcap_setfilter", pcap.setfilter) && find(library, "pcap_setnonblock", pcap.setnonblock) &&
         find(library, "pcap_stats", pcap.stats) && find(library, "pcap_statustostr", pcap.statustostr);
}

struct Loaded {
  PcapLibrary pcap;
  bool complete = false;
  std::string error;

  Loaded() {
    // Debian's name for the library, and everybody else's.
    for (const char* name : {"libpcap.so.0.8", "libpcap.so.1"}) {
      if (void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
        complete = find_all(library, pcap);
        error = complete ? "" : "a function is missing in it";
        return;
      }
      const char* const why = ::dlerror();
      error = why != nullptr ? why : name;
    }
  }
};

const Loaded& loaded() {
  static const Loaded once;
  return once;
}

}  // namespace

Checked<void> PcapLibrary::load() {
  if (!loaded().complete) {
    return std::unexpected(
        Complaint{"libpcap cannot be loaded: " + loaded().error, "libpcap", "install it (Debian's libpcap0.8)"});
  }
  return {};
}

const PcapLibrary& PcapLibrary::functions() {
  return loaded().pcap;
}

}  // namespace tlstrata::capture
