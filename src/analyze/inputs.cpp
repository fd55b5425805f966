#include "analyze/inputs.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

#include "analyze/packet_source.h"

namespace tlstrata::analyze {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Checked<void> read_key_log(const std::string& path, tls::KeyLog& keys) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
  if (!file) {
    return std::unexpected(complain_errno("the key log cannot be read", path, "check the path and its permissions"));
  }
  std::vector<std::uint8_t> buffer(std::size_t{1} << 18U);
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    keys.feed(std::span(buffer).first(count));
  }
  if (std::ferror(file.get()) != 0) {
    return std::unexpected(complain_errno("the key log cannot be read", path, "check that it is a file"));
  }
  keys.finish();
  return {};
}

// Gathers the embedded secrets ahead, so that they may stand anywhere and workers share them.
Checked<bool> gather_secrets(const Input& input, tls::KeyLog& keys) {
  if (std::ranges::find(input.captures, "-") != input.captures.end()) {
    return false;
  }
  auto source = PacketSource::open(input.captures, &keys);
  if (!source) {
    return std::unexpected(source.error());
  }
  if (!source->can_reread()) {
    return false;
  }
  if (!source->may_hold_secrets()) {
    return true;
  }
  while (source->next()) {
  }
  return true;
}

}  // namespace

Checked<Inputs> open_inputs(const Input& input) {
  Inputs inputs;
  for (const std::string& path : input.key_logs) {
    if (auto read = read_key_log(path, inputs.keys); !read) {
      return std::unexpected(read.error());
    }
  }
  tls::KeyLog ahead = inputs.keys;
  const auto gathered = gather_secrets(input, ahead);
  if (!gathered) {
    return std::unexpected(gathered.error());
  }
  inputs.can_reread = *gathered;
  if (inputs.can_reread) {
    inputs.keys = std::move(ahead);
  }
  return inputs;
}

}  // namespace tlstrata::analyze
