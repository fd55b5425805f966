#include "analyze/reader.h"

#include <chrono>
#include <thread>

namespace tlstrata::analyze {
namespace {

constexpr std::chrono::milliseconds key_log_delay{100};

}  // namespace

Checked<Reader> Reader::open(const Input& input, tls::KeyLog* gathered) {
  auto source = PacketSource::open(input, gathered);
  if (!source) {
    return std::unexpected(source.error());
  }
  Reader reader(std::move(*source));
  if (!input.filter.empty()) {
    auto compiled = capture::Filter::compile(input.filter);
    if (!compiled) {
      return std::unexpected(compiled.error());
    }
    reader.filter_ = std::move(*compiled);
  }
  return reader;
}

void Reader::follow(std::vector<KeyLogFile> key_logs, tls::KeyLog& gathered) {
  key_logs_ = std::move(key_logs);
  gathered_ = &gathered;
  read_key_logs();
}

void Reader::catch_up() {
  waits_ = source_.waits();
  // What was just read may be newer than its secrets, which an endpoint writes only once it has them.
  std::this_thread::sleep_for(key_log_delay);
  read_key_logs();
}

void Reader::read_key_logs() {
  for (KeyLogFile& file : key_logs_) {
    (void)file.read(*gathered_);  // it was readable; should that end, connections lack keys, which their rows say
  }
}

}  // namespace tlstrata::analyze
