// layer: http
// HTTP/1 in both directions: any cutting into records gives the same requests, responses and ends with the same packets.
#include "http/http1.h"
#include "plaintext_feeder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlstrata::fuzz;
  using tlstrata::http::Http1;
  Choices choices(View(data, size));
  const std::uint8_t mode = choices.u8();
  const auto finish = [mode](Http1& reader) { reader.finish((mode & 1U) != 0); };
  const auto steps = plain_steps(choices);
  const auto whole = run_http<Http1>(steps, 0, finish);
  require(run_http<Http1>(steps, 1, finish) == whole, "single bytes give the same events");
  require(run_http<Http1>(steps, 2 + mode, finish) == whole, "any chunking gives the same events");
  return 0;
}
