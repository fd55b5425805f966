// What is asked of the server, the same each time.
//
// In:      method, headers and body of the caller's, the URL. Out: the request as HTTP/1.1 sends it, and as a list of
//          fields for HTTP/2.
// Errors:  usage: what would break a request line or a header, and headers that this program sends itself.
// Threads: pure functions; a Request is only read once made.
// Source:  RFC 9110 sections 5.6.2 (token) and 5.5 (field values), 9.3.2 (HEAD has no body in its response);
//          RFC 9112 section 3; RFC 9113 section 8.3.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/complaint.h"
#include "load/url.h"

namespace tlstrata::load {

struct RequestOptions {
  std::string method;                // empty: GET, or POST where there is a body
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  bool has_body = false;  // an empty one too is announced
};

struct Request {
  std::string method;
  std::string text;                                         // HTTP/1.1, for a connection that goes on
  std::string closing_text;                                 // asks for the connection to be closed
  std::vector<std::pair<std::string, std::string>> fields;  // HTTP/2, pseudo-header fields first
  std::string body;                                         // of HTTP/2; the texts have it already
  bool has_no_response_body = false;                        // HEAD
};

// The last request of an HTTP/1.1 connection asks for it to be closed, so that the waiting state of TCP's end
// (TIME_WAIT) falls to the server, and the client does not run out of ports.
Checked<Request> make_request(const Url& url, const RequestOptions& options);

}  // namespace tlstrata::load
