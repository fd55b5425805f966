#include "compare/source.h"

#include <system_error>

namespace tlstrata::compare {
namespace {

bool fill(Source& source, const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  source.path = path;
  source.is_folder = std::filesystem::is_directory(status);
  return std::filesystem::exists(status);
}

}  // namespace

Checked<Source> find_source(const std::string& text) {
  Source source;
  source.text = text;
  if (fill(source, text)) {
    return source;
  }
  for (std::size_t colon = text.rfind(':'); colon != std::string::npos && colon > 0;
       colon = text.rfind(':', colon - 1)) {
    if (fill(source, text.substr(0, colon))) {
      source.cell = text.substr(colon + 1);
      return source;
    }
  }
  return std::unexpected(Complaint{"no such folder or file", text,
                                   "give a result folder or a CSV file, with :CELL behind it for one of its cells"});
}

}  // namespace tlstrata::compare
