#include "net/beast/session.h"

#include "net/beast/messages.h"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace muster::net::beast {
namespace {

namespace asio = boost::asio;
namespace core = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

using PlainStream = core::tcp_stream;
using TlsStream = core::ssl_stream<core::tcp_stream>;

constexpr std::chrono::seconds kFarewell{2};   // for a close that the peer should notice
constexpr std::size_t kFirstRead = 4096;       // what an idle connection reserves
constexpr std::size_t kReadAhead = 64U << 10;  // beyond the header: body and pipelined requests
constexpr std::string_view kHeaderEnd = "\r\n\r\n";
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Runs the handler; an exception becomes 500.
Response answer(const Handler& handler, const ServerRequest& request) noexcept {
  try {
    Response response = handler(request);
    return is_sendable(response) ? std::move(response) : plain_answer(500, "the handler made no valid response");
  } catch (const std::exception&) {
  } catch (...) {
  }
  return plain_answer(500, "internal error");
}

template <class Stream>
class Session final : public Connection, public std::enable_shared_from_this<Session<Stream>> {
  static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;

 public:
  Session(Stream stream, const SessionContext& shared, std::shared_ptr<TlsContext> tls)
      : shared_(shared),
        tls_(std::move(tls)),
        stream_(std::move(stream)),
        buffer_(shared.limits.header_bytes + kReadAhead) {}

  ~Session() override {
    give_back();
    shared_.registry.remove(*this);
  }

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start() {
    shared_.registry.add(*this, this->weak_from_this());
    asio::post(socket().get_executor(), [self = this->shared_from_this()] { self->begin(); });
  }

  void close_now() override {
    asio::post(socket().get_executor(), [self = this->shared_from_this()] { self->socket().close(); });
  }

  void close_if_idle() override {
    asio::post(socket().get_executor(), [self = this->shared_from_this()] {
      if (self->idle_) {
        self->socket().close();
      }
    });
  }

 private:
  core::tcp_stream& socket() { return core::get_lowest_layer(stream_); }

  // A completion handler that keeps the session alive.
  template <class Method>
  auto on(Method method) {
    return core::bind_front_handler(method, this->shared_from_this());
  }

  void begin() {
    error_code ignored;
    socket().socket().set_option(tcp::no_delay(true), ignored);
    const auto remote = socket().socket().remote_endpoint(ignored);
    peer_.address = ignored ? std::string() : printed_address(remote.address());
    if constexpr (kTls) {
      if (tls_->clients == ClientCertificates::kRequest) {
        stream_.set_verify_callback([this](bool verified, asio::ssl::verify_context&) {
          chain_verified_ = chain_verified_ && verified;
          return true;
        });
      }
      socket().expires_after(shared_.limits.handshake);
      stream_.async_handshake(asio::ssl::stream_base::server, on(&Session::on_handshake));
    } else {
      wait_for_request();
    }
  }

  void on_handshake(error_code error) {
    if (error) {
      return;  // the last reference goes, and with it the socket
    }
    if constexpr (kTls) {
      if (chain_verified_) {
        fill_verified_peer(stream_.native_handle(), *tls_, peer_);
      }
    }
    wait_for_request();
  }

  void wait_for_request() {
    if (shared_.registry.draining()) {
      return say_farewell();
    }
    keep_alive_ = false;
    is_head_ = false;
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(shared_.limits.header_bytes));
    parser_->body_limit(shared_.limits.body_bytes);
    if (buffer_.size() > 0) {  // the client has pipelined the next request
      return read_header();
    }
    buffer_.shrink_to_fit();
    idle_ = true;
    socket().expires_after(shared_.limits.idle);
    stream_.async_read_some(buffer_.prepare(kFirstRead), on(&Session::on_first_bytes));
  }

  void on_first_bytes(error_code error, std::size_t count) {
    idle_ = false;
    if (error) {
      return say_farewell();
    }
    buffer_.commit(count);
    read_header();
  }

  void read_header() {
    socket().expires_after(shared_.limits.header);
    find_header_end(0);
  }

