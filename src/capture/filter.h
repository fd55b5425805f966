// Packets selected by an expression in libpcap's language, as tcpdump takes it.
//
// In:        the expression; then packets of any link type that libpcap knows.
// Out:       matches(): whether the packet is selected. A link type for which the expression has no meaning selects nothing.
// Ownership: owns the compiled programs, one a link type, made as they are needed.
// Errors:    compile(): a Complaint (usage) with libpcap's words.
// Threads:   one an object.
// Source:    pcap-filter(7).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/complaint.h"
#include "capture/types.h"

struct bpf_program;

namespace tlstrata::capture {

class Filter {
 public:
  static Checked<Filter> compile(const std::string& expression);

  [[nodiscard]] bool matches(const Packet& packet);

 private:
  struct FreeProgram {
    void operator()(bpf_program* program) const;
  };
  using Program = std::unique_ptr<bpf_program, FreeProgram>;

  explicit Filter(std::string expression) : expression_(std::move(expression)) {}
  static Checked<Program> compile_for(const std::string& expression, LinkType link);

  std::string expression_;
  std::map<LinkType, Program> programs_;  // null: no meaning for this link type
};

}  // namespace tlstrata::capture
