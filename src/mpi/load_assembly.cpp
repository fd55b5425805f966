#include "mpi/load_assembly.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/version.h"
#include "io/clock.h"
#include "load/record.h"
#include "load/worker.h"
#include "mpi/load_records.h"
#include "mpi/tags.h"
#include "ossl/version.h"
#include "report/json.h"

namespace tlstrata::mpi {
namespace {

using report::Json;

// Ranks that say the same here understand each other's bytes.
std::string version_in_words() {
  return fmt::format("tlstrata {}, {}, layout {}.{}", version_string(), ossl::library_version(), sizeof(load::Record),
                     sizeof(load::Progress));
}

// Another version's message may be anything.
Json read(const std::string& bytes) {
  Json json = Json::parse(bytes, nullptr, false);
  return json.is_object() ? json : Json::object();
}

Complaint silent(const std::string& name, std::string_view doing, Nanos timeout_ns) {
  return {fmt::format("a rank did not {} within {:.0f} s", doing, static_cast<double>(timeout_ns) / 1e9), name,
          "see whether its machine lives, or give a longer --rank-timeout"};
}

}  // namespace

Assembly::Assembly(Communicator& communicator, Job& job, Nanos timeout_ns)
    : mpi_(communicator), job_(job), timeout_ns_(timeout_ns) {}

Checked<void> Assembly::introduce() {
  const Nanos deadline_ns = io::monotonic_ns() + timeout_ns_;
  const std::string own = version_in_words();
  Checked<void> result;
  for (int other = 1; other < mpi_.size(); ++other) {
    const auto message = mpi_.receive(other, tag_hello, std::max<Nanos>(0, deadline_ns - io::monotonic_ns()));
    if (!message) {
      all_answered_ = false;
      return std::unexpected(silent(fmt::format("rank {}", other), "report", timeout_ns_));
    }
    const Json hello = read(message->bytes);
    const auto index = static_cast<std::uint32_t>(other);
    job_.ranks[index].host = hello.value("host", std::string("?"));
    job_.ranks[index].pid = hello.value("pid", std::int64_t{0});
    const std::string theirs = hello.value("version", std::string("an unknown version"));
    if (theirs != own && result) {
      result =
          std::unexpected(Complaint{"ranks are of different versions",
                                    fmt::format("{}: {}; {}: {}", job_.name_of(0), own, job_.name_of(index), theirs),
                                    "install one version on all machines"});
    }
  }
  return result;
}

void Assembly::tell_folder(const SharedFolder& folder) {
  const Json json = {{"folder", folder.path}, {"token", folder.token}};
  for (int other = 1; other < mpi_.size(); ++other) {
    mpi_.send(other, tag_folder, json.dump());
  }
}

Checked<void> Assembly::await_ready(const std::string& folder, Nanos timeout_ns) {
  const Nanos deadline_ns = io::monotonic_ns() + timeout_ns;
  Checked<void> result;
  const auto note = [&](Complaint complaint) {
    if (result) {
      result = std::unexpected(std::move(complaint));
    }
  };
  for (int other = 1; other < mpi_.size(); ++other) {
    const auto index = static_cast<std::uint32_t>(other);
    const std::string name = job_.name_of(index);
    const auto message = mpi_.receive(other, tag_ready, std::max<Nanos>(0, deadline_ns - io::monotonic_ns()));
    if (!message) {
      all_answered_ = false;
      note(silent(name, "get ready", timeout_ns));
      continue;
    }
    const Json ready = read(message->bytes);
    if (ready.contains("what")) {
      note({ready.value("what", std::string()), name + ": " + ready.value("where", std::string()),
            ready.value("remedy", std::string()), static_cast<ExitCode>(ready.value("code", 3))});
    } else if (ready.value("plan", std::string()) != job_.plan) {
      note({"ranks have different plans",
            fmt::format("{}: {}; {}: {}", job_.name_of(0), job_.plan, name, ready.value("plan", std::string())),
            "give all ranks the same options", ExitCode::usage});
    } else if (::access(records_path(folder, index).c_str(), R_OK) != 0) {
      note(complain_errno("rank 0 cannot read another rank's file", name + ": " + records_path(folder, index),
                          "give --out a folder on a file system that all ranks share"));
    }
  }
  return result;
}

void Assembly::agree() {
  for (int other = 1; other < mpi_.size(); ++other) {
    mpi_.send(other, tag_verdict, "ready");
  }
}

Checked<void> Assembly::compare_clocks(const RankClock& clock, Nanos timeout_ns) {
  for (int other = 1; other < mpi_.size(); ++other) {
    const auto index = static_cast<std::uint32_t>(other);
    const auto measured = measure_clock(mpi_, clock, other, timeout_ns);
    if (!measured) {
      all_answered_ = false;
      return std::unexpected(silent(job_.name_of(index), "tell its time", timeout_ns));
    }
    job_.ranks[index].before = *measured;
  }
  return {};
}

Nanos Assembly::start(const RankClock& clock) {
  // Long enough for the message to reach all of them.
  const Nanos lead_ns = 200 * nanos_per_millisecond + mpi_.size() * nanos_per_millisecond;
  const Nanos start_ns = clock.now_ns() + lead_ns;
  for (int other = 1; other < mpi_.size(); ++other) {
    const Json json = {{"start_ns", start_ns + job_.ranks[static_cast<std::size_t>(other)].before.offset_ns}};
    mpi_.send(other, tag_go, json.dump());
  }
  return start_ns;
}

void Assembly::stop(int tag) {
  for (int other = 1; other < mpi_.size(); ++other) {
    mpi_.send(other, tag, "stop");
  }
}

std::unexpected<Complaint> Attendance::no_leader() {
  leader_lives_ = false;
  return std::unexpected(Complaint{"rank 0 says nothing", fmt::format("rank {} on {}", mpi_.rank(), mpi_.host()),
                                   "see whether its machine lives"});
}

Checked<SharedFolder> Attendance::introduce() {
  const Json hello = {{"version", version_in_words()}, {"host", mpi_.host()}, {"pid", ::getpid()}};
  mpi_.send(0, tag_hello, hello.dump());
  const auto message = mpi_.receive(0, tag_folder, timeout_ns_);
  if (!message) {
    return no_leader();
  }
  const Json folder = read(message->bytes);
  if (!folder.contains("folder")) {
    return std::unexpected(Complaint{"rank 0 gave up", "tlstrata-mpi load", "see what it says"});
  }
  return SharedFolder{folder.value("folder", std::string()), folder.value("token", std::string())};
}

Checked<Nanos> Attendance::await_start(const Checked<std::string>& plan, const RankClock& clock) {
  Json ready;
  if (plan) {
    ready["plan"] = *plan;
  } else {
    ready = {{"what", plan.error().what},
             {"where", plan.error().where},
             {"remedy", plan.error().remedy},
             {"code", static_cast<int>(plan.error().exit_code)}};
  }
  mpi_.send(0, tag_ready, ready.dump(-1, ' ', false, Json::error_handler_t::replace));
  const auto verdict = mpi_.receive(0, tag_verdict, timeout_ns_);
  if (!verdict) {
    return no_leader();
  }
  if (!plan) {
    return std::unexpected(plan.error());
  }
  const auto go = verdict->bytes == "ready" ? answer_clock(mpi_, clock, timeout_ns_) : verdict;
  if (!go) {
    return no_leader();
  }
  const Json json = read(go->bytes);
  if (!json.contains("start_ns")) {
    return std::unexpected(Complaint{"rank 0 gave up", "tlstrata-mpi load", "see what it says"});
  }
  return json.value("start_ns", Nanos{0});
}

}  // namespace tlstrata::mpi
