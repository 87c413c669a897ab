#include "net/beast/registry.h"

#include <utility>
#include <vector>

namespace muster::net::beast {

void Registry::add(Connection& connection, std::weak_ptr<Connection> handle) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[&connection];
  entry.handle = std::move(handle);
  entry.waiting = waiting_.insert(waiting_.end(), &connection);
  entry.state = State::kWaiting;
}

void Registry::remove(Connection& connection) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(&connection);
    if (found == entries_.end()) {
      return;
    }
    if (found->second.state == State::kWaiting) {
      waiting_.erase(found->second.waiting);
    } else if (found->second.state == State::kShed) {
      --shed_;
    }
    entries_.erase(found);
    if (entries_.empty()) {
      empty_.notify_all();
    }
  }
  on_room_();
}

void Registry::set_busy(Connection& connection) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(&connection);
  if (found != entries_.end() && found->second.state == State::kWaiting) {
    waiting_.erase(found->second.waiting);
    found->second.state = State::kBusy;
  }
}

void Registry::set_waiting(Connection& connection) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(&connection);
    if (found == entries_.end() || found->second.state != State::kBusy) {
      return;
    }
    found->second.waiting = waiting_.insert(waiting_.end(), &connection);
    found->second.state = State::kWaiting;
  }
  on_room_();
}

bool Registry::make_room() {
  const std::lock_guard lock(mutex_);
  while (entries_.size() - shed_ > connection_limit_) {
    if (!shed_oldest()) {
      return false;
    }
  }
  return true;
}

void Registry::shed(std::size_t count) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < count && shed_oldest(); ++i) {
  }
}

bool Registry::shed_oldest() {
  if (waiting_.empty()) {
    return false;
  }
  Entry& entry = entries_.at(waiting_.front());
  waiting_.pop_front();
  entry.state = State::kShed;
  ++shed_;
  // Empty while the connection's destructor is on its way to remove(). The posted close keeps a reference, so this one
  // is never the last: remove() is not entered under the lock.
  if (const std::shared_ptr<Connection> connection = entry.handle.lock()) {
    connection->close_now();
  }
  return true;
}

void Registry::drain() {
  draining_ = true;
  for (const auto& connection : connections()) {
    connection->close_if_idle();
  }
}

void Registry::close_all() {
  for (const auto& connection : connections()) {
    connection->close_now();
  }
}

std::vector<std::shared_ptr<Connection>> Registry::connections() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Connection>> open;
  for (const auto& [pointer, entry] : entries_) {
    if (auto connection = entry.handle.lock()) {
      open.push_back(std::move(connection));
    }
  }
  return open;
}

bool Registry::wait_empty(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return empty_.wait_for(lock, limit, [this] { return entries_.empty(); });
}

bool Registry::take_body_bytes(std::size_t bytes) {
  const std::size_t before = body_bytes_.fetch_add(bytes);
  if (before + bytes <= body_limit_) {
    return true;
  }
  body_bytes_ -= bytes;
  return false;
}

}  // namespace muster::net::beast
