#include "cli/handshake_workers.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "cli/handshake_progress.h"
#include "cli/handshake_regression.h"
#include "cli/handshake_wire.h"
#include "handshake/figures.h"
#include "handshake/run.h"
#include "io/child.h"
#include "lab/servers.h"
#include "ossl/version.h"
#include "report/json.h"

namespace tlstrata::cli {
namespace {

using report::Json;

struct Worker {
  std::string prefix;
  std::vector<io::Child> children;  // one for each configuration of the plan
  std::string library;              // "OpenSSL 3.5.7 9 Jun 2026"
};

// Where a prefix has its libssl; the prefix itself may be that folder.
Checked<std::filesystem::path> library_folder(const std::string& prefix) {
  for (const char* const below : {"lib64", "lib", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "."}) {
    const std::filesystem::path folder = std::filesystem::path(prefix) / below;
    std::error_code ignored;
    if (std::filesystem::exists(folder / "libssl.so.3", ignored)) {
      return std::filesystem::canonical(folder, ignored);
    }
  }
  return std::unexpected(Complaint{"no libssl.so.3 in it or its lib", "--openssl " + prefix,
                                   "give the prefix of an OpenSSL with shared libraries"});
}

Checked<Json> read_json(io::Child& child) {
  const auto line = child.read_line();
  if (!line) {
    return std::unexpected(line.error());
  }
  Json json = *line ? Json::parse(**line, nullptr, false) : Json();
  if (!json.is_object()) {
    return std::unexpected(Complaint{"a worker ended early", "--openssl", "see what it said above", ExitCode::failed});
  }
  return json;
}

std::string text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Checked<handshake::FirstLook> start_worker(const HandshakeArguments& arguments,
                                           const handshake::Configuration& configuration, Worker& worker) {
  const auto folder = library_folder(worker.prefix);
  if (!folder) {
    return std::unexpected(folder.error());
  }
  std::error_code ignored;
  std::vector<std::string> argv{std::filesystem::read_symlink("/proc/self/exe", ignored),
                                "handshake",
                                "--worker",
                                "--transport",
                                arguments.transport,
                                "--account",
                                arguments.account};
  for (std::string& word : arguments_of(configuration)) {
    argv.push_back(std::move(word));
  }
  if (arguments.plan.options.cold) {
    argv.emplace_back("--cold");
  }
  const char* const others = std::getenv("LD_LIBRARY_PATH");
  auto child =
      io::Child::start(argv, {"LD_LIBRARY_PATH=" + folder->string() +
                              (others != nullptr && *others != '\0' ? ":" : "") + (others != nullptr ? others : "")});
  if (!child) {
    return std::unexpected(child.error());
  }
  const auto opening = read_json(*child);
  if (!opening) {
    return std::unexpected(opening.error());
  }
  worker.library = text_of(*opening, "openssl");
  const std::filesystem::path loaded = text_of(*opening, "library");
  if (!std::filesystem::equivalent(loaded, *folder, ignored)) {
    return std::unexpected(Complaint{"a worker has another OpenSSL than it should: " + loaded.string(),
                                     "--openssl " + worker.prefix, "unset LD_PRELOAD, or build without RPATH"});
  }
  const auto json = read_json(*child);
  if (!json) {
    return std::unexpected(json.error());
  }
  worker.children.push_back(std::move(*child));
  return decode_first(*json);
}

// "OpenSSL 3.5.7" of "OpenSSL 3.5.7 9 Jun 2026".
std::string short_version(const std::string& library) {
  return library.substr(0, library.find(' ', library.find(' ') + 1));
}

Checked<handshake::MeasuredBlock> ask(io::Child& child, const handshake::Planned& planned) {
  if (auto asked = child.write(fmt::format("{} {}\n", planned.run, planned.handshakes)); !asked) {
    return std::unexpected(asked.error());
  }
  const auto json = read_json(child);
  if (!json) {
    return std::unexpected(json.error());
  }
  return decode_block(*json);
}

}  // namespace

Checked<HandshakeResults> measure_with_workers(const HandshakeArguments& arguments) {
  std::vector<Worker> workers;
  HandshakeResults results;
  handshake::Plan plan = arguments.plan;
  plan.configurations.clear();
  for (const std::string& prefix : arguments.prefixes) {
    Worker& worker = workers.emplace_back();
    worker.prefix = prefix;
    for (handshake::Configuration configuration : arguments.plan.configurations) {
      auto first = start_worker(arguments, configuration, worker);
      if (!first) {
        return std::unexpected(first.error());
      }
      configuration.name += fmt::format(" [{}{}]", short_version(worker.library),
                                        workers.size() > 1 ? fmt::format(", {}", workers.size()) : "");
      results.measured.push_back({configuration, std::move(*first), {}, {}, {}});
      plan.configurations.push_back(std::move(configuration));
    }
  }
  const auto order = handshake::block_order(plan);
  HandshakeProgress progress;
  for (std::size_t next = 0; next < order.size(); ++next) {
    const std::size_t each = arguments.plan.configurations.size();
    Worker& worker = workers[order[next].configuration / each];
    auto block = ask(worker.children[order[next].configuration % each], order[next]);
    if (!block) {
      progress.clear();
      return std::unexpected(block.error());
    }
    add(std::move(*block), results.measured[order[next].configuration]);
    progress.show(static_cast<double>(next + 1) / static_cast<double>(order.size()));
  }
  progress.clear();
  for (const Worker& worker : workers) {
    results.libraries.push_back(worker.library + " of " + worker.prefix);
  }
  results.figures = handshake::figures_of(results.measured, plan.seed);
  return results;
}

Checked<ExitCode> serve_blocks(const HandshakeArguments& arguments) {
  auto run = handshake::Run::prepare(arguments.plan);
  if (!run) {
    return std::unexpected(run.error());
  }
  const auto say = [](const Json& json) { std::cout << json.dump() << '\n' << std::flush; };
  say({{"openssl", ossl::library_version()}, {"library", lab::own_openssl_library().string()}});
  say(encode(run->first(0)));
  handshake::Planned planned;
  while (std::cin >> planned.run >> planned.handshakes) {
    const auto block = run->measure(planned);
    if (!block) {
      return std::unexpected(block.error());
    }
    say(encode(*block));
  }
  return ExitCode::fine;
}

}  // namespace tlstrata::cli
