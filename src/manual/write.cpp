#include "manual/write.h"

#include <string>
#include <system_error>

#include "io/output_file.h"
#include "manual/command.h"
#include "manual/completion.h"
#include "manual/man_page.h"

namespace tlstrata::manual {
namespace {

namespace fs = std::filesystem;

Checked<void> write_file(const fs::path& path, const std::string& text) {
  auto file = io::OutputFile::create(path.string());
  if (!file) {
    return std::unexpected(file.error());
  }
  if (auto written = file->write(text); !written) {
    return written;
  }
  return file->finish();
}

Checked<void> write_pages(const Command& command, const Command& program, const Facts& facts, const fs::path& folder) {
  const fs::path path = folder / (name_of(command, '-') + ".1");
  if (auto written = write_file(path, man_page(command, program, facts)); !written) {
    return written;
  }
  for (const Command& part : command.subcommands) {
    if (auto written = write_pages(part, program, facts, folder); !written) {
      return written;
    }
  }
  return {};
}

void remove_pages(const std::string& program, const fs::path& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".1") && (name == program + ".1" || name.starts_with(program + "-"))) {
      fs::remove(entry.path(), ignored);
    }
  }
}

}  // namespace

Checked<void> write(CLI::App& program, const Facts& facts, const fs::path& folder) {
  const Command command = read_command(program);
  const std::string name = program.get_name();
  for (const char* kind : {"man", "bash", "zsh"}) {
    std::error_code error;
    fs::create_directories(folder / kind, error);
    if (error) {
      return std::unexpected(Complaint{error.message(), (folder / kind).string(), "name a folder that can be written"});
    }
  }
  remove_pages(name, folder / "man");
  if (auto written = write_pages(command, command, facts, folder / "man"); !written) {
    return written;
  }
  if (auto written = write_file(folder / "bash" / name, bash_completion(command, facts)); !written) {
    return written;
  }
  return write_file(folder / "zsh" / ("_" + name), zsh_completion(command, facts));
}

}  // namespace tlstrata::manual
