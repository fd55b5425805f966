#include "base/complaint.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "base/text.h"

namespace tlstrata {

std::string describe(const Complaint& complaint) {
  std::string line = "tlstrata: " + for_terminal(complaint.what);
  if (!complaint.where.empty()) {
    line += " (" + for_terminal(complaint.where) + ")";
  }
  if (!complaint.remedy.empty()) {
    line += ": " + for_terminal(complaint.remedy);
  }
  return line;
}

Complaint complain(const Error& error, std::string where, std::string remedy) {
  std::string what = error.what;
  if (error.code == ErrorCode::io && error.number != 0) {
    what += ": " + std::generic_category().message(static_cast<int>(error.number));
  } else if (error.offset != 0) {
    what += fmt::format(" at byte {}", error.offset);
  }
  return Complaint{std::move(what), std::move(where), std::move(remedy)};
}

Complaint complain_errno(const char* what, std::string where, std::string remedy) {
  const Error error{ErrorCode::io, what, 0, static_cast<unsigned long>(errno)};
  return complain(error, std::move(where), std::move(remedy));
}

}  // namespace tlstrata
