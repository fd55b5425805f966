// The rights over network namespaces that the test bed needs, and how an ordinary user gets them.
//
// In/Out:    the credentials of this process.
// Errors:    Complaint whose remedy names the setting of this machine that stands in the way.
// Threads:   enter_user_namespace_if_needed() before the process has a second thread.
// Source:    user_namespaces(7), capabilities(7).
#pragma once

#include <cstdint>

#include "base/complaint.h"

namespace tlstrata::testbed {

enum class Privileges : std::uint8_t {
  direct,          // the process has what the bed needs
  user_namespace,  // it has it inside a user namespace of its own, where it is root and its files stay the user's
};

// Whether the calling thread has CAP_SYS_ADMIN, CAP_NET_ADMIN and CAP_NET_RAW.
bool has_privileges();

// Gives an ordinary user's process the rights over namespaces of its own; it stays in that user namespace for its
// life. No-op where the rights are there. After an error the process may be left inside a namespace without rights: it
// should end.
Checked<Privileges> enter_user_namespace_if_needed();

// Why this machine gives an ordinary user no namespaces and what to do about it, for a Complaint.
Complaint namespaces_refused(int error_number);

}  // namespace tlstrata::testbed
