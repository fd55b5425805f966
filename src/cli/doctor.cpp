// `tlstrata doctor`: what on this machine disturbs a measurement or is missing.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/iana.h"
#include "base/text.h"
#include "cli/cli.h"
#include "lab/bed_trial.h"
#include "lab/machine_state.h"
#include "lab/servers.h"
#include "ossl/groups.h"
#include "ossl/provider.h"
#include "ossl/version.h"
#include "report/json.h"

namespace tlstrata::cli {
namespace {

constexpr const char* footer =
    "Says what on this machine disturbs a measurement or is missing, what that means and what to do about it.\n"
    "Makes a test bed for a moment to see what is really allowed; changes nothing.\n\n"
    "Examples:\n"
    "  tlstrata doctor\n"
    "  tlstrata doctor --json - | jq '.findings[] | select(.verdict != \"ok\")'\n\n"
    "Exit codes: 0 lab can run here, 3 something that it needs is missing.\n";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// As lab looks for it: ./run setup puts a private one below the checkout, whose build/<preset> this program is in.
lab::ProgramSearch nginx_search() {
  std::error_code ignored;
  const std::filesystem::path build = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  return {environment("TLSTRATA_NGINX"),
          {build.parent_path().parent_path(), build},
          environment("PATH"),
          environment("TLSTRATA_HAPROXY")};
}

lab::Finding openssl_finding() {
  std::vector<std::string> groups;
  const bool has_provider = ossl::find_provider().has_value();
  for (const ossl::LibraryGroup& group : ossl::supported_groups()) {
    if (has_provider || !ossl::needs_provider(group.code)) {
      groups.push_back(group_name(group.code));
    }
  }
  return lab::judge_openssl(ossl::library_version(), groups);
}

void print_table(const lab::Findings& findings) {
  std::size_t width = 0;
  for (const lab::Finding& finding : findings) {
    width = std::max(width, finding.name.size());
  }
  const bool colours = isatty(STDOUT_FILENO) == 1;
  for (const lab::Finding& finding : findings) {
    constexpr std::array<const char*, 3> colour_of = {"\x1b[32m", "\x1b[33m", "\x1b[31m"};
    const char* colour = colours ? colour_of.at(static_cast<std::size_t>(finding.verdict)) : "";
    fmt::print("{}{:<7}{}  {:<{}}  {}\n", colour, lab::verdict_name(finding.verdict), colours ? "\x1b[0m" : "",
               finding.name, width, for_terminal(finding.state));
    if (!finding.meaning.empty()) {
      fmt::print("{:<{}}{}\n", "", width + 11, for_terminal(finding.meaning));
    }
    if (!finding.remedy.empty()) {
      fmt::print("{:<{}}-> {}\n", "", width + 11, for_terminal(finding.remedy));
    }
  }
}

void print_conclusion(const lab::Findings& findings) {
  std::string lacking;
  for (const lab::Finding& finding : findings) {
    if (finding.required && finding.verdict == lab::Verdict::missing) {
      lacking += (lacking.empty() ? "" : ", ") + finding.name;
    }
  }
  const auto warnings = std::ranges::count(findings, lab::Verdict::warn, &lab::Finding::verdict);
  if (!lacking.empty()) {
    fmt::print("\nlab cannot run here; it lacks: {}\n", lacking);
  } else if (warnings == 0) {
    fmt::print("\nlab can run here\n");
  } else {
    fmt::print("\nlab can run here; {} of the above {} its figures\n", warnings, warnings == 1 ? "affects" : "affect");
  }
}

report::Json document_of(const lab::Findings& findings) {
  report::Json document = report::open_document("doctor");
  document["can_run_lab"] = lab::can_run_lab(findings);
  document["findings"] = report::Json::array();
  for (const lab::Finding& finding : findings) {
    document["findings"].push_back({{"name", finding.name},
                                    {"verdict", lab::verdict_name(finding.verdict)},
                                    {"required", finding.required},
                                    {"state", finding.state},
                                    {"meaning", finding.meaning},
                                    {"remedy", finding.remedy}});
  }
  return document;
}

Checked<ExitCode> run(const std::string& json) {
  // The machine first: the trial would be seen as load.
  const lab::MachineState machine = lab::read_machine_state(std::filesystem::current_path(), environment("PATH"));
  const Checked<lab::BedTrial> trial = lab::try_bed(nginx_search(), lab::own_openssl_library());
  if (!trial) {
    return std::unexpected(trial.error());
  }
  lab::Findings findings = {openssl_finding()};
  for (const lab::Findings& more : {lab::judge(*trial), lab::judge(machine)}) {
    findings.insert(findings.end(), more.begin(), more.end());
  }
  if (!json.empty()) {
    if (auto written = report::write_json(json, document_of(findings)); !written) {
      return std::unexpected(written.error());
    }
  }
  if (json != "-") {
    print_table(findings);
    print_conclusion(findings);
  }
  return lab::can_run_lab(findings) ? ExitCode::fine : ExitCode::unusable;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("doctor", "Says what here disturbs a measurement or is missing");
  command->footer(footer);
  auto json = std::make_shared<std::string>();
  command->add_option("--json", *json, "the findings as JSON; - for standard output")->type_name("FILE");
  command->callback([json, &action] { action = [json] { return run(*json); }; });
}

}  // namespace tlstrata::cli
