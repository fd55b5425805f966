#include "capture/filter.h"

#include <pcap/pcap.h>

#include <utility>

namespace tlstrata::capture {
namespace {

constexpr int snap_length = 262144;

struct CloseHandle {
  void operator()(pcap_t* handle) const { pcap_close(handle); }
};

}  // namespace

void Filter::FreeProgram::operator()(bpf_program* program) const {
  pcap_freecode(program);
  delete program;
}

Checked<Filter::Program> Filter::compile_for(const std::string& expression, LinkType link) {
  const std::unique_ptr<pcap_t, CloseHandle> handle(pcap_open_dead(static_cast<int>(link), snap_length));
  auto program = std::make_unique<bpf_program>();
  if (!handle || pcap_compile(handle.get(), program.get(), expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0) {
    return std::unexpected(Complaint{handle ? pcap_geterr(handle.get()) : "libpcap knows no such link type", expression,
                                     "write the filter as pcap-filter(7) describes, like 'host 10.0.0.1 and port 443'",
                                     ExitCode::usage});
  }
  return Program(program.release());
}

Checked<Filter> Filter::compile(const std::string& expression) {
  Filter filter(expression);
  // Ethernet has all of the language: what is wrong there is wrong.
  auto program = compile_for(expression, LinkType::ethernet);
  if (!program) {
    return std::unexpected(program.error());
  }
  filter.programs_.emplace(LinkType::ethernet, std::move(*program));
  return filter;
}

bool Filter::matches(const Packet& packet) {
  auto found = programs_.find(packet.link);
  if (found == programs_.end()) {
    auto program = compile_for(expression_, packet.link);
    found = programs_.emplace(packet.link, program ? std::move(*program) : Program{}).first;
  }
  if (!found->second) {
    return false;
  }
  pcap_pkthdr header{};
  header.caplen = static_cast<bpf_u_int32>(packet.data.size());
  header.len = packet.original_length;
  return pcap_offline_filter(found->second.get(), &header, packet.data.data()) != 0;
}

}  // namespace tlstrata::capture
