#include "net/cpprest/transport.h"

#include "net/cpprest/errors.h"
#include "net/cpprest/exchange.h"
#include "net/cpprest/request_check.h"
#include "net/cpprest/sink_buffer.h"
#include "net/cpprest/slots.h"
#include "net/cpprest/tls_material.h"
#include "net/cpprest/token_cache.h"

#include <cpprest/http_client.h>
#include <cpprest/producerconsumerstream.h>
#include <cpprest/rawptrstream.h>
#include <pplx/threadpool.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

namespace muster::net::cpprest {
namespace {

using web::http::client::http_client;
using web::http::client::http_client_config;

// The library's own idle timers, one for each kind of client. Ours (Deadlines) are usually the earlier ones.
constexpr std::chrono::seconds kCallIdle{30};
constexpr std::chrono::seconds kStreamIdle{150};

constexpr std::chrono::milliseconds kForever = std::chrono::hours(24);  // longer is not meant, and would overflow

Clock::time_point after(std::chrono::milliseconds limit) {
  return Clock::now() + std::min(limit, kForever);
}

// Collects a call's body, up to a limit.
class BodyCollector final : public ChunkSink {
 public:
  explicit BodyCollector(std::size_t limit) : limit_(limit) {}

  bool on_head(int status, const Headers& headers) override {
    response_.status = status;
    response_.headers = headers;
    return true;
  }

  bool on_bytes(std::string_view bytes) override {
    too_large_ = response_.body.size() + bytes.size() > limit_;
    if (!too_large_) {
      response_.body.append(bytes);
    }
    return !too_large_;
  }

  bool too_large() const { return too_large_; }

  Response take() { return std::move(response_); }

 private:
  const std::size_t limit_;
  Response response_{};
  bool too_large_ = false;
};

// Stands before a sink: a 401 is swallowed if the token file holds another token by now.
class TokenGate final : public ChunkSink {
 public:
  TokenGate(ChunkSink& sink, TokenCache& tokens, std::string used)
      : sink_(sink), tokens_(tokens), used_(std::move(used)) {}

  bool on_head(int status, const Headers& headers) override {
    started_ = true;
    if (status == 401 && !used_.empty() && tokens_.renew(used_)) {
      try_again_ = true;
      return false;
    }
    return sink_.on_head(status, headers);
  }

  bool on_bytes(std::string_view bytes) override { return sink_.on_bytes(bytes); }

  bool started() const { return started_; }

  bool try_again() const { return try_again_; }

 private:
  ChunkSink& sink_;
  TokenCache& tokens_;
  const std::string used_;
  bool started_ = false;
  bool try_again_ = false;
};

// Releases a slot at the end of a call.
class SlotOwner {
 public:
  explicit SlotOwner(Slots& slots) : slots_(slots) {}

  SlotOwner(const SlotOwner&) = delete;
  SlotOwner& operator=(const SlotOwner&) = delete;

  ~SlotOwner() { slots_.release(); }

