// The way into the decision thread: a bounded queue of events. Many threads push (watches, executor), one pops.
// The decision thread never waits for a pushing thread, so a full queue always drains.
#pragma once

#include "client/clock.h"
#include "framework/events.h"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace muster::client {

// Thread-safe. Events pushed by one thread keep their order.
class EventQueue {
 public:
  explicit EventQueue(std::size_t capacity = 16'384) : capacity_(capacity) {}

  // Waits for room, for as long as it takes or at most `limit`. False: stopped, closed, or still full then; the event
  // was not taken.
  bool push(framework::Event event, const std::stop_token& stop, std::optional<Duration> limit = std::nullopt);

  // Up to `max` events in order; waits up to `timeout` for the first. Empty: timeout, wake() or closed.
  std::vector<framework::Event> pop_batch(std::size_t max, Duration timeout);

  // Ends a pop_batch that waits, now or the next one.
  void wake();
  // Nothing is accepted from now on; what is queued can still be popped.
  void close();

  std::size_t size() const;

 private:
  const std::size_t capacity_;
  mutable std::mutex mutex_{};
  std::condition_variable_any room_{};
  std::condition_variable_any news_{};
  std::deque<framework::Event> events_{};  // guarded by mutex_
  bool woken_ = false;                     // guarded by mutex_
  bool closed_ = false;                    // guarded by mutex_
};

}  // namespace muster::client
