#include "mpi/captures.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace tlstrata::mpi {
namespace {

bool is_named_like_a_capture(std::string_view name) {
  static constexpr std::array endings{".pcap", ".cap", ".pcapng"};
  return !name.starts_with('.') &&
         std::ranges::any_of(endings,
                             [name](std::string_view ending) { return name.find(ending) != std::string_view::npos; }) &&
         !name.ends_with(".tmp") && !name.ends_with(".json") && !name.ends_with(".csv");
}

Checked<void> add_folder(const std::string& folder, std::vector<std::string>& paths) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::path(folder) / "manifest.json", error)) {
    return std::unexpected(Complaint{"a result folder has its own order and cells", folder,
                                     "use tlstrata analyze, or give its captures/", ExitCode::usage});
  }
  std::vector<std::string> found;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (is_named_like_a_capture(entry->path().filename().string()) && entry->is_regular_file(ignored)) {
      found.push_back(entry->path().string());
    }
  }
  if (error) {
    errno = error.value();
    return std::unexpected(complain_errno("the folder cannot be read", folder, "check the path and its permissions"));
  }
  if (found.empty()) {
    return std::unexpected(
        Complaint{"no captures in the folder", folder, "their names have .pcap, .pcapng or .cap in them"});
  }
  std::ranges::sort(found);
  std::ranges::move(found, std::back_inserter(paths));
  return {};
}

Checked<void> add_list(const std::string& list, std::vector<std::string>& paths) {
  std::ifstream file(list);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.empty()) {
      paths.push_back(line);
    }
  }
  if (!file.eof()) {
    return std::unexpected(complain_errno("the list cannot be read", list, "check the path and its permissions"));
  }
  return {};
}

}  // namespace

Checked<std::vector<std::string>> find_captures(const std::vector<std::string>& arguments, const std::string& list) {
  std::vector<std::string> paths;
  for (const std::string& argument : arguments) {
    std::error_code ignored;
    if (argument == "-") {
      return std::unexpected(Complaint{"standard input has one reader", "tlstrata-mpi analyze",
                                       "use tlstrata analyze, or write it to a file", ExitCode::usage});
    }
    if (!std::filesystem::is_directory(argument, ignored)) {
      paths.push_back(argument);
    } else if (auto added = add_folder(argument, paths); !added) {
      return std::unexpected(added.error());
    }
  }
  if (!list.empty()) {
    if (auto added = add_list(list, paths); !added) {
      return std::unexpected(added.error());
    }
  }
  if (paths.empty()) {
    return std::unexpected(
        Complaint{"no captures", "tlstrata-mpi analyze", "name files, folders or a --list", ExitCode::usage});
  }
  return paths;
}

std::uint64_t size_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

}  // namespace tlstrata::mpi
