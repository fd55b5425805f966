#include "cli/handshake_callgrind.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/handshake_output.h"
#include "cli/handshake_regression.h"
#include "handshake/run.h"
#include "io/child.h"
#include "io/output_file.h"
#include "load/groups.h"
#include "ossl/version.h"
#include "report/json.h"
#include "testbed/process.h"

namespace tlstrata::cli {
namespace {

// OpenSSL chooses code by CPU: this leaves it AES-NI, PCLMULQDQ and SSSE3, which every x86-64 machine in question has.
constexpr const char* default_capabilities = "0x7ed8320b078bffff:0";
// Under callgrind a handshake takes some 50 times as long.
constexpr std::uint32_t most_counted = 100;

std::string environment(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

// A folder that goes with its object.
class Scratch {
 public:
  Scratch() {
    std::string name = std::filesystem::temp_directory_path() / "tlstrata-callgrind-XXXXXX";
    path_ = ::mkdtemp(name.data()) != nullptr ? name : std::string();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Checked<InstructionCounts> count_one(const handshake::Configuration& configuration, std::uint32_t handshakes, bool cold,
                                     const std::filesystem::path& valgrind, const std::filesystem::path& output,
                                     const std::string& capabilities) {
  std::error_code ignored;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  std::vector<std::string> argv{valgrind,
                                "--tool=callgrind",
                                "--quiet",
                                fmt::format("--callgrind-out-file={}", output.string()),
                                "--toggle-collect=tlstrata_client_turn",
                                "--toggle-collect=tlstrata_server_turn",
                                "--compress-strings=no",
                                "--compress-pos=no",
                                self,
                                "handshake",
                                "--count",
                                std::to_string(handshakes)};
  for (std::string& word : arguments_of(configuration)) {
    argv.push_back(std::move(word));
  }
  if (cold) {
    argv.emplace_back("--cold");
  }
  auto child = io::Child::start(argv, {"OPENSSL_ia32cap=" + capabilities});
  if (!child) {
    return std::unexpected(child.error());
  }
  if (const int code = child->wait(); code != 0) {
    return std::unexpected(Complaint{fmt::format("the handshakes under callgrind ended with {}", code),
                                     configuration.name, "see what was said above", ExitCode::unusable});
  }
  std::ifstream file(output);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  InstructionCounts counts{configuration.name, {}};
  counts.per_handshake = {inclusive_instructions(text, "tlstrata_client_turn") / handshakes,
                          inclusive_instructions(text, "tlstrata_server_turn") / handshakes};
  if (counts.per_handshake[0] <= 0 || counts.per_handshake[1] <= 0) {
    return std::unexpected(Complaint{"callgrind did not find the functions to count in", self,
                                     "use a program that keeps its symbols", ExitCode::unusable});
  }
  return counts;
}

report::Json document_of(const HandshakeArguments& arguments, const std::vector<InstructionCounts>& counts,
                         std::uint32_t handshakes, const std::string& capabilities) {
  report::Json document = report::open_document("handshake");
  document["openssl"] = ossl::library_version();
  document["under"] = arguments.under;
  document["OPENSSL_ia32cap"] = capabilities.empty() ? report::Json(nullptr) : report::Json(capabilities);
  document["handshakes"] = handshakes;
  report::Json& all = document["configurations"] = report::Json::array();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const handshake::Configuration& configuration = arguments.plan.configurations[i];
    all.push_back({{"name", configuration.name},
                   {"certificate", ossl::key_kind_name(configuration.certificate)},
                   {"groups", configuration.offer},
                   {"key_shares", load::joined_names(configuration.key_shares)},
                   {"server_groups", configuration.server_list},
                   {"client", {{"instructions", counts[i].per_handshake[0]}}},
                   {"server", {{"instructions", counts[i].per_handshake[1]}}},
                   {"both", {{"instructions", counts[i].per_handshake[0] + counts[i].per_handshake[1]}}}});
  }
  return document;
}

std::string table_of(const std::string& how, const std::vector<InstructionCounts>& counts, std::uint32_t handshakes,
                     const std::string& capabilities) {
  Columns table;
  table.add({"instructions a handshake", "client", "ratio", "server", "ratio"});
  for (const InstructionCounts& each : counts) {
    std::vector<std::string> row{for_terminal(each.name)};
    for (std::size_t side = 0; side < handshake::side_count; ++side) {
      row.push_back(grouped(static_cast<std::int64_t>(each.per_handshake[side])));
      row.push_back(fmt::format("{:.2f}", each.per_handshake[side] / counts.front().per_handshake[side]));
    }
    table.add(std::move(row));
  }
  return fmt::format("{}, {}, {} handshakes each, OPENSSL_ia32cap={}\n\n{}", ossl::library_version(), how, handshakes,
                     capabilities.empty() ? "the processor's" : capabilities, table.text());
}

}  // namespace

double inclusive_instructions(const std::string& output, const std::string& function) {
  double sum = 0;
  bool inside = false;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("fn=")) {
      inside = line.substr(3) == function;
      continue;
    }
    // "LINE COST", of the function itself or, after a line of calls, of what was called.
    if (!inside || line.empty() || line.front() < '0' || line.front() > '9') {
      continue;
    }
    const std::size_t blank = line.find(' ');
    double cost = 0;
    if (blank != std::string::npos &&
        std::from_chars(line.data() + blank + 1, line.data() + line.size(), cost).ec == std::errc()) {
      sum += cost;
    }
  }
  return sum;
}

Checked<ExitCode> count_handshakes(const HandshakeArguments& arguments) {
  auto run = handshake::Run::prepare(arguments.plan);
  if (!run) {
    return std::unexpected(run.error());
  }
  if (auto counted = run->count(0, arguments.count); !counted) {
    return std::unexpected(counted.error());
  }
  return ExitCode::fine;
}

Checked<ExitCode> run_handshake_callgrind(const HandshakeArguments& arguments) {
  const auto valgrind = testbed::find_program("valgrind", environment("PATH", "/usr/bin"));
  if (!valgrind) {
    return std::unexpected(Complaint{"no valgrind", "PATH", "install the package valgrind", ExitCode::unusable});
  }
  const std::string capabilities = environment("OPENSSL_ia32cap", default_capabilities);
  const std::uint32_t handshakes = std::min(arguments.plan.handshakes, most_counted);
  const Scratch scratch;
  std::vector<InstructionCounts> counts;
  for (const handshake::Configuration& configuration : arguments.plan.configurations) {
    auto one = count_one(configuration, handshakes, arguments.plan.options.cold, *valgrind, scratch.path() / "out",
                         capabilities);
    if (!one) {
      return std::unexpected(one.error());
    }
    counts.push_back(std::move(*one));
  }
  const report::Json document = document_of(arguments, counts, handshakes, capabilities);
  return finish_handshake(arguments, document, table_of("callgrind", counts, handshakes, capabilities));
}

Checked<ExitCode> run_handshake_counters(const HandshakeArguments& arguments) {
  const auto counter = handshake::InstructionCounter::open();
  if (!counter) {
    return std::unexpected(complain(counter.error(), "perf_event_open", "use --under callgrind"));
  }
  auto run = handshake::Run::prepare(arguments.plan);
  if (!run) {
    return std::unexpected(run.error());
  }
  std::vector<InstructionCounts> counts;
  for (std::size_t i = 0; i < arguments.plan.configurations.size(); ++i) {
    const auto one = run->instructions(i, arguments.plan.handshakes, *counter);
    if (!one) {
      return std::unexpected(one.error());
    }
    counts.push_back({arguments.plan.configurations[i].name, *one});
  }
  const std::string capabilities = environment("OPENSSL_ia32cap", "");
  return finish_handshake(arguments, document_of(arguments, counts, arguments.plan.handshakes, capabilities),
                          table_of("hardware counter", counts, arguments.plan.handshakes, capabilities));
}

}  // namespace tlstrata::cli
