#include "lab/workspace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

namespace tlstrata::lab {
namespace {

namespace fs = std::filesystem;

constexpr int folders_of_one_second = 1000;

Checked<void> make_folder(const fs::path& path, mode_t mode) {
  if (mkdir(path.c_str(), mode) != 0) {
    return std::unexpected(complain_errno("cannot create the folder", path.string(), "name another one with --out"));
  }
  return {};
}

// mkdir -p, for folders that the user named.
Checked<void> make_parents(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return std::unexpected(
        Complaint{"cannot create the folder: " + error.message(), path.string(), "name another one with --out"});
  }
  return {};
}

// The descriptor of the locked owner file.
Checked<int> lock_owner(const fs::path& work) {
  const fs::path owner = work / "owner";
  // Not there in a new folder; a killed run's is taken over, and a living one's can't be locked.
  const int file = open(owner.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) {
    return std::unexpected(complain_errno("cannot create a file", owner.string(), "name another folder with --out"));
  }
  const std::string pid = fmt::format("{}\n", getpid());
  if (flock(file, LOCK_EX | LOCK_NB) != 0 || write(file, pid.data(), pid.size()) != static_cast<ssize_t>(pid.size())) {
    const Complaint complaint = complain_errno("cannot lock and write a file", owner.string(),
                                               "name a folder of a local file system with free space with --out");
    close(file);
    return std::unexpected(complaint);
  }
  return file;
}

// True where `folder` has a .work of ours that no living process holds.
bool is_left_behind(const fs::path& folder) {
  struct stat work{};
  if (lstat((folder / ".work").c_str(), &work) != 0 || !S_ISDIR(work.st_mode) || work.st_uid != geteuid()) {
    return false;
  }
  const int file = open((folder / ".work" / "owner").c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) {
    return false;
  }
  const bool free = flock(file, LOCK_EX | LOCK_NB) == 0;
  close(file);
  return free;
}

void remove_half_written(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".tmp" && entry.symlink_status(ignored).type() == fs::file_type::regular) {
      found.push_back(entry.path());
    }
  }
  for (const fs::path& path : found) {
    fs::remove(path, ignored);
  }
}

std::pair<sockaddr_un, socklen_t> lock_address(std::string_view lock_name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, lock_name.data(), lock_name.size());  // a leading zero byte: no file
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + lock_name.size())};
}

// The pid of whoever holds the lock; 0: unknown.
pid_t lock_holder(std::string_view name) {
  const auto [address, length] = lock_address(name);
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (file < 0 || connect(file, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    peer.pid = 0;
  }
  if (file >= 0) {
    close(file);
  }
  return peer.pid;
}

}  // namespace

Checked<Workspace> Workspace::create(const fs::path& out, const std::string& name, const std::string& utc,
                                     bool keep_work) {
  if (auto made = make_parents(out); !made) {
    return std::unexpected(made.error());
  }
  std::error_code error;
  const fs::path parent = fs::absolute(out, error);
  if (error) {
    return std::unexpected(
        Complaint{"cannot find the folder: " + error.message(), out.string(), "name another one with --out"});
  }
  fs::path folder = parent / fmt::format("{}-{}", name, utc);
  for (int copy = 2; fs::exists(folder, error) && copy < folders_of_one_second; ++copy) {
    folder = parent / fmt::format("{}-{}-{}", name, utc, copy);
  }
  if (auto made = make_folder(folder, 0777); !made) {
    return std::unexpected(made.error());
  }
  for (const fs::path& captures : {folder / "captures", folder / "captures" / "proxy"}) {
    if (auto made = make_folder(captures, 0777); !made) {
      return std::unexpected(made.error());
    }
  }
  if (auto made = make_folder(folder / ".work", 0700); !made) {
    return std::unexpected(made.error());
  }
  const Checked<int> owner = lock_owner(folder / ".work");
  if (!owner) {
    return std::unexpected(owner.error());
  }
  return Workspace(std::move(folder), *owner, keep_work);
}

