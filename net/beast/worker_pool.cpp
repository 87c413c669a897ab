#include "net/beast/worker_pool.h"

#include <utility>

namespace muster::net::beast {

WorkerPool::WorkerPool(int threads) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { run(); });
  }
}

WorkerPool::~WorkerPool() {
  std::deque<std::function<void()>> dropped;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(jobs_);
    changed_.notify_all();
  }
  threads_.clear();
}

void WorkerPool::submit(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  if (!stopping_) {
    jobs_.push_back(std::move(job));
    changed_.notify_one();
  }
}

void WorkerPool::run() noexcept {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) {
      return;
    }
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
  }
}

}  // namespace muster::net::beast
