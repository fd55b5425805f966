// The folder of one run: the results that stay, and a private `.work` inside it for what must not.
//
// In:        the folder of all results, the run's name.
// Out:       <out>/<name>-<UTC time>/ with captures/ and .work/ (mode 0700: keys, configuration, logs).
// Ownership: the Workspace removes .work when it dies, unless told to keep it. A flock(2) on .work/owner, which the
//            kernel drops when this process ends, however it ends, tells a living run's .work from a killed one's.
// Errors:    Complaint naming the folder.
// Threads:   one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/complaint.h"

namespace tlstrata::lab {

class Workspace {
 public:
  // `utc` is a compact time like "20261130T192100Z"; a folder of that name that is there already gets a number after
  // it.
  static Checked<Workspace> create(const std::filesystem::path& out, const std::string& name, const std::string& utc,
                                   bool keep_work);

  // The folder of a run that was interrupted or killed; what is left in its .work stays. Errors: it is no such folder,
  // or the run still lives.
  static Checked<Workspace> reopen(const std::filesystem::path& folder, bool keep_work);

  Workspace(Workspace&& other) noexcept;
  Workspace& operator=(Workspace&&) = delete;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path work() const { return folder_ / ".work"; }

 private:
  Workspace(std::filesystem::path folder, int owner, bool keep_work)
      : folder_(std::move(folder)), owner_(owner), keep_work_(keep_work) {}

  std::filesystem::path folder_;
  int owner_ = -1;  // descriptor of .work/owner, locked; -1: moved from
  bool keep_work_ = false;
};

// Removes what killed runs left below `out`: their .work and their half-written *.tmp files. Their results, the folders
// of living runs and everything else stay. Returns the folders that were cleaned.
std::vector<std::filesystem::path> clean_up_killed_runs(const std::filesystem::path& out);

// That no other lab runs on this machine (in this network namespace): two would measure each other.
//
// Ownership: an abstract unix socket; nothing is left in the file system, and the kernel frees it with the process.
class ExclusiveLab {
 public:
  // Errors: another one runs; its pid is in the Complaint.
  static Checked<ExclusiveLab> acquire(std::string_view name = "tlstrata-lab");

  ExclusiveLab(ExclusiveLab&& other) noexcept;
  ExclusiveLab& operator=(ExclusiveLab&&) = delete;
  ExclusiveLab(const ExclusiveLab&) = delete;
  ExclusiveLab& operator=(const ExclusiveLab&) = delete;
  ~ExclusiveLab();

 private:
  explicit ExclusiveLab(int socket) : socket_(socket) {}
  int socket_ = -1;
};

// Creates or empties a file that only its owner reads, and writes it whole.
Checked<void> write_private_file(const std::filesystem::path& path, std::string_view text);

}  // namespace tlstrata::lab
