// Transport: the only way Muster sends HTTP. An interface and values; the cpprest backend (net/cpprest) talks to a real
// API server, the fake (net/fake) to a test's script. No type of an HTTP or TLS library appears here.
//
// Thread: every method may be called from any number of threads at once, and blocks; callers bring their own threads.
// Guarantees: a call ends by its deadline; a triggered stop token ends it at once with kCancelled; no redirect is
// followed; a request that the peer may have read is never repeated, unless it changes nothing (GET, HEAD, OPTIONS) or
// is marked replay_safe. An Error says in `maybe_executed` whether the peer may have acted on the request.
#pragma once

#include "base/result.h"

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::net {

using Headers = std::vector<std::pair<std::string, std::string>>;

// The value of the first header of that name (ASCII case ignored), or nullptr. Lives as long as `headers`.
const std::string* find_header(const Headers& headers, std::string_view name);

struct Request {
  std::string method{};  // "GET", "POST", …
  std::string target{};  // path and query, percent-encoded: "/api/v1/pods?limit=500"
  Headers headers{};     // Host, Authorization, User-Agent and Content-Length are the backend's business
  std::string body{};
  std::chrono::milliseconds deadline{30'000};  // a call: until the body is complete; a stream: until the head is in
  bool replay_safe = false;                    // the body may be sent twice: repeating the request changes nothing
};

// Any HTTP status is a Response; an Error means that no complete answer arrived.
struct Response {
  int status = 0;
  Headers headers{};
  std::string body{};
};

// Receives a stream. Called by one thread at a time, never after stream() has returned. Must not block for long and
// must not call back into the transport.
class ChunkSink {
 public:
  virtual ~ChunkSink() = default;
  // Once, before any byte. False: the body is not read and stream() returns success.
  virtual bool on_head(int status, const Headers& headers) = 0;
  // Pieces as they arrive; their borders mean nothing. False: stop, stream() returns success. `bytes` dies on return.
  virtual bool on_bytes(std::string_view bytes) = 0;
};

struct StreamOptions {
  // No byte for that long: kTimeout. A backend may cap it at 150 s; the API server sends a bookmark each minute.
  std::chrono::milliseconds idle{150'000};
  std::chrono::milliseconds deadline{900'000};  // the whole stream, whatever arrives: kTimeout
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual Result<Response> call(const Request& request, std::stop_token stop) = 0;
  // Success: the peer ended the stream properly, or the sink declined. kUnavailable: it broke off.
  virtual Status stream(const Request& request, const StreamOptions& options, ChunkSink& sink,
                        std::stop_token stop) = 0;
};

}  // namespace muster::net
