#include "client/event_queue.h"

#include <algorithm>
#include <iterator>

namespace muster::client {

bool EventQueue::push(framework::Event event, const std::stop_token& stop, Duration limit) {
  std::unique_lock lock(mutex_);
  room_.wait_for(lock, stop, limit, [this] { return closed_ || events_.size() < capacity_; });
  if (closed_ || stop.stop_requested() || events_.size() >= capacity_) {
    return false;
  }
  events_.push_back(std::move(event));
  news_.notify_one();
  return true;
}

std::vector<framework::Event> EventQueue::pop_batch(std::size_t max, Duration timeout) {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, timeout, [this] { return closed_ || woken_ || !events_.empty(); });
  woken_ = false;
  const auto count = static_cast<std::ptrdiff_t>(std::min(max, events_.size()));
  std::vector<framework::Event> batch(std::make_move_iterator(events_.begin()),
                                      std::make_move_iterator(events_.begin() + count));
  events_.erase(events_.begin(), events_.begin() + count);
  room_.notify_all();
  return batch;
}

void EventQueue::wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  news_.notify_all();
}

void EventQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  room_.notify_all();
  news_.notify_all();
}

std::size_t EventQueue::size() const {
  const std::lock_guard lock(mutex_);
  return events_.size();
}

}  // namespace muster::client
