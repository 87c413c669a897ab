// WorkerPool: threads that run jobs in the order given. Thread-safe. The destructor drops what has not begun and waits
// for what has. The number of waiting jobs is bounded by whoever submits (one for each connection).
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace muster::net::beast {

class WorkerPool {
 public:
  explicit WorkerPool(int threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // A job must not throw.
  void submit(std::function<void()> job);

 private:
  void run() noexcept;

  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::deque<std::function<void()>> jobs_{};  // guarded by mutex_
  bool stopping_ = false;                     // guarded by mutex_
  std::vector<std::jthread> threads_{};
};

}  // namespace muster::net::beast