 private:
  Slots& slots_;
};

Headers to_headers(const web::http::http_headers& headers) {
  Headers result;
  for (const auto& [name, value] : headers) {
    result.emplace_back(name, value);
  }
  return result;
}

Failure current_failure() {
  try {
    throw;
  } catch (const web::http::http_exception& e) {
    return {.code = e.error_code().value(), .message = e.what()};
  } catch (const boost::system::system_error& e) {
    return {.code = e.code().value(), .message = e.what()};
  } catch (const std::exception& e) {
    return {.code = 0, .message = e.what()};
  } catch (...) {
    return {.code = 0, .message = "unknown exception of the HTTP library"};
  }
}

// A body that the library cannot rewind, and therefore never sends twice on its own.
concurrency::streams::istream one_way_body(const std::string& body) {
  concurrency::streams::producer_consumer_buffer<std::uint8_t> buffer(std::max<std::size_t>(body.size(), 1));
  if (!body.empty()) {
    buffer.putn_nocopy(reinterpret_cast<const std::uint8_t*>(body.data()), body.size()).wait();
  }
  buffer.close(std::ios_base::out).wait();
  return buffer.create_istream();
}

web::http::http_request build(const Request& request, const std::string& token, const std::string& user_agent,
                              const std::string& host) {
  web::http::http_request out(request.method);
  out.set_request_uri(web::uri(request.target));
  for (const auto& [name, value] : request.headers) {
    out.headers().add(name, value);
  }
  out.headers().add("User-Agent", user_agent);
  if (!token.empty()) {
    out.headers().add("Authorization", "Bearer " + token);
  }
  if (!host.empty()) {
    out.headers().add("Host", host);  // the library takes it as the TLS server name, too
  }
  const bool reads = changes_nothing(request);
  if (!reads || !request.body.empty()) {
    out.headers().set_content_length(request.body.size());
    out._get_impl()->set_instream(reads || request.replay_safe
                                      ? concurrency::streams::bytestream::open_istream(request.body)
                                      : one_way_body(request.body));
  }
  return out;
}

class CpprestTransport final : public Transport {
 public:
  CpprestTransport(TransportOptions options, const web::uri& base, std::shared_ptr<TlsMaterial> tls)
      : options_(std::move(options)),
        calls_(base, config(kCallIdle, tls)),
        streams_(base, config(kStreamIdle, tls)),
        tokens_(options_.credentials.token),
        slots_(options_.concurrency) {}

  Result<Response> call(const Request& request, std::stop_token stop) override {
    const Clock::time_point end = after(request.deadline);
    if (!slots_.acquire(end, stop)) {
      return Error{.code = stop.stop_requested() ? ErrorCode::kCancelled : ErrorCode::kTimeout,
                   .message = where(request) + ": no free slot among the calls in flight"};
    }
    const SlotOwner slot(slots_);
    BodyCollector collector(options_.response_bytes);
    const Deadlines deadlines{.head = end, .total = end, .idle = kForever};
    MUSTER_RETURN_IF_ERROR(perform(calls_, request, deadlines, collector, stop));
    if (collector.too_large()) {
      return Error{
          .code = ErrorCode::kTooLarge,
          .message = where(request) + ": the answer exceeds " + std::to_string(options_.response_bytes) + " bytes",
          .maybe_executed = !changes_nothing(request)};
    }
    return collector.take();
  }

  Status stream(const Request& request, const StreamOptions& options, ChunkSink& sink, std::stop_token stop) override {
    const Deadlines deadlines{
        .head = after(request.deadline), .total = after(options.deadline), .idle = std::min(options.idle, kForever)};
    return perform(streams_, request, deadlines, sink, stop);
  }

 private:
  static http_client_config config(std::chrono::seconds idle, const std::shared_ptr<TlsMaterial>& tls) {
    http_client_config result;
    result.set_timeout(idle);
    result.set_max_redirects(0);
    if (tls != nullptr) {
      result.set_ssl_context_callback([tls](boost::asio::ssl::context& context) { tls->apply(context); });
    }
    return result;
  }

  std::string where(const Request& request) const {
    return request.method + " " + options_.credentials.base_url + request.target;
  }

  // Sends; again if the token was renewed, or if the request could not leave because a pooled connection was dead.
  Status perform(http_client& client, const Request& request, const Deadlines& deadlines, ChunkSink& sink,
                 const std::stop_token& stop) {
    MUSTER_RETURN_IF_ERROR(check_request(request));
    DeadConnections dead;
    bool may_renew = true;
    while (true) {
      auto token = tokens_.current();
      if (!token.ok()) {
        return token.error();
      }
      TokenGate gate(sink, tokens_, may_renew ? *token : std::string());
      const auto exchange = std::make_shared<Exchange>();
      const End end = send(client, request, *token, exchange, gate, deadlines, stop);
      if (gate.try_again()) {
        may_renew = false;
      } else if (end != End::kFailed || exchange->was_sent() || !dead.was_one(exchange->failure())) {
        return outcome(end, *exchange, request);
      }
    }
  }

