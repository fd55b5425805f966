#include "report/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "io/output_file.h"
#include "io/unique_fd.h"

namespace tlstrata::report {

Checked<void> write_file(const std::filesystem::path& path, std::string_view text) {
  Checked<io::OutputFile> file = io::OutputFile::create(path.string());
  if (!file) {
    return std::unexpected(file.error());
  }
  if (const Checked<void> written = file->write(text); !written) {
    return written;
  }
  return file->finish();
}

Checked<std::string> read_file(const std::filesystem::path& path, const std::string& remedy) {
  const io::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    return std::unexpected(complain_errno("cannot open", path.string(), remedy));
  }
  std::string text;
  constexpr std::size_t step = 1U << 20U;
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + step);
    const ssize_t got = ::read(file.get(), text.data() + before, step);
    text.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) {
      return text;
    }
    if (got < 0 && errno != EINTR) {
      return std::unexpected(complain_errno("cannot read", path.string(), remedy));
    }
  }
}

}  // namespace tlstrata::report
