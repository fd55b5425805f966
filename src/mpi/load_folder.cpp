#include "mpi/load_folder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <system_error>
#include <thread>

#include "io/clock.h"
#include "io/output_file.h"

namespace tlstrata::mpi {
namespace {

namespace fs = std::filesystem;

constexpr Nanos patience_ns = 5 * nanos_per_second;
constexpr const char* token_name = "/job.token";

std::string default_name() {
  std::tm time{};
  const std::time_t now = std::time(nullptr);
  (void)::gmtime_r(&now, &time);
  return fmt::format("results/load-{:%Y%m%dT%H%M%SZ}", time);
}

std::string token_in(const std::string& folder) {
  std::ifstream file(folder + token_name);
  std::string token;
  std::getline(file, token);
  return token;
}

}  // namespace

Checked<SharedFolder> make_folder(const std::string& path, const std::string& who) {
  std::error_code error;
  const fs::path folder = fs::absolute(path.empty() ? default_name() : path, error).lexically_normal();
  const std::string where = who + ": " + folder.string();
  fs::create_directories(folder, error);
  if (error) {
    return std::unexpected(Complaint{"cannot make the result folder: " + error.message(), where,
                                     "give --out a folder that every rank can write to"});
  }
  if (!fs::is_empty(folder, error) || error) {
    return std::unexpected(Complaint{"the result folder is not empty", where, "give --out a new one"});
  }
  std::random_device random;
  SharedFolder shared{folder.string(), fmt::format("{:08x}{:08x}{:08x}", random(), random(), random())};
  auto file = io::OutputFile::create(shared.path + token_name);
  auto written = file ? file->write(shared.token + "\n") : std::unexpected(file.error());
  written = written ? file->finish() : written;
  if (!written) {
    return std::unexpected(Complaint{written.error().what, who + ": " + written.error().where,
                                     "give --out a folder that every rank can write to"});
  }
  return shared;
}

Checked<void> check_folder(const SharedFolder& folder) {
  const Nanos begin_ns = io::monotonic_ns();
  for (;;) {
    if (token_in(folder.path) == folder.token) {
      return {};
    }
    if (io::monotonic_ns() - begin_ns > patience_ns) {
      return std::unexpected(Complaint{"the result folder of rank 0 is not to be seen here", folder.path,
                                       "give --out a folder on a file system that all ranks share"});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace tlstrata::mpi
