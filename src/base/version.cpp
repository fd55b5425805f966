#include "base/version.h"

namespace tlstrata {

std::string_view version_string() {
  return TLSTRATA_VERSION;
}

}  // namespace tlstrata
