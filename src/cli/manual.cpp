#include "cli/manual.h"

#include <fmt/format.h>

#include <string_view>

#include "base/iana.h"
#include "base/version.h"
#include "cli/commit.h"
#include "lab/spec.h"
#include "manual/write.h"
#include "ossl/certificate.h"
#include "ossl/groups.h"

namespace tlstrata::cli {
namespace {

manual::Vocabulary groups() {
  manual::Vocabulary vocabulary;
  vocabulary.list = true;
  for (const ossl::LibraryGroup& group : ossl::supported_groups()) {
    vocabulary.words.push_back(group_name(group.code));
  }
  return vocabulary;
}

std::map<std::string, manual::Vocabulary> vocabularies() {
  const manual::Vocabulary files{{}, true, false, false};
  manual::Vocabulary specs;
  for (const lab::BuiltinSpec& spec : lab::builtin_specs()) {
    specs.words.emplace_back(spec.name);
  }
  manual::Vocabulary specs_or_files = specs;
  specs_or_files.files = true;
  manual::Vocabulary certificates;
  certificates.list = true;
  for (const ossl::KeyKind kind : ossl::all_key_kinds) {
    certificates.words.emplace_back(ossl::key_kind_name(kind));
  }
  return {{"FILE", files},
          {"FILE|-", files},
          {"CAPTURE", files},
          {"A", files},
          {"B", files},
          {"PREFIX", {{}, false, true, false}},
          {"DIR", {{}, false, true, false}},
          {"GROUPS", groups()},
          {"CERTIFICATES", certificates},
          {"SPEC", specs},
          {"spec", specs_or_files}};
}

}  // namespace

manual::Facts manual_facts() {
  manual::Facts facts;
  facts.version = version_string();
  facts.date = commit_date();
  facts.exit_status =
      "0 fine, 1 a stated threshold failed or more transactions failed than is allowed, 2 usage, 3 unusable input or "
      "environment.";
  facts.files = {
      {"results/NAME-TIME/",
       "A result folder: manifest.json, spec.toml, transactions.csv, client.csv, resources.csv, summary.json, "
       "report.html, report.md, tables/, plots/, and captures/ with the keys inside, readable by their owner alone.",
       {"lab", "analyze", "report", "compare", "model"}},
      {"../lib/tlstrata/tlstrata-provider.so",
       "OpenSSL provider with the group X25519MLKEM512, looked for beside the program and there.",
       {"lab", "load", "serve", "serve origin", "serve proxy", "handshake", "doctor"}},
      {"/etc/ssl/certs", "The system's roots, which certificates are verified against without --ca.", {"load"}},
  };
  facts.environment = {
      {"TLSTRATA_NGINX", "The nginx to measure, in place of the one on the PATH.", {"lab", "doctor"}},
      {"TLSTRATA_HAPROXY", "The HAProxy to measure, likewise.", {"lab", "doctor"}},
      {"SSL_CERT_FILE, SSL_CERT_DIR", "Other roots than the system's, as OpenSSL reads them.", {"load"}},
  };
  facts.see_also = {"openssl(1)", "nginx(8)", "tshark(1)", "tc-netem(8)"};
  facts.vocabularies = vocabularies();
  return facts;
}

bool wants_manual(int argc, char** argv) {
  return argc == 3 && argv[1] == std::string_view("--write-manual");
}

int write_manual(CLI::App& app, const char* folder, const manual::Facts& facts) {
  const Checked<void> written = manual::write(app, facts, folder);
  if (!written) {
    fmt::print(stderr, "{}\n", describe(written.error()));
    return static_cast<int>(written.error().exit_code);
  }
  return static_cast<int>(ExitCode::fine);
}

}  // namespace tlstrata::cli
