#include "analyze/inputs.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
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

// Pipes, and standard input even where it is a file, give their bytes once.
bool opens_twice(const std::string& path) {
  std::error_code ignored;
  return path != "-" && std::filesystem::is_regular_file(path, ignored);
}

// Gathers the embedded secrets ahead of the packets, so that they may stand anywhere and workers share them. True: the files
// are cheap to read again.
Checked<bool> gather_secrets(const Input& input, tls::KeyLog& keys) {
  auto source = PacketSource::open(input.captures, &keys);
  if (!source) {
    return std::unexpected(source.error());
  }
  while (source->may_hold_secrets() && source->next()) {
  }
  return source->can_reread();
}

}  // namespace

Checked<Inputs> open_inputs(const Input& input) {
  Inputs inputs;
  for (const std::string& path : input.key_logs) {
    if (auto read = read_key_log(path, inputs.keys); !read) {
      return std::unexpected(read.error());
    }
  }
  if (std::ranges::all_of(input.captures, opens_twice)) {
    const auto can_reread = gather_secrets(input, inputs.keys);
    if (!can_reread) {
      return std::unexpected(can_reread.error());
    }
    inputs.has_secrets = true;
    inputs.can_reread = *can_reread;
  }
  return inputs;
}

}  // namespace tlstrata::analyze
