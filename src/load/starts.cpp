#include "load/starts.h"

#include <algorithm>
#include <limits>

namespace tlstrata::load {

Starts::Starts(const Plan& plan, unsigned share, unsigned shares) : plan_(&plan), share_(share), shares_(shares) {
  if (plan_->closed && plan_->closed->count) {
    left_ = *plan_->closed->count / shares_ + (share_ < *plan_->closed->count % shares_ ? 1 : 0);
  } else {
    left_ = std::numeric_limits<std::uint64_t>::max();
  }
}

void Starts::begin(Nanos begin_ns) {
  begin_ns_ = begin_ns;
  if (plan_->closed) {
    // Users who think come one by one and not all at once.
    for (std::uint32_t user = share_; user < plan_->closed->users; user += shares_) {
      users_.push(begin_ns + plan_->closed->think_ns * user / plan_->closed->users);
    }
  }
}

std::optional<Nanos> Starts::next_ns() const {
  if (plan_->closed) {
    return left_ == 0 || users_.empty() ? std::nullopt : std::optional(users_.top());
  }
  const std::uint64_t index = share_ + taken_ * shares_;
  return index < plan_->starts.size() ? std::optional(begin_ns_ + plan_->starts[index]) : std::nullopt;
}

Start Starts::take() {
  const std::uint64_t index = share_ + taken_++ * shares_;
  Start start;
  start.connection = static_cast<std::uint32_t>(index);
  if (plan_->closed) {
    start.scheduled_ns = users_.top();
    users_.pop();
    start.requests = static_cast<std::uint32_t>(std::min<std::uint64_t>(plan_->requests, left_));
    left_ -= start.requests;
    return start;
  }
  start.scheduled_ns = begin_ns_ + plan_->starts[index];
  start.requests = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(plan_->requests, plan_->transactions - index * plan_->requests));
  return start;
}

void Starts::user_is_free(Nanos now_ns) {
  if (!plan_->closed) {
    return;
  }
  const Nanos ready_ns = now_ns + plan_->closed->think_ns;
  if (left_ > 0 && ready_ns - begin_ns_ < plan_->closed->duration_ns) {
    users_.push(ready_ns);
  }
}

}  // namespace tlstrata::load
