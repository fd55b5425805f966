#include "analyze/key_log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ranges>
#include <span>

namespace tlstrata::analyze {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 18U;

}  // namespace

Checked<KeyLogFile> KeyLogFile::open(const std::string& path) {
  io::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) {
    return std::unexpected(complain_errno("the key log cannot be read", path, "check the path and its permissions"));
  }
  return KeyLogFile(path, std::move(fd));
}

Checked<void> KeyLogFile::read(tls::KeyLog& keys) {
  if (!buffer_) {
    buffer_ = std::make_unique_for_overwrite<std::uint8_t[]>(chunk_bytes);
  }
  const std::span<std::uint8_t> buffer(buffer_.get(), chunk_bytes);
  while (true) {
    if (held_ == buffer.size()) {  // no line of a key log is so long: the KeyLog counts it as junk
      keys.feed(buffer);
      held_ = 0;
    }
    const ssize_t got = ::read(fd_.get(), buffer.data() + held_, buffer.size() - held_);
    if (got < 0 && errno != EINTR) {
      return std::unexpected(complain_errno("the key log cannot be read", path_, "check that it is a file"));
    }
    if (got == 0) {
      return {};
    }
    const auto here = buffer.first(held_ + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    const auto newline = std::ranges::find(here | std::views::reverse, std::uint8_t{'\n'});
    const auto whole = static_cast<std::size_t>(newline.base() - here.begin());
    keys.feed(here.first(whole));
    std::ranges::copy(here.subspan(whole), buffer.begin());
    held_ = here.size() - whole;
  }
}

void KeyLogFile::finish(tls::KeyLog& keys) {
  keys.feed(std::span<const std::uint8_t>(buffer_.get(), held_));
  keys.finish();
  held_ = 0;
}

}  // namespace tlstrata::analyze
