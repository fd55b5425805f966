// `tlstrata serve proxy` as the lab's proxy.
//
// Out:       a ProxyRecipe for lab/proxy.h. Its workers are threads; it loads the OpenSSL that this program does.
// Errors:    none.
#pragma once

#include "base/complaint.h"
#include "lab/proxy.h"

namespace tlstrata::lab {

struct BuiltinKind {
  static Checked<ProxyRecipe> recipe(const ProxyOptions& options);
  static Checked<ProxyIdentity> identify(const testbed::Bed& bed, const ProxyOptions& options);
};

}  // namespace tlstrata::lab
