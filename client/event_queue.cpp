#include "client/event_queue.h"

#include <algorithm>
#include <iterator>

namespace muster::client {

bool EventQueue::push(framework::Event event, const std::stop_token& stop, std::optional<Duration> limit) {
  std::unique_lock lock(mutex_);
  const auto may_go_on = [this] { return closed_ || events_.size() < capacity_; };
  const bool in_time = limit ? room_.wait_for(lock, stop, *limit, may_go_on) : room_.wait(lock, stop, may_go_on);
  if (!in_time || closed_ || stop.stop_requested()) {
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
