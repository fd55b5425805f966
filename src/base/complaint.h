// An error for a person: what happened, where, and what to do. What the commands print and exit with.
//
// In/Out:    Checked<T> is a T or a Complaint. The parsers of captures use Result (result.h) instead; a Complaint is
//            made where a file, an address or a line of a specification is known.
// Ownership: owns its strings.
#pragma once

#include <expected>
#include <string>

#include "base/result.h"

namespace tlstrata {

// design.md section 3.
enum class ExitCode : int { fine = 0, failed = 1, usage = 2, unusable = 3 };

struct Complaint {
  std::string what;    // "certificate verify failed"
  std::string where;   // "10.0.0.2:443", "specs/x.toml:7"
  std::string remedy;  // "give the server's CA with --ca"
  ExitCode exit_code = ExitCode::unusable;
};

template <typename T>
using Checked = std::expected<T, Complaint>;

// "tlstrata: <what> (<where>): <what to do>", hostile bytes escaped, no newline.
std::string describe(const Complaint& complaint);

// The Complaint for an Error met in `where`; `number` is spelled out for errors of the operating system.
Complaint complain(const Error& error, std::string where, std::string remedy);

// The Complaint for errno after a failed system call.
Complaint complain_errno(const char* what, std::string where, std::string remedy);

}  // namespace tlstrata
