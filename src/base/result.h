// Errors as values.
//
// In/Out:    Result<T> is a T or an Error; nothing is thrown.
// Ownership: Error owns nothing and is trivially copyable; `what` points to a string literal.
// Errors:    three outcomes stay apart by type: a value, std::nullopt inside Result<std::optional<T>> (needs more
//            input), and an Error.
#pragma once

#include <cstdint>
#include <expected>

namespace tlstrata {

enum class ErrorCode : std::uint8_t {
  truncated,    // the input ends before the thing it declares
  malformed,    // the input breaks its format's rules
  unsupported,  // well-formed, but not a thing that is read here
  limit,        // a bound that protects memory or time was reached
  io,           // the operating system said no; `number` is errno
  crypto,       // the TLS library said no; `number` is its packed error code
  not_found,    // a name, key or file that is not there
};

struct Error {
  ErrorCode code = ErrorCode::malformed;
  const char* what = "";     // a literal, in the words of the RFC or man page
  std::uint64_t offset = 0;  // byte offset in the input where it was noticed; 0 where there is no input
  unsigned long number = 0;  // errno or library error code; 0 when there is none
};

template <typename T>
using Result = std::expected<T, Error>;

}  // namespace tlstrata
