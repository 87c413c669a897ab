// Slots: a counting semaphore whose wait ends by a deadline or a stop token. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace muster::net::cpprest {

class Slots {
 public:
  explicit Slots(int count) : free_(count) {}

  // True: the caller owns a slot until release().
  bool acquire(std::chrono::steady_clock::time_point deadline, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, stop, deadline, [this] { return free_ > 0; })) {
      return false;
    }
    --free_;
    return true;
  }

  void release() {
    const std::lock_guard lock(mutex_);
    ++free_;
    changed_.notify_one();
  }

 private:
  std::mutex mutex_{};
  std::condition_variable_any changed_{};
  int free_;  // guarded by mutex_
};

}  // namespace muster::net::cpprest
