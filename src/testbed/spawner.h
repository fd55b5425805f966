// The one thread that forks: PR_SET_PDEATHSIG fires when the forking *thread* ends, so it lives as long as the bed.
//
// In/Out:    run() runs a function on that thread and returns when it is done.
// Threads:   run() from any thread; functions run one after the other.
// Source:    PR_SET_PDEATHSIG in prctl(2).
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace tlstrata::testbed {

class Spawner {
 public:
  Spawner();
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;
  ~Spawner();

  void run(const std::function<void()>& function);

 private:
  void serve();

  std::mutex callers_;  // one caller at a time
  std::mutex mutex_;    // guards what follows
  std::condition_variable changed_;
  const std::function<void()>* job_ = nullptr;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tlstrata::testbed
