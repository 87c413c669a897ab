#include "net/cpprest/exchange.h"

#include <algorithm>
#include <utility>

namespace muster::net::cpprest {
namespace {

// More than this waiting for a slow sink stops reading from the socket.
constexpr std::size_t kHighWater = 4U << 20;

}  // namespace

void Exchange::head(int status, Headers headers) {
  const std::lock_guard lock(mutex_);
  head_ = Head{status, std::move(headers)};
  last_activity_ = Clock::now();
  changed_.notify_all();
}

bool Exchange::bytes(std::string_view piece, std::function<void()> resume) {
  const std::lock_guard lock(mutex_);
  if (left_) {
    return true;
  }
  pieces_.emplace_back(piece);
  waiting_bytes_ += piece.size();
  last_activity_ = Clock::now();
  changed_.notify_all();
  if (waiting_bytes_ <= kHighWater) {
    return true;
  }
  resume_ = std::move(resume);
  return false;
}

void Exchange::request_sent() {
  const std::lock_guard lock(mutex_);
  sent_ = true;
}

void Exchange::finish(std::optional<Failure> failure) {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(failure);
  finished_ = true;
  changed_.notify_all();
}

Failure Exchange::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_.value_or(Failure{});
}

bool Exchange::was_sent() const {
  const std::lock_guard lock(mutex_);
  return sent_;
}

End Exchange::consume(ChunkSink& sink, const Deadlines& deadlines, const std::stop_token& stop) {
  const End end = consume_until_end(sink, deadlines, stop);
  leave();
  return end;
}

End Exchange::consume_until_end(ChunkSink& sink, const Deadlines& deadlines, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    const Clock::time_point until = next_deadline(deadlines);
    const bool news = changed_.wait_until(lock, stop, until, [this] { return has_news(); });
    if (stop.stop_requested()) {
      return End::kStopped;
    }
    if (!news || Clock::now() >= deadlines.total) {
      return End::kTimedOut;
    }
    if (const std::optional<End> end = deliver(sink, lock)) {
      return *end;
    }
  }
}

Clock::time_point Exchange::next_deadline(const Deadlines& deadlines) const {
  const Clock::time_point own = head_delivered_ ? last_activity_ + deadlines.idle : deadlines.head;
  return std::min(own, deadlines.total);
}

bool Exchange::has_news() const {
  return finished_ || (head_delivered_ ? !pieces_.empty() : head_.has_value());
}

// One step: the head, or one piece, or the end. The sink is called without the lock.
std::optional<End> Exchange::deliver(ChunkSink& sink, std::unique_lock<std::mutex>& lock) {
  bool more = true;
  if (head_ && !head_delivered_) {
    head_delivered_ = true;
    const Head head = *head_;
    lock.unlock();
    more = sink.on_head(head.status, head.headers);
  } else if (head_ && !pieces_.empty()) {
    const std::string piece = std::move(pieces_.front());
    pieces_.pop_front();
    waiting_bytes_ -= piece.size();
    const auto resume = waiting_bytes_ == 0 ? std::exchange(resume_, nullptr) : nullptr;
    lock.unlock();
    if (resume) {
      resume();
    }
    more = sink.on_bytes(piece);
  } else {
    return failure_ ? End::kFailed : End::kComplete;
  }
  lock.lock();
  last_activity_ = std::max(last_activity_, Clock::now());  // a slow sink is not an idle peer
  return more ? std::nullopt : std::optional(End::kDeclined);
}

void Exchange::leave() {
  std::function<void()> resume;
  {
    const std::lock_guard lock(mutex_);
    left_ = true;
    pieces_.clear();
    waiting_bytes_ = 0;
    resume = std::exchange(resume_, nullptr);
  }
  if (resume) {
    resume();
  }
}

}  // namespace muster::net::cpprest
