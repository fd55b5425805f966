// layer: http
// HTTP/2 in both directions: any cutting into records gives the same requests, responses and ends with the same packets.
#include "http/http2.h"
#include "plaintext_feeder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlstrata::fuzz;
  using tlstrata::http::Http2;
  Choices choices(View(data, size));
  const std::uint8_t mode = choices.u8();
  auto steps = plain_steps(choices);
  if ((mode & 1U) != 0) {
    const std::string_view preface = Http2::preface();
    steps.insert(steps.begin(), PlainStep{tlstrata::tls::Role::client, false, Bytes(preface.begin(), preface.end())});
  }
  const auto finish = [](Http2&) {};
  const auto whole = run_http<Http2>(steps, 0, finish);
  require(run_http<Http2>(steps, 1, finish) == whole, "single bytes give the same events");
  require(run_http<Http2>(steps, 2 + mode, finish) == whole, "any chunking gives the same events");
  return 0;
}
