// layer: http
// Which HTTP it is, with and without ALPN: any cutting into records gives the same events.
#include "http/decoder.h"
#include "plaintext_feeder.h"

namespace {

template <int Alpn>
class Selected : public tlstrata::http::Decoder {
 public:
  Selected() { select(Alpn == 0 ? "" : Alpn == 1 ? "h2" : "http/1.1"); }
};

template <int Alpn>
void check(const std::vector<tlstrata::fuzz::PlainStep>& steps, std::uint8_t mode) {
  using namespace tlstrata::fuzz;
  const auto finish = [mode](Selected<Alpn>& reader) { reader.finish((mode & 4U) != 0); };
  const auto whole = run_http<Selected<Alpn>>(steps, 0, finish);
  require(run_http<Selected<Alpn>>(steps, 1, finish) == whole, "single bytes give the same events");
  require(run_http<Selected<Alpn>>(steps, 2 + mode, finish) == whole, "any chunking gives the same events");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlstrata::fuzz;
  Choices choices(View(data, size));
  const std::uint8_t mode = choices.u8();
  const auto steps = plain_steps(choices);
  switch (mode % 4) {
    case 0:
      check<1>(steps, mode);
      break;
    case 1:
      check<2>(steps, mode);
      break;
    default:
      check<0>(steps, mode);
      break;
  }
  return 0;
}