Checked<Workspace> Workspace::reopen(const fs::path& folder, bool keep_work) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(folder, error);
  if (error || !fs::exists(whole / "manifest.json", error)) {
    return std::unexpected(
        Complaint{"this is no interrupted run", folder.string(), "name a result folder; it holds a manifest.json"});
  }
  for (const fs::path& needed : {whole / "captures", whole / "captures" / "proxy"}) {
    fs::create_directories(needed, error);
  }
  if (!fs::exists(whole / ".work", error)) {
    if (auto made = make_folder(whole / ".work", 0700); !made) {
      return std::unexpected(made.error());
    }
  }
  const Checked<int> owner = lock_owner(whole / ".work");
  if (!owner) {
    return std::unexpected(owner.error());
  }
  remove_half_written(whole / "captures");
  remove_half_written(whole / "captures" / "proxy");
  remove_half_written(whole);
  return Workspace(whole, *owner, keep_work);
}

Workspace::Workspace(Workspace&& other) noexcept
    : folder_(std::move(other.folder_)), owner_(std::exchange(other.owner_, -1)), keep_work_(other.keep_work_) {}

Workspace::~Workspace() {
  if (owner_ < 0) {
    return;
  }
  std::error_code ignored;
  if (!keep_work_) {
    fs::remove_all(work(), ignored);
  }
  remove_half_written(folder_ / "captures" / "proxy");
  remove_half_written(folder_ / "captures");
  remove_half_written(folder_);
  // Empty where the run ended before its first result: then not even the folder is worth keeping.
  fs::remove(folder_ / "captures" / "proxy", ignored);
  fs::remove(folder_ / "captures", ignored);
  fs::remove(folder_, ignored);
  close(owner_);
}

std::vector<fs::path> clean_up_killed_runs(const fs::path& out) {
  std::vector<fs::path> left_behind;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(out, ignored)) {
    if (entry.symlink_status(ignored).type() == fs::file_type::directory && is_left_behind(entry.path())) {
      left_behind.push_back(entry.path());
    }
  }
  for (const fs::path& folder : left_behind) {
    remove_half_written(folder / "captures" / "proxy");
    remove_half_written(folder / "captures");
    remove_half_written(folder / "tables");
    remove_half_written(folder);
    fs::remove_all(folder / ".work", ignored);
    fs::remove(folder / "captures" / "proxy", ignored);
    fs::remove(folder / "captures", ignored);
    fs::remove(folder, ignored);
  }
  return left_behind;
}

Checked<ExclusiveLab> ExclusiveLab::acquire(std::string_view name) {
  const auto [address, length] = lock_address(name);
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) {
    return std::unexpected(complain_errno("cannot make a socket", "", "raise the limit of open files"));
  }
  ExclusiveLab lab(file);
  // A lab that was killed a moment ago may still be on its way out.
  for (int attempt = 0; attempt < 20; ++attempt) {
    if (bind(file, reinterpret_cast<const sockaddr*>(&address), length) == 0 && listen(file, 16) == 0) {
      return lab;
    }
    if (errno != EADDRINUSE) {
      return std::unexpected(complain_errno("cannot bind the lab's lock", "", "run tlstrata doctor"));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  const pid_t holder = lock_holder(name);
  return std::unexpected(Complaint{"another lab is running on this machine",
                                   holder > 0 ? fmt::format("process {}", holder) : "",
                                   "wait until it has ended: two labs at a time would measure each other"});
}

ExclusiveLab::ExclusiveLab(ExclusiveLab&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}

ExclusiveLab::~ExclusiveLab() {
  if (socket_ >= 0) {
    close(socket_);
  }
}

Checked<void> write_private_file(const fs::path& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  bool whole = file >= 0;
  while (whole && !text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    whole = written > 0 || (written < 0 && errno == EINTR);
    text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  if (!whole) {
    const Complaint complaint = complain_errno("cannot write a file", path.string(), "make room or name another --out");
    if (file >= 0) {
      close(file);
    }
    return std::unexpected(complaint);
  }
  close(file);
  return {};
}

}  // namespace tlstrata::lab
