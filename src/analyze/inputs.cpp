#include "analyze/inputs.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "analyze/key_log_file.h"
#include "analyze/packet_source.h"

namespace tlstrata::analyze {
namespace {

Checked<void> read_key_log(const std::string& path, tls::KeyLog& keys) {
  auto file = KeyLogFile::open(path);
  if (!file) {
    return std::unexpected(file.error());
  }
  if (auto read = file->read(keys); !read) {
    return read;
  }
  file->finish(keys);
  return {};
}

std::uint64_t known_secrets(const tls::KeyLog::Counts& counts) {
  return counts.secrets + counts.duplicates + counts.conflicts;
}

// Pipes, and standard input even where it is a file, give their bytes once.
bool opens_twice(const std::string& path) {
  std::error_code ignored;
  return path != "-" && std::filesystem::is_regular_file(path, ignored);
}

// Gathers the embedded secrets ahead of the packets, so that they may stand anywhere and workers share them.
Checked<void> gather_secrets(const Input& input, tls::KeyLog& keys) {
  auto source = PacketSource::open(input, &keys);
  if (!source) {
    return std::unexpected(source.error());
  }
  while (source->may_hold_secrets() && source->next()) {
  }
  return {};
}

}  // namespace

Checked<Inputs> open_inputs(const Input& input) {
  Inputs inputs{.keys = tls::KeyLog(input.shared_keys), .followed_key_logs = {}, .warnings = {}};
  for (const std::string& path : input.key_logs) {
    if (input.follow_until != nullptr) {
      auto file = KeyLogFile::open(path);
      if (!file) {
        return std::unexpected(file.error());
      }
      inputs.followed_key_logs.push_back(std::move(*file));
      continue;
    }
    const tls::KeyLog::Counts before = inputs.keys.counts();
    if (auto read = read_key_log(path, inputs.keys); !read) {
      return std::unexpected(read.error());
    }
    const tls::KeyLog::Counts after = inputs.keys.counts();
    if (known_secrets(after) == known_secrets(before)) {
      inputs.warnings.push_back(path + ": no secret in it, and " + std::to_string(after.junk - before.junk) +
                                " lines of something else; a key log is the text file that SSLKEYLOGFILE names");
    }
  }
  if (input.follow_until == nullptr && std::ranges::all_of(input.captures, opens_twice)) {
    if (const auto gathered = gather_secrets(input, inputs.keys); !gathered) {
      return std::unexpected(gathered.error());
    }
    inputs.has_secrets = true;
  }
  return inputs;
}

}  // namespace tlstrata::analyze
