#include "capture/filter.h"

#include <utility>

#include "capture/pcap_library.h"

namespace tlstrata::capture {
namespace {

const PcapLibrary& pcap() {
  return PcapLibrary::functions();
}

constexpr int snap_length = 262144;

// libpcap's own numbers (DLT_) and those in files (LINKTYPE_) differ for raw IP.
int dlt_of(LinkType link) {
  const bool is_raw = link == LinkType::raw || link == LinkType::raw_bsd || link == LinkType::raw_old;
  return is_raw ? DLT_RAW : static_cast<int>(link);
}

struct CloseHandle {
  void operator()(pcap_t* handle) const { pcap().close(handle); }
};

}  // namespace

void Filter::FreeProgram::operator()(bpf_program* program) const {
  pcap().freecode(program);
  delete program;
}

Checked<Filter::Program> Filter::compile_for(const std::string& expression, LinkType link) {
  const std::unique_ptr<pcap_t, CloseHandle> handle(pcap().open_dead(dlt_of(link), snap_length));
  auto program = std::make_unique<bpf_program>();
  if (!handle || pcap().compile(handle.get(), program.get(), expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0) {
    return std::unexpected(
        Complaint{handle ? pcap().geterr(handle.get()) : "libpcap knows no such link type", expression,
                  "write the filter as pcap-filter(7) describes, like 'host 10.0.0.1 and port 443'", ExitCode::usage});
  }
  return Program(program.release());
}

Checked<Filter> Filter::compile(const std::string& expression) {
  if (auto library = PcapLibrary::load(); !library) {
    return std::unexpected(library.error());
  }
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
  return pcap().offline_filter(found->second.get(), &header, packet.data.data()) != 0;
}

}  // namespace tlstrata::capture
