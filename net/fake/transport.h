// A Transport for unit tests: answers come from the test, no socket and no time is involved. Thread-safe.
//
//   fake::Transport transport;
//   transport.on_call([](const Request& r) -> Result<Response> { return Response{.status = 200}; });
//   auto feed = std::make_shared<fake::Feed>();
//   transport.on_stream([&](const Request&) -> Result<fake::StreamReply> { return fake::StreamReply{.feed = feed}; });
//   feed->push("{…}\n");  feed->end();
#pragma once

#include "net/transport.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace muster::net::fake {

// The body of one stream: pieces pushed by the test, delivered in order; the stream stays open until end() or fail().
class Feed {
 public:
  void push(std::string bytes);
  void end();
  // Ends the stream with this Error once what was pushed before is delivered: a broken connection, kTimeout …
  void fail(Error error);
  // Waits until a sink has taken all that was pushed. False: not within `limit`.
  bool wait_drained(std::chrono::milliseconds limit = std::chrono::seconds(10));

 private:
  friend class Transport;
  Status deliver(ChunkSink& sink, const std::stop_token& stop);

  std::mutex mutex_{};
  std::condition_variable_any changed_{};
  std::deque<std::string> pieces_{};  // guarded by mutex_
  bool delivering_ = false;           // guarded by mutex_
  bool ended_ = false;                // guarded by mutex_
  std::optional<Error> error_{};      // guarded by mutex_
};

// A feed that holds these pieces and is ended.
std::shared_ptr<Feed> ended_feed(std::vector<std::string> pieces);

struct StreamReply {
  int status = 200;
  Headers headers{};
  std::shared_ptr<Feed> feed{};  // none: an empty body
};

using CallHandler = std::function<Result<Response>(const Request&)>;
using StreamHandler = std::function<Result<StreamReply>(const Request&)>;

class Transport final : public net::Transport {
 public:
  // Without a handler every request is answered 404. Handlers run on the caller's thread, one at a time for each kind
  // of handler; they may not call the transport.
  void on_call(CallHandler handler);
  void on_stream(StreamHandler handler);

  Result<Response> call(const Request& request, std::stop_token stop) override;
  Status stream(const Request& request, const StreamOptions& options, ChunkSink& sink, std::stop_token stop) override;

  // Calls and streams seen so far, in order of arrival.
  std::vector<Request> requests() const;
  // Waits until `count` requests have been seen. False: not within `limit`.
  bool wait_for_requests(std::size_t count, std::chrono::milliseconds limit = std::chrono::seconds(10)) const;

 private:
  void record(const Request& request);

  mutable std::mutex mutex_{};
  mutable std::condition_variable arrived_{};
  std::vector<Request> requests_{};  // guarded by mutex_
  std::mutex call_mutex_{};
  CallHandler call_handler_{};  // guarded by call_mutex_
  std::mutex stream_mutex_{};
  StreamHandler stream_handler_{};  // guarded by stream_mutex_
};

}  // namespace muster::net::fake
