#include "net/fake/transport.h"

#include <utility>

namespace muster::net::fake {
namespace {

Error cancelled() {
  return Error{.code = ErrorCode::kCancelled, .message = "stopped by the caller"};
}

}  // namespace

void Feed::push(std::string bytes) {
  const std::lock_guard lock(mutex_);
  pieces_.push_back(std::move(bytes));
  changed_.notify_all();
}

void Feed::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void Feed::fail(Error error) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
  ended_ = true;
  changed_.notify_all();
}

bool Feed::wait_drained(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return pieces_.empty() && !delivering_; });
}

// The sink is called without the lock, so that it may push to this feed.
Status Feed::deliver(ChunkSink& sink, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, stop, [this] { return !pieces_.empty() || ended_; });
    if (stop.stop_requested()) {
      return cancelled();
    }
    if (pieces_.empty()) {
      return error_ ? Status(*error_) : Status();
    }
    const std::string bytes = std::move(pieces_.front());
    pieces_.pop_front();
    delivering_ = true;
    lock.unlock();
    const bool more = sink.on_bytes(bytes);
    lock.lock();
    delivering_ = false;
    changed_.notify_all();
    if (!more) {
      return {};
    }
  }
}

std::shared_ptr<Feed> ended_feed(std::vector<std::string> pieces) {
  auto feed = std::make_shared<Feed>();
  for (std::string& piece : pieces) {
    feed->push(std::move(piece));
  }
  feed->end();
  return feed;
}

void Transport::on_call(CallHandler handler) {
  const std::lock_guard lock(call_mutex_);
  call_handler_ = std::move(handler);
}

void Transport::on_stream(StreamHandler handler) {
  const std::lock_guard lock(stream_mutex_);
  stream_handler_ = std::move(handler);
}

void Transport::record(const Request& request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(request);
  arrived_.notify_all();
}

Result<Response> Transport::call(const Request& request, std::stop_token stop) {
  if (stop.stop_requested()) {
    return cancelled();
  }
  record(request);
  const std::lock_guard lock(call_mutex_);
  return call_handler_ ? call_handler_(request) : Result<Response>(Response{.status = 404});
}

Status Transport::stream(const Request& request, const StreamOptions& /*options*/, ChunkSink& sink,
                         std::stop_token stop) {
  if (stop.stop_requested()) {
    return cancelled();
  }
  record(request);
  auto reply = [&]() -> Result<StreamReply> {
    const std::lock_guard lock(stream_mutex_);
    return stream_handler_ ? stream_handler_(request) : Result<StreamReply>(StreamReply{.status = 404});
  }();
  if (!reply.ok()) {
    return reply.error();
  }
  if (!sink.on_head(reply->status, reply->headers) || reply->feed == nullptr) {
    return {};
  }
  return reply->feed->deliver(sink, stop);
}

std::vector<Request> Transport::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

bool Transport::wait_for_requests(std::size_t count, std::chrono::milliseconds limit) const {
  std::unique_lock lock(mutex_);
  return arrived_.wait_for(lock, limit, [&] { return requests_.size() >= count; });
}

}  // namespace muster::net::fake
