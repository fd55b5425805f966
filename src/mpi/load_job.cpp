#include "mpi/load_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "report/json.h"

namespace tlstrata::mpi {
namespace {

using report::Json;

Json to_json(const ClockOffset& offset) {
  return {{"at_ns", offset.at_ns}, {"offset_ns", offset.offset_ns}, {"uncertainty_ns", offset.uncertainty_ns}};
}

ClockOffset clock_of(const Json& json) {
  return {json.value("at_ns", Nanos{0}), json.value("offset_ns", Nanos{0}), json.value("uncertainty_ns", Nanos{0})};
}

Json to_json(const load::FailureCounts& failures) {
  Json json = Json::array();
  for (const auto& [failure, count] : failures) {
    json.push_back({{"outcome", load::name(failure.first)}, {"reason", failure.second}, {"count", count}});
  }
  return json;
}

load::FailureCounts failures_of(const Json& json) {
  load::FailureCounts failures;
  for (const Json& one : json) {
    const auto* const name = std::ranges::find(load::outcome_names, one.value("outcome", std::string()));
    if (name != load::outcome_names.end()) {
      const auto outcome = static_cast<load::Outcome>(name - load::outcome_names.begin());
      failures[{outcome, one.value("reason", std::string())}] += one.value("count", std::uint64_t{0});
    }
  }
  return failures;
}

Checked<Json> read_json(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Json json = Json::parse(text, nullptr, false);
  if (!file || !json.is_object()) {
    return std::unexpected(Complaint{"cannot read a job's file", path, "name the folder of a `tlstrata-mpi load`"});
  }
  return json;
}

std::string end_path(const std::string& folder, std::uint32_t rank) {
  return fmt::format("{}/rank-{}.json", folder, rank);
}

}  // namespace

Checked<void> Job::save(const std::string& folder) const {
  Json document = report::open_document("load");
  document["plan"] = plan;
  document["start_ns"] = start_ns;
  Json& list = document["ranks"] = Json::array();
  for (const RankFacts& rank : ranks) {
    Json& json = list.emplace_back();
    json["host"] = rank.host;
    json["pid"] = rank.pid;
    json["clock_before"] = to_json(rank.before);
    json["clock_after"] = rank.after ? to_json(*rank.after) : Json();
    json["lost"] = rank.lost;
  }
  return report::write_json(folder + "/job.json", document);
}

Checked<Job> Job::read(const std::string& folder) {
  const auto document = read_json(folder + "/job.json");
  if (!document) {
    return std::unexpected(document.error());
  }
  Job job;
  job.plan = document->value("plan", std::string());
  job.start_ns = document->value("start_ns", Nanos{0});
  for (const Json& json : document->value("ranks", Json::array())) {
    RankFacts& rank = job.ranks.emplace_back();
    rank.host = json.value("host", std::string());
    rank.pid = json.value("pid", std::int64_t{0});
    rank.before = clock_of(json.value("clock_before", Json::object()));
    if (json.contains("clock_after") && json["clock_after"].is_object()) {
      rank.after = clock_of(json["clock_after"]);
    }
    rank.lost = json.value("lost", std::string());
  }
  return job;
}

std::string Job::name_of(std::uint32_t rank) const {
  return fmt::format("rank {} on {}", rank, ranks[rank].host);
}

Checked<void> RankEnd::save(const std::string& folder, std::uint32_t rank) const {
  Json document = report::open_document("load");
  document["rank"] = rank;
  document["failures"] = to_json(failures);
  document["warmup_failures"] = to_json(warm_up_failures);
  document["warmup"] = warm_up;
  document["elapsed_ns"] = elapsed_ns;
  document["user_ns"] = cpu.user_ns;
  document["system_ns"] = cpu.system_ns;
  document["spin_ns"] = spun_ns;
  document["split_clock_ns"] = split_cost_ns;
  document["cancelled"] = cancelled;
  document["trouble"] = trouble;
  document["capture"] = {{"file", capture}, {"packets", packets}, {"dropped", dropped}};
  return report::write_json(end_path(folder, rank), document);
}

Checked<std::optional<RankEnd>> RankEnd::read(const std::string& folder, std::uint32_t rank) {
  if (::access(end_path(folder, rank).c_str(), F_OK) != 0) {
    return std::nullopt;
  }
  const auto document = read_json(end_path(folder, rank));
  if (!document) {
    return std::unexpected(document.error());
  }
  RankEnd end;
  end.failures = failures_of(document->value("failures", Json::array()));
  end.warm_up_failures = failures_of(document->value("warmup_failures", Json::array()));
  end.warm_up = document->value("warmup", std::uint64_t{0});
  end.elapsed_ns = document->value("elapsed_ns", Nanos{0});
  end.cpu = {document->value("user_ns", Nanos{0}), document->value("system_ns", Nanos{0})};
  end.spun_ns = document->value("spin_ns", Nanos{0});
  end.split_cost_ns = document->value("split_clock_ns", Nanos{0});
  end.cancelled = document->value("cancelled", false);
  end.trouble = document->value("trouble", std::string());
  const Json capture = document->value("capture", Json::object());
  end.capture = capture.value("file", std::string());
  end.packets = capture.value("packets", std::uint64_t{0});
  end.dropped = capture.value("dropped", std::uint64_t{0});
  return end;
}

std::string rank_file(const std::string& folder, const std::string& path, std::uint32_t rank) {
  const std::filesystem::path given(path);
  const std::string name = fmt::format("{}.rank-{}{}", given.stem().string(), rank, given.extension().string());
  return (given.has_parent_path() ? given.parent_path() : std::filesystem::path(folder)) / name;
}

}  // namespace tlstrata::mpi