  // The header is collected here and not by Beast, whose header_limit bounds each line but not their sum.
  void find_header_end(std::size_t searched) {
    const auto bytes = buffer_.data();
    const std::string_view text(static_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t end = text.find(kHeaderEnd, searched);
    if (std::min(end, text.size()) > shared_.limits.header_bytes) {
      return give_up(plain_answer(431, "the request's header is too large"));
    }
    if (end != std::string_view::npos) {
      return parse_header();
    }
    stream_.async_read_some(
        buffer_.prepare(kFirstRead),
        [self = this->shared_from_this(), next = text.size() - std::min(text.size(), kHeaderEnd.size() - 1)](
            error_code error, std::size_t count) {
          if (!error) {
            self->buffer_.commit(count);
            self->find_header_end(next);
          }
        });
  }

  void parse_header() {
    error_code error;
    buffer_.consume(parser_->put(buffer_.data(), error));
    if (error) {
      return refuse(error);
    }
    socket().expires_after(shared_.limits.body);
    const auto& header = parser_->get();
    const bool waits = core::iequals(header[http::field::expect], "100-continue");
    if (waits && header.version() >= 11 && !parser_->is_done() && buffer_.size() == 0) {
      asio::async_write(stream_, asio::buffer(kContinue), on(&Session::on_continued));
    } else {
      read_body();
    }
  }

  void on_continued(error_code error, std::size_t /*count*/) {
    if (!error) {
      read_body();
    }
  }

  void read_body() {
    if (parser_->is_done()) {
      return dispatch();
    }
    http::async_read_some(stream_, buffer_, *parser_, on(&Session::on_body));
  }

  void on_body(error_code error, std::size_t /*count*/) {
    if (error) {
      return refuse(error);
    }
    const std::size_t grown = parser_->get().body().size() - charged_;
    if (!shared_.registry.take_body_bytes(grown)) {
      return give_up(plain_answer(503, "too many large requests at once"));
    }
    charged_ += grown;
    read_body();
  }

  // The request is complete: over to a worker, which has request_ to itself until it posts back.
  void dispatch() {
    shared_.registry.set_busy(*this);
    socket().expires_never();
    http::request<http::string_body> message = parser_->release();
    keep_alive_ = message.keep_alive();
    is_head_ = message.method() == http::verb::head;
    if (!to_server_request(std::move(message), request_)) {
      return reply(plain_answer(400, "the target is not a path"));
    }
    request_.peer = peer_;
    shared_.workers.submit([self = this->shared_from_this()] {
      Response response = answer(self->shared_.handler, self->request_);
      self->request_ = {};
      auto* session = self.get();
      asio::post(session->socket().get_executor(), [self, response = std::move(response)]() mutable {
        self->give_back();
        self->reply(std::move(response));
      });
    });
  }

  // A request that cannot be read: answered if it was the client's mistake, and the connection ends.
  void refuse(error_code error) {
    const int status = status_of(error);
    if (status != 0) {
      give_up(plain_answer(status, error.message()));
    }
  }

  // What has been read of the request makes room for others at once.
  void give_up(Response response) {
    parser_.reset();
    give_back();
    reply(std::move(response));
  }

  void reply(Response response) {
    shared_.registry.set_waiting(*this);
    keep_alive_ = keep_alive_ && !shared_.registry.draining();
    response_ = to_message(std::move(response), keep_alive_ ? Ending::kKeepAlive : Ending::kClose,
                           is_head_ ? Body::kOmitted : Body::kSent);
    socket().expires_after(shared_.limits.write);
    http::async_write(stream_, response_, on(&Session::on_written));
  }

  void on_written(error_code error, std::size_t /*count*/) {
    response_ = {};
    if (error) {
      return;
    }
    if (keep_alive_) {
      return wait_for_request();
    }
    lingers_ = true;
    say_farewell();
  }

  void say_farewell() {
    socket().expires_after(kFarewell);
    if constexpr (kTls) {
      stream_.async_shutdown([self = this->shared_from_this()](error_code) { self->shut_down(); });
    } else {
      shut_down();
    }
  }

  // Closing with unread bytes would reset the connection and could take the answer with it: they are read away first.
  void shut_down() {
    error_code error;
    socket().socket().shutdown(tcp::socket::shutdown_send, error);
    if (!error && lingers_) {
      discard();
    }
  }

  void discard() {
    buffer_.clear();
    socket().async_read_some(buffer_.prepare(kFirstRead),
                             [self = this->shared_from_this()](error_code error, std::size_t) {
                               if (!error) {
                                 self->discard();
                               }
                             });
  }

  void give_back() { shared_.registry.give_body_bytes(std::exchange(charged_, 0)); }

  const SessionContext shared_;
  const std::shared_ptr<TlsContext> tls_;
  Stream stream_;
  core::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_{};
  http::response<http::string_body> response_{};
  ServerRequest request_{};
  Peer peer_{};
  std::size_t charged_ = 0;  // body bytes taken from the registry's budget
  bool keep_alive_ = false;  // set by a complete request only
  bool is_head_ = false;
  bool idle_ = false;
  bool lingers_ = false;
  bool chain_verified_ = true;
};

}  // namespace

void start_session(tcp::socket socket, const SessionContext& shared, std::shared_ptr<TlsContext> tls) {
  core::tcp_stream plain(std::move(socket));
  if (tls == nullptr) {
    std::make_shared<Session<PlainStream>>(std::move(plain), shared, nullptr)->start();
    return;
  }
  TlsStream stream(std::move(plain), tls->context);
  std::make_shared<Session<TlsStream>>(std::move(stream), shared, std::move(tls))->start();
}

}  // namespace muster::net::beast
