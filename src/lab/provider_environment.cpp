#include "lab/provider_environment.h"

#include <algorithm>

#include "base/iana.h"
#include "io/output_file.h"
#include "ossl/provider.h"

namespace tlstrata::lab {
namespace {

bool any_needs_provider(std::string_view groups) {
  while (!groups.empty()) {
    const std::string_view name = groups.substr(0, groups.find(':'));
    groups.remove_prefix(std::min(groups.size(), name.size() + 1));
    const auto code = group_code_point(name);
    if (code && ossl::needs_provider(*code)) {
      return true;
    }
  }
  return false;
}

}  // namespace

Checked<std::vector<std::string>> provider_environment(std::string_view groups, const std::filesystem::path& folder) {
  if (!any_needs_provider(groups)) {
    return {};
  }
  const Checked<std::filesystem::path> module = ossl::find_provider();
  if (!module) {
    return std::unexpected(module.error());
  }
  std::error_code ignored;
  const std::filesystem::path path = std::filesystem::absolute(folder / "openssl.cnf", ignored);
  Checked<io::OutputFile> file = io::OutputFile::create(path.string());
  if (!file) {
    return std::unexpected(std::move(file.error()));
  }
  if (auto written = file->write(ossl::provider_configuration()); !written) {
    return std::unexpected(std::move(written.error()));
  }
  if (auto finished = file->finish(); !finished) {
    return std::unexpected(std::move(finished.error()));
  }
  return std::vector<std::string>{"OPENSSL_CONF=" + path.string(), "OPENSSL_MODULES=" + module->parent_path().string()};
}

}  // namespace tlstrata::lab
