#include "testbed/spawner.h"

#include <sys/prctl.h>

namespace tlstrata::testbed {

Spawner::Spawner() : thread_([this] { serve(); }) {}

Spawner::~Spawner() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Spawner::run(const std::function<void()>& function) {
  const std::lock_guard turn(callers_);
  std::unique_lock lock(mutex_);
  job_ = &function;
  changed_.notify_all();
  changed_.wait(lock, [this] { return job_ == nullptr; });
}

void Spawner::serve() {
  ::prctl(PR_SET_NAME, "bed-spawner");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return job_ != nullptr || ending_; });
    if (job_ == nullptr) {
      return;
    }
    const std::function<void()>& job = *job_;
    lock.unlock();
    job();
    lock.lock();
    job_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace tlstrata::testbed
