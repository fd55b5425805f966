#include "tcp/connection_pool.h"

namespace tlstrata::tcp {

ConnectionId ConnectionPool::take() {
  if (free_.empty()) {
    if (size_ % block_size == 0) {
      blocks_.push_back(std::make_unique<Block>());
    }
    return size_++;
  }
  const ConnectionId id = free_.back();
  free_.pop_back();
  return id;
}

void ConnectionPool::give_back(ConnectionId id) {
  (*this)[id] = Connection{};
  free_.push_back(id);
}

}  // namespace tlstrata::tcp
