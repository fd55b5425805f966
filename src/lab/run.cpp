#include "lab/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include "base/version.h"
#include "io/clock.h"
#include "io/output_file.h"
#include "lab/block.h"
#include "lab/continuation.h"
#include "lab/folder_analysis.h"
#include "lab/ladders.h"
#include "lab/machine.h"
#include "lab/manifest.h"
#include "lab/warnings.h"
#include "lab/workspace.h"
#include "ossl/version.h"
#include "report/output_file.h"
#include "report/resources_csv.h"
#include "report/samples_csv.h"
#include "report/transactions_csv.h"
#include "testbed/privileges.h"

namespace tlstrata::lab {
namespace {

namespace fs = std::filesystem;

// How often the manifest is written anew while blocks run: what a killed run leaves is at most this old.
constexpr Nanos manifest_period_ns = 2 * nanos_per_second;
// What a block takes beside its schedule (client, capture); for the first guess at the time left.
constexpr Nanos block_overhead_ns = 300 * nanos_per_millisecond;

std::string utc_text(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  return std::string(text.data(), std::strftime(text.data(), text.size(), format, &utc));
}

// The clients' own rows, block after block, under one header.
Checked<void> join_client_rows(const std::vector<fs::path>& files, const fs::path& path) {
  Checked<io::OutputFile> output = io::OutputFile::create(path.string());
  if (!output) {
    return std::unexpected(output.error());
  }
  bool first = true;
  for (const fs::path& file : files) {
    const Checked<std::string> text = report::read_file(file, "run again with --keep-work");
    if (!text) {
      return std::unexpected(text.error());
    }
    std::string_view rows = *text;
    if (!first) {
      rows.remove_prefix(std::min(rows.size(), rows.find('\n') + 1));
    }
    first = false;
    if (auto written = output->write(rows); !written) {
      return written;
    }
  }
  return output->finish();
}

class Experiment {
 public:
  Experiment(const RunOptions& options, Workspace workspace)
      : options_(options), workspace_(std::move(workspace)), plan_(make_plan(options.spec)), stop_(options.stop) {}

  Checked<RunResult> run(testbed::Privileges privileges);

 private:
  Checked<void> set_up(testbed::Privileges privileges);
  Checked<void> measure();
  void add(BlockResult block);
  Checked<void> take_up();
  [[nodiscard]] bool is_done(const PlannedBlock& planned) const;
  Checked<void> keep_logs() const;
  Checked<void> write_resources() const;
  Checked<void> keep_up();
  Checked<void> write_measured();
  Checked<std::vector<std::string>> write_transactions(const report::Manifest& manifest);
  Checked<RunResult> evaluate();
  void tell(Phase phase, std::string cell = {}) const;
  [[nodiscard]] Nanos left_ns() const;
  [[nodiscard]] const fs::path& folder() const { return workspace_.folder(); }

