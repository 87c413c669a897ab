// Exchange: hands one response over from the library's pool thread (head, bytes, finish) to the caller's thread
// (consume), with deadlines, cancellation and back-pressure. No type of the library; thread-safe; shared by both sides,
// because the library may still call in after the caller has left (then everything is dropped).
#pragma once

#include "net/transport.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace muster::net::cpprest {

using Clock = std::chrono::steady_clock;

// How the library reported the end of a failed request.
struct Failure {
  int code = 0;  // an errno value, or an OpenSSL error number
  std::string message{};
};

struct Deadlines {
  Clock::time_point head{};  // until the status is known
  Clock::time_point total{};
  std::chrono::milliseconds idle{};  // between two pieces of the body
};

enum class End {
  kComplete,  // the peer ended the response
  kDeclined,  // the sink wanted no more
  kStopped,   // the caller's stop token
  kTimedOut,  // one of the deadlines
  kFailed,    // see failure()
};

class Exchange {
 public:
  // Library side. The head may come after the first bytes.
  void head(int status, Headers headers);
  // False: too much is waiting; send no more until `resume` has been called (once, from any thread).
  bool bytes(std::string_view piece, std::function<void()> resume);
  void request_sent();  // the whole request has left
  void finish(std::optional<Failure> failure);

  // Caller side, once. After it has returned the sink is not called any more.
  End consume(ChunkSink& sink, const Deadlines& deadlines, const std::stop_token& stop);
  Failure failure() const;
  bool was_sent() const;

 private:
  End consume_until_end(ChunkSink& sink, const Deadlines& deadlines, const std::stop_token& stop);
  Clock::time_point next_deadline(const Deadlines& deadlines) const;
  bool has_news() const;
  std::optional<End> deliver(ChunkSink& sink, std::unique_lock<std::mutex>& lock);
  void leave();

  struct Head {
    int status = 0;
    Headers headers{};
  };

  mutable std::mutex mutex_{};
  std::condition_variable_any changed_{};
  // All below guarded by mutex_.
  std::optional<Head> head_{};
  std::deque<std::string> pieces_{};
  std::size_t waiting_bytes_ = 0;
  std::function<void()> resume_{};
  std::optional<Failure> failure_{};
  Clock::time_point last_activity_{};
  bool head_delivered_ = false;
  bool sent_ = false;
  bool finished_ = false;
  bool left_ = false;
};

}  // namespace muster::net::cpprest
