#include "mpi/communicator.h"

#include <mpi.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "io/clock.h"

namespace tlstrata::mpi {
namespace {

// So long a receive looks without a pause: what comes at once is taken at once.
constexpr Nanos spin_ns = 2 * nanos_per_millisecond;
constexpr Nanos pause_ns = 100 * nanos_per_microsecond;
constexpr unsigned patience_of_end_s = 10;
constexpr Nanos patience_of_messages_ns = 100 * nanos_per_millisecond;

struct Sent {
  std::string bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};

// Open MPI 4's mpirun with --enable-recovery ends with 0 whatever its processes said, unless it is stopped.
void end_launcher_that_would_say_fine() {
  const char* const recovery = std::getenv("OMPI_MCA_orte_enable_recovery");
  if (recovery == nullptr || std::strcmp(recovery, "1") != 0) {
    return;
  }
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(::getppid()) + "/comm"), name);
  if (name == "mpirun" || name == "mpiexec" || name == "orterun") {
    constexpr timespec time_to_pass_on_output{0, 200 * nanos_per_millisecond};
    (void)::nanosleep(&time_to_pass_on_output, nullptr);
    (void)::kill(::getppid(), SIGTERM);
  }
}

}  // namespace

struct Communicator::State {
  MPI_Comm comm = MPI_COMM_WORLD;
  int rank = 0;
  int size = 1;
  std::list<Sent> sent;

  void adopt(MPI_Comm which) {
    comm = which;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
  void drop_taken() {
    std::erase_if(sent, [](Sent& one) {
      int taken = 0;
      return MPI_Test(&one.request, &taken, MPI_STATUS_IGNORE) != MPI_SUCCESS || taken != 0;
    });
  }
};

Communicator::Communicator(std::unique_ptr<State> state) : state_(std::move(state)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

Checked<Communicator> Communicator::create() {
  int provided = MPI_THREAD_SINGLE;
  // Failures within MPI_Init end the process with MPI's own words.
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_FUNNELED) {
    return std::unexpected(Complaint{"MPI does not begin, or allows no threads", "MPI_Init_thread",
                                     "run it with mpirun or srun of the MPI that it was built with"});
  }
  auto state = std::make_unique<State>();
  state->adopt(MPI_COMM_WORLD);
  return Communicator(std::move(state));
}

int Communicator::rank() const {
  return state_->rank;
}

int Communicator::size() const {
  return state_->size;
}

std::string Communicator::host() const {
  std::array<char, 256> name{};
  (void)::gethostname(name.data(), name.size() - 1);
  return name.data();
}

Communicator Communicator::node_local() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split_type(state_->comm, MPI_COMM_TYPE_SHARED, state_->rank, MPI_INFO_NULL, &comm);
  auto state = std::make_unique<State>();
  state->adopt(comm);
  return Communicator(std::move(state));
}

void Communicator::send(int to, int tag, std::string_view bytes) {
  state_->drop_taken();
  Sent& one = state_->sent.emplace_back();
  one.bytes = bytes;
  MPI_Isend(one.bytes.data(), static_cast<int>(one.bytes.size()), MPI_BYTE, to, tag, state_->comm, &one.request);
}

std::size_t Communicator::unsent() {
  state_->drop_taken();
  return state_->sent.size();
}

std::optional<Message> Communicator::receive(int from, int tag, Nanos timeout_ns) {
  const Nanos begin_ns = io::monotonic_ns();
  for (;;) {
    state_->drop_taken();
    int is_there = 0;
    MPI_Status status;
    MPI_Iprobe(from == from_anyone ? MPI_ANY_SOURCE : from, tag == any_tag ? MPI_ANY_TAG : tag, state_->comm, &is_there,
               &status);
    if (is_there != 0) {
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      Message message{status.MPI_SOURCE, status.MPI_TAG, std::string(static_cast<std::size_t>(count), '\0')};
      MPI_Recv(message.bytes.data(), count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, state_->comm,
               MPI_STATUS_IGNORE);
      return message;
    }
    const Nanos waited_ns = io::monotonic_ns() - begin_ns;
    if (waited_ns >= timeout_ns) {
      return std::nullopt;
    }
    if (waited_ns > spin_ns) {
      const timespec pause{0, pause_ns};
      (void)::nanosleep(&pause, nullptr);
    }
  }
}

void Communicator::end(bool together, const std::function<ExitCode()>& rest) {
  std::once_flag once;
  const auto finish = [&] {
    std::call_once(once, [&] {
      const ExitCode code = rest();
      (void)std::fflush(nullptr);
      if (rank() == 0 && code != ExitCode::fine) {
        end_launcher_that_would_say_fine();
      }
      ::_exit(static_cast<int>(code));
    });
  };
  if (together) {
    // Who dies right now would still be waited for.
    std::thread([&finish] {
      ::sleep(patience_of_end_s);
      finish();
    }).detach();
    MPI_Finalize();
  } else {
    const Nanos deadline_ns = io::monotonic_ns() + patience_of_messages_ns;
    while (unsent() != 0 && io::monotonic_ns() < deadline_ns) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  finish();
  std::abort();  // not reached: finish() ends the process, on this thread or while this one waits
}

int rank_in_environment() {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* const text = std::getenv(name)) {
      int rank = 0;
      std::from_chars(text, text + std::strlen(text), rank);
      return rank;
    }
  }
  return 0;
}

}  // namespace tlstrata::mpi
