#include "cli/version.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/version.h"
#include "cli/commit.h"
#include "lab/servers.h"
#include "ossl/provider.h"
#include "ossl/version.h"

namespace tlstrata::cli {

std::string version_text(std::string_view program) {
  const auto provider = ossl::find_provider();
  return fmt::format("{} {} (commit {})\n{} in {} (built with {})\nprovider: {}", program, version_string(), commit(),
                     ossl::library_version(), for_terminal(lab::own_openssl_library().lexically_normal().string()),
                     ossl::headers_version(),
                     provider ? for_terminal(provider->string()) : "none, see tlstrata doctor");
}

}  // namespace tlstrata::cli
