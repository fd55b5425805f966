#include "ossl/provider.h"

#include <openssl/provider.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <vector>

#include "base/iana.h"
#include "ossl/error.h"
#include "ossl/handle.h"

namespace tlstrata::ossl {
namespace {

namespace fs = std::filesystem;

constexpr std::uint16_t x25519_mlkem512 = 0x2FB6;

// What loads it may have been a configuration of the user's, under whatever name.
bool is_loaded() {
  const auto groups = library_groups();
  return std::ranges::all_of(provider_groups(), [&](const LibraryGroup& own) {
    return std::ranges::find(groups, own.code, &LibraryGroup::code) != groups.end();
  });
}

// Null where a configuration had loaded it. Unloaded at the program's end, before the library cleans up.
using Loaded = Handle<OSSL_PROVIDER, OSSL_PROVIDER_unload>;

Checked<Loaded> load() {
  if (is_loaded()) {
    return Loaded();
  }
  const Checked<fs::path> module = find_provider();
  if (!module) {
    return std::unexpected(module.error());
  }
  // Loading one by name would else keep the default provider from loading by itself.
  constexpr int keep_default = 1;
  Loaded loaded(OSSL_PROVIDER_try_load(nullptr, module->c_str(), keep_default));
  if (!loaded) {
    return std::unexpected(Complaint{"OpenSSL refuses our provider: " + reason(last_error("").number), module->string(),
                                     "build it together with the program: ./run build"});
  }
  return loaded;
}

}  // namespace

std::span<const LibraryGroup> provider_groups() {
  static const std::vector<LibraryGroup> groups{{x25519_mlkem512, group_name(x25519_mlkem512)}};
  return groups;
}

bool needs_provider(std::uint16_t code) {
  const auto groups = provider_groups();
  return std::ranges::find(groups, code, &LibraryGroup::code) != groups.end();
}

Checked<fs::path> find_provider() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path folder = program.parent_path();
  for (const fs::path& module :
       {folder / provider_module, folder.parent_path() / "lib" / "tlstrata" / provider_module}) {
    if (fs::is_regular_file(module, error)) {
      return module;
    }
  }
  return std::unexpected(Complaint{std::string("there is no ") + provider_module, folder.string(),
                                   "keep it beside the program, or in ../lib/tlstrata of it"});
}

Checked<void> provide_groups(std::span<const std::uint16_t> codes) {
  if (std::ranges::none_of(codes, needs_provider)) {
    return {};
  }
  static const Checked<Loaded> loaded = load();
  return loaded ? Checked<void>{} : std::unexpected(loaded.error());
}

std::string_view provider_configuration() {
  return "# Written by tlstrata: OpenSSL's default provider and, from OPENSSL_MODULES, our own.\n"
         "openssl_conf = openssl_init\n"
         "config_diagnostics = 1\n"
         "[openssl_init]\n"
         "providers = provider_section\n"
         "[provider_section]\n"
         "default = default_section\n"
         "tlstrata = tlstrata_section\n"
         "[default_section]\n"
         "activate = 1\n"
         "[tlstrata_section]\n"
         "module = tlstrata-provider.so\n"
         "activate = 1\n";
}

}  // namespace tlstrata::ossl