  const RunOptions& options_;
  Workspace workspace_;
  Plan plan_;
  StopFlag stop_;
  Manifest manifest_;
  std::optional<testbed::Bed> bed_;  // before the servers: they must not outlive it
  std::optional<Servers> servers_;
  std::vector<report::Resource> resources_;
  std::vector<report::ResourceSample> samples_;
  std::vector<fs::path> client_rows_;
  std::uint64_t cut_packets_ = 0;
  Sides sides_;
  Nanos blocks_began_ns_ = 0;      // CLOCK_MONOTONIC
  std::size_t blocks_before_ = 0;  // of an earlier part of this run
  Nanos manifest_written_ns_ = 0;
};

void Experiment::tell(Phase phase, std::string cell) const {
  if (options_.progress) {
    options_.progress(Progress{phase, manifest_.blocks.size(), plan_.blocks.size(), std::move(cell), left_ns()});
  }
}

Nanos Experiment::left_ns() const {
  const auto done = static_cast<Nanos>(manifest_.blocks.size() - blocks_before_);
  const auto left = static_cast<Nanos>(plan_.blocks.size() - manifest_.blocks.size());
  return done == 0 ? left * (options_.spec.block_ns + block_overhead_ns)
                   : (io::monotonic_ns() - blocks_began_ns_) / done * left;
}

Checked<void> Experiment::set_up(testbed::Privileges privileges) {
  tell(Phase::setup);
  manifest_.name = folder().filename().string();
  manifest_.spec_name = options_.spec.name;
  manifest_.started_utc = utc_text("%Y-%m-%dT%H:%M:%SZ");
  if (auto taken = take_up(); !taken) {
    return taken;
  }
  manifest_.seed = options_.spec.seed;
  manifest_.openssl = ossl::library_version();
  const MachineState machine = read_machine_state(folder(), testbed::system_search_path);
  manifest_.clock_source = machine.clock_source.empty() ? "unknown" : machine.clock_source;
  manifest_.machine = machine_facts(machine);
  manifest_.machine["privileges"] = privileges == testbed::Privileges::direct ? "direct" : "user namespace";
  manifest_.cells = plan_.cells;
  manifest_.planned_blocks = plan_.blocks.size();
  manifest_.spec = to_json(options_.spec);

  testbed::BedOptions links;
  links.mtu_bytes = static_cast<int>(options_.spec.mtu);
  links.segmentation_offloads = options_.spec.offloads;
  links.congestion_control = options_.spec.congestion_control;
  links.emulated_client_link =
      std::ranges::any_of(options_.spec.links, [](const LinkChoice& link) { return link.emulated; });
  Checked<testbed::Bed> bed = testbed::Bed::create(links);
  if (!bed) {
    return std::unexpected(bed.error());
  }
  bed_.emplace(std::move(*bed));
  manifest_.machine.update(bed_facts(*bed_));
  Checked<Servers> servers = Servers::start(
      *bed_, options_.spec, plan_, {options_.program, options_.programs, own_openssl_library(), workspace_.work()});
  if (!servers) {
    return std::unexpected(servers.error());
  }
  servers_.emplace(std::move(*servers));
  manifest_.proxy_name = plan_.servers.front().proxy;
  manifest_.proxy_version = servers_->proxy_identity(0).version;
  manifest_.servers = servers_->servers();
  manifest_.commands = servers_->commands();
  return {};
}

// What an earlier part of this run has measured already.
Checked<void> Experiment::take_up() {
  if (options_.continued.empty()) {
    return {};
  }
  Checked<Continuation> before = read_continuation(folder(), workspace_.work(), plan_);
  if (!before) {
    return std::unexpected(before.error());
  }
  manifest_.continued_utc = std::move(before->continued_utc);
  manifest_.continued_utc.push_back(std::exchange(manifest_.started_utc, before->started_utc));
  manifest_.warmup_transactions = before->warmup_transactions;
  manifest_.blocks = std::move(before->blocks);
  blocks_before_ = manifest_.blocks.size();
  resources_ = std::move(before->resources);
  samples_ = std::move(before->samples);
  client_rows_ = std::move(before->client_rows);
  return {};
}

bool Experiment::is_done(const PlannedBlock& planned) const {
  const auto end = manifest_.blocks.begin() + static_cast<std::ptrdiff_t>(blocks_before_);
  return std::any_of(manifest_.blocks.begin(), end, [&](const ManifestBlock& block) {
    return block.block == planned.block && block.cell == plan_.cells[planned.cell].name;
  });
}

// What injected delays really were, for whoever checks a calibration.
Checked<void> Experiment::keep_logs() const {
  for (const auto& [name, header] :
       {std::pair<std::string, std::string>("injections.csv", "client,start_ns,place,delay_ns\n"),
        std::pair<std::string, std::string>("delays.csv", "received_ns,delay_ns\n")}) {
    std::error_code ignored;
    if (!fs::exists(workspace_.work() / name, ignored)) {
      continue;
    }
    const Checked<std::string> rows = report::read_file(workspace_.work() / name, "run again with --keep-work");
    if (!rows) {
      return std::unexpected(rows.error());
    }
    if (auto written = report::write_file(folder() / name, header + *rows); !written) {
      return written;
    }
  }
  return {};
}

Checked<void> Experiment::measure() {
  const Stage stage{&*bed_,
                    &*servers_,
                    &options_.spec,
                    options_.program,
                    folder(),
                    workspace_.work(),
                    {manifest_.machine.value("cpu_model", ""), manifest_.machine.value("kernel", ""),
                     fmt::format("tlstrata {}", version_string())}};
  tell(Phase::warm_up);
  const Checked<std::uint64_t> warmed = warm_up(stage, plan_.cells, stop_);
  if (!warmed) {
    return std::unexpected(warmed.error());
  }
  manifest_.warmup_transactions += *warmed;
  blocks_began_ns_ = io::monotonic_ns();
  for (const PlannedBlock& planned : plan_.blocks) {
    if (stop_.raised()) {
      break;
    }
    if (is_done(planned)) {
      continue;
    }
    const Cell& cell = plan_.cells[planned.cell];
    tell(Phase::blocks, cell.name);
    Checked<std::optional<BlockResult>> block = run_block(stage, cell, planned, stop_);
    if (!block) {
      return std::unexpected(block.error());
    }
    if (!*block) {
      break;
    }
    add(std::move(**block));
    if (auto kept = keep_up(); !kept) {
      return kept;
    }
  }
  return {};
}

// What a killed run is to leave beside its captures. Nothing before the first block: such a run leaves no folder at all.
Checked<void> Experiment::keep_up() {
  if (manifest_written_ns_ == 0) {
    if (auto written = report::write_file(folder() / "spec.toml", options_.spec_text); !written) {
      return written;
    }
  }
  const Nanos now_ns = io::monotonic_ns();
  if (manifest_written_ns_ != 0 && now_ns - manifest_written_ns_ < manifest_period_ns) {
    return {};
  }
  manifest_written_ns_ = now_ns;
  if (auto written = write_resources(); !written) {
    return written;
  }
  return write_manifest(manifest_, folder() / "manifest.json");
}

Checked<void> Experiment::write_resources() const {
  if (auto written = report::write_resources_csv(folder() / "resources.csv", resources_); !written) {
    return written;
  }
  return report::write_samples_csv(folder() / "samples.csv", samples_);
}

void Experiment::add(BlockResult block) {
  manifest_.warmup_transactions += options_.spec.warmup_per_block;
  manifest_.blocks.push_back(std::move(block.manifest));
  std::move(block.resources.begin(), block.resources.end(), std::back_inserter(resources_));
  std::move(block.samples.begin(), block.samples.end(), std::back_inserter(samples_));
  client_rows_.push_back(std::move(block.client_rows));
  cut_packets_ += block.cut_packets;
}

Checked<void> Experiment::write_measured() {
  manifest_.ended_utc = utc_text("%Y-%m-%dT%H:%M:%SZ");
  manifest_.partial = manifest_.blocks.size() != plan_.blocks.size() ||
                      std::any_of(manifest_.blocks.begin(), manifest_.blocks.end(),
                                  [](const ManifestBlock& block) { return block.partial; });
  if (auto written = write_manifest(manifest_, folder() / "manifest.json"); !written) {
    return written;
  }
  if (auto written = write_resources(); !written) {
    return written;
  }
  if (auto kept = keep_logs(); !kept) {
    return kept;
  }
  return join_client_rows(client_rows_, folder() / "client.csv");
}

// What the captures could not tell, as warnings.
Checked<std::vector<std::string>> Experiment::write_transactions(const report::Manifest& manifest) {
  analyze::Options how;
  how.threads = std::max(1U, std::thread::hardware_concurrency());
  FolderAnalysis analysis(folder(), manifest, how);
  auto writer = report::TransactionsWriter::open(folder() / "transactions.csv");
  if (!writer) {
    return std::unexpected(writer.error());
  }
  while (true) {
    const auto row = analysis.next();
    if (!row) {
      return std::unexpected(row.error());
    }
    if (*row == nullptr) {
      break;
    }
    sides_.add(**row);
    if (auto added = writer->add(**row); !added) {
      return std::unexpected(added.error());
    }
  }
  if (auto finished = writer->finish(); !finished) {
    return std::unexpected(finished.error());
  }
  return analysis.warnings();
}

Checked<RunResult> Experiment::evaluate() {
  tell(Phase::analysis);
  const Checked<report::Manifest> manifest = report::read_manifest(folder() / "manifest.json");
  if (!manifest) {
    return std::unexpected(manifest.error());
  }
  const auto warnings = write_transactions(*manifest);
  if (!warnings) {
    return std::unexpected(warnings.error());
  }
  auto sides = sides_.write(folder(), manifest_, std::max(1U, std::thread::hardware_concurrency()));
  if (!sides) {
    return std::unexpected(sides.error());
  }
  // Read back, so that what is printed now is what `tlstrata report` will print of the folder.
  Checked<report::Results> results = report::read_results(folder());
  if (!results) {
    return std::unexpected(results.error());
  }
  if (auto written = report::write_report(folder(), *results, draw_ladders(folder(), *results)); !written) {
    return std::unexpected(written.error());
  }
  RunResult result;
  result.folder = folder();
  result.planned_blocks = plan_.blocks.size();
  result.blocks = manifest_.blocks.size();
  result.partial = manifest_.partial;
  result.sound = is_sound(manifest_, results->summary, cut_packets_);
  result.warnings = warnings_of(manifest_, results->summary, cut_packets_);
  result.warnings.insert(result.warnings.end(), warnings->begin(), warnings->end());
  result.sides = std::move(*sides);
  result.sweeps = sweeps_of(options_.spec, plan_, resources_, results->summary, manifest_.blocks,
                            std::max(1U, std::thread::hardware_concurrency()));
  result.results = std::move(*results);
  return result;
}

Checked<RunResult> Experiment::run(testbed::Privileges privileges) {
  if (auto done = set_up(privileges); !done) {
    return std::unexpected(done.error());
  }
  const Checked<void> measured = measure();
  servers_.reset();
  bed_.reset();
  if (manifest_.blocks.empty()) {
    return std::unexpected(
        measured ? Complaint{"stopped before the first block had ended", "", "nothing was kept", ExitCode::failed}
                 : measured.error());
  }
  const Checked<void> written = write_measured();
  if (!measured || !written) {
    Complaint complaint = measured ? written.error() : measured.error();
    complaint.remedy +=
        fmt::format("; the {} blocks before it are kept in {}", manifest_.blocks.size(), folder().string());
    return std::unexpected(std::move(complaint));
  }
  return evaluate();
}

}  // namespace

Checked<RunResult> run(const RunOptions& options) {
  const Checked<ExclusiveLab> alone = ExclusiveLab::acquire();
  if (!alone) {
    return std::unexpected(alone.error());
  }
  const Checked<testbed::Privileges> privileges = testbed::enter_user_namespace_if_needed();
  if (!privileges) {
    return std::unexpected(privileges.error());
  }
  // First, so that the folder that is taken up is not among those that are cleaned.
  Checked<Workspace> workspace =
      options.continued.empty()
          ? Workspace::create(options.out, options.spec.name, utc_text("%Y%m%dT%H%M%SZ"), options.keep_work)
          : Workspace::reopen(options.continued, options.keep_work);
  if (!workspace) {
    return std::unexpected(workspace.error());
  }
  std::vector<fs::path> cleaned_up = clean_up_killed_runs(options.out);
  Checked<RunResult> result = Experiment(options, std::move(*workspace)).run(*privileges);
  if (result) {
    result->cleaned_up = std::move(cleaned_up);
  }
  return result;
}

}  // namespace tlstrata::lab