  Status outcome(End end, const Exchange& exchange, const Request& request) const {
    Error error;
    switch (end) {
      case End::kComplete:
      case End::kDeclined:
        return {};
      case End::kStopped:
        error = {.code = ErrorCode::kCancelled, .message = where(request) + ": stopped by the caller"};
        break;
      case End::kTimedOut:
        error = {.code = ErrorCode::kTimeout, .message = where(request) + ": no answer in time"};
        break;
      case End::kFailed:
        error = to_error(exchange.failure(), where(request));
        break;
    }
    error.maybe_executed = exchange.was_sent() && !changes_nothing(request);
    return error;
  }

  // One attempt. Whatever is left of it when this returns is cancelled and keeps only the exchange alive.
  End send(http_client& client, const Request& request, const std::string& token,
           const std::shared_ptr<Exchange>& exchange, ChunkSink& sink, const Deadlines& deadlines,
           const std::stop_token& stop) {
    pplx::cancellation_token_source cancel;
    start(client, request, token, exchange, cancel.get_token());
    const End end = exchange->consume(sink, deadlines, stop);
    if (end != End::kComplete && end != End::kFailed) {
      cancel.cancel();
    }
    return end;
  }

  // Continuations run on the library's pool and only hand over. The last one catches everything: an exception that
  // nobody observes would end the process.
  void start(http_client& client, const Request& request, const std::string& token,
             const std::shared_ptr<Exchange>& exchange, const pplx::cancellation_token& cancelled) {
    try {
      web::http::http_request out = build(request, token, options_.user_agent, options_.credentials.tls_server_name);
      const std::uint64_t body_size = request.body.size();
      out.set_progress_handler(
          [exchange, body_size](web::http::message_direction::direction direction, utility::size64_t done) {
            if (direction == web::http::message_direction::upload && done >= body_size) {
              exchange->request_sent();
            }
          });
      out.set_response_stream(
          Concurrency::streams::streambuf<std::uint8_t>(std::make_shared<SinkBuffer>(exchange)).create_ostream());
      client.request(out, cancelled)
          .then([exchange](const pplx::task<web::http::http_response>& head) {
            web::http::http_response response = head.get();
            exchange->head(response.status_code(), to_headers(response.headers()));
            return response.content_ready();
          })
          .then([exchange](const pplx::task<web::http::http_response>& complete) {
            try {
              complete.get();
              exchange->finish(std::nullopt);
            } catch (...) {
              exchange->finish(current_failure());
            }
          });
    } catch (...) {
      exchange->finish(current_failure());
    }
  }

  const TransportOptions options_;
  http_client calls_;
  http_client streams_;
  TokenCache tokens_;
  Slots slots_;
};

}  // namespace

void initialize(int threads) {
  static std::once_flag once;
  std::call_once(once, [threads] {
    try {
      crossplat::threadpool::initialize_with_threads(static_cast<std::size_t>(std::max(threads, 2)));
    } catch (const std::exception&) {
      // Somebody used the library before; its pool of 40 threads stays.
    }
  });
}

Result<std::unique_ptr<Transport>> make_transport(TransportOptions options) {
  MUSTER_RETURN_IF_ERROR(check_credentials(options.credentials));
  if (options.concurrency < 1) {
    return invalid("must be at least 1", "concurrency");
  }
  initialize();
  std::shared_ptr<TlsMaterial> tls;
  if (is_https(options.credentials)) {
    MUSTER_TRY(material, TlsMaterial::create(options.credentials));
    tls = std::move(material);
  }
  try {
    const web::uri base(options.credentials.base_url);
    return std::unique_ptr<Transport>(std::make_unique<CpprestTransport>(std::move(options), base, std::move(tls)));
  } catch (const std::exception& e) {
    return invalid(e.what(), "baseUrl");
  }
}

}  // namespace muster::net::cpprest
