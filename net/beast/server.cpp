#include "net/beast/server.h"

#include "net/beast/session.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <thread>
#include <utility>

namespace muster::net::beast {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kAcceptPause{20};  // after a failed accept: no spinning while descriptors are out
constexpr std::size_t kShedAtOnce = 16;

// At most half of the process's descriptors: the API client and files need theirs.
std::size_t connection_limit(const ServerLimits& limits) {
  const auto wanted = static_cast<std::size_t>(std::max(limits.connections, 1));
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0 || descriptors.rlim_cur == RLIM_INFINITY) {
    return wanted;
  }
  return std::min<std::size_t>(wanted, std::max<std::size_t>(descriptors.rlim_cur / 2, 8));
}

// One listening socket. All but the constructor runs on its strand.
class Listener {
 public:
  using OnAccept = std::function<void(tcp::socket)>;

  Listener(asio::io_context& io, Registry& registry, OnAccept on_accept)
      : io_(io),
        registry_(registry),
        acceptor_(asio::make_strand(io)),
        pause_(acceptor_.get_executor()),
        on_accept_(std::move(on_accept)) {}

  Status bind(const ListenAddress& address) {
    error_code error;
    const asio::ip::address host = asio::ip::make_address(address.host, error);
    if (error) {
      return invalid("'" + address.host + "' is not an IP address", "listen");
    }
    open(tcp::endpoint(host, address.port), error);
    if (error == asio::error::address_family_not_supported && host.is_v6() && host.is_unspecified()) {
      error.clear();
      open(tcp::endpoint(tcp::v4(), address.port), error);
    }
    if (error) {
      return Error{.code = ErrorCode::kUnavailable,
                   .message = "cannot listen on " + address.host + " port " + std::to_string(address.port) + ": " +
                              error.message()};
    }
    port_ = acceptor_.local_endpoint(error).port();
    return {};
  }

  std::uint16_t port() const { return port_; }

  void start() {
    asio::post(acceptor_.get_executor(), [this] { accept(); });
  }

  // Any thread. Room has come for a connection.
  void resume() {
    if (paused_) {
      asio::post(acceptor_.get_executor(), [this] {
        if (paused_.exchange(false)) {
          accept();
        }
      });
    }
  }

  // Any thread but an io thread. Returns when the socket is closed.
  void close() {
    std::promise<void> closed;
    asio::post(acceptor_.get_executor(), [this, &closed] {
      error_code ignored;
      acceptor_.close(ignored);
      pause_.cancel();
      closed.set_value();
    });
    closed.get_future().wait();
  }

 private:
  void open(const tcp::endpoint& endpoint, error_code& error) {
    acceptor_.open(endpoint.protocol(), error);
    if (!error) {
      acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    }
    if (!error && endpoint.address().is_v6()) {
      acceptor_.set_option(asio::ip::v6_only(!endpoint.address().is_unspecified()), error);
    }
    if (!error) {
      acceptor_.bind(endpoint, error);
    }
    if (!error) {
      acceptor_.listen(asio::socket_base::max_listen_connections, error);
    }
    if (error) {
      error_code ignored;
      acceptor_.close(ignored);
    }
  }

  void accept() {
    if (!acceptor_.is_open()) {
      return;
    }
    acceptor_.async_accept(asio::make_strand(io_), [this](error_code error, tcp::socket socket) {
      if (error) {
        return on_accept_failed();
      }
      on_accept_(std::move(socket));
      accept_if_room();
    });
  }

  void accept_if_room() {
    if (registry_.make_room()) {
      return accept();
    }
    paused_ = true;
    // Room may have come between the two lines above, unnoticed by resume().
    if (registry_.make_room() && paused_.exchange(false)) {
      accept();
    }
  }

  void on_accept_failed() {
    if (!acceptor_.is_open()) {
      return;
    }
    registry_.shed(kShedAtOnce);
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this](error_code error) {
      if (!error) {
        accept();
      }
    });
  }

  asio::io_context& io_;
  Registry& registry_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  const OnAccept on_accept_;
  std::uint16_t port_ = 0;
  std::atomic<bool> paused_ = false;
};

// Members are destroyed in reverse order: the io context goes (and with it all sessions) before what sessions refer to.
class BeastServer final : public Server {
 public:
  BeastServer(ServerOptions options, Handler handler)
      : options_(std::move(options)),
        handler_(std::move(handler)),
        registry_(connection_limit(options_.limits), options_.limits.buffered_body_bytes, [this] { on_room(); }) {
    if (options_.certificates != nullptr) {
      contexts_.emplace(options_.certificates, options_.client_certificates);
    }
  }

  ~BeastServer() override {
    closing_ = true;
    registry_.drain();
    io_.stop();  // first: no io thread may hand work to a pool that is gone
    io_threads_.clear();
    workers_.reset();
  }

  BeastServer(const BeastServer&) = delete;
  BeastServer& operator=(const BeastServer&) = delete;

  Status start() {
    for (const ListenAddress& address : options_.listen) {
      auto listener = std::make_unique<Listener>(io_, registry_, [this](tcp::socket s) { serve(std::move(s)); });
      MUSTER_RETURN_IF_ERROR(listener->bind(address));
      listeners_.push_back(std::move(listener));
    }
    workers_ = std::make_unique<WorkerPool>(std::max(options_.workers, 1));
    for (const auto& listener : listeners_) {
      listener->start();
    }
    for (int i = 0; i < std::max(options_.io_threads, 1); ++i) {
      io_threads_.emplace_back([this]() noexcept { io_.run(); });
    }
    return {};
  }

  std::vector<std::uint16_t> ports() const override {
    std::vector<std::uint16_t> ports;
    for (const auto& listener : listeners_) {
      ports.push_back(listener->port());
    }
    return ports;
  }

  void stop_accepting() override {
    for (const auto& listener : listeners_) {
      listener->close();
    }
    registry_.drain();
  }

  bool drain(std::chrono::milliseconds max) override {
    stop_accepting();
    if (registry_.wait_empty(max)) {
      return true;
    }
    registry_.close_all();
    return false;
  }

 private:
  void serve(tcp::socket socket) {
    std::shared_ptr<TlsContext> tls;
    if (contexts_) {
      tls = contexts_->current();
      if (tls == nullptr) {
        return;  // no certificate yet: the socket closes
      }
    }
    start_session(std::move(socket), {options_.limits, handler_, registry_, *workers_}, std::move(tls));
  }

  void on_room() {
    if (closing_) {
      return;
    }
    for (const auto& listener : listeners_) {
      listener->resume();
    }
  }

  const ServerOptions options_;
  const Handler handler_;
  Registry registry_;
  std::optional<TlsContexts> contexts_{};
  std::atomic<bool> closing_ = false;
  std::unique_ptr<WorkerPool> workers_{};
  asio::io_context io_{};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::vector<std::unique_ptr<Listener>> listeners_{};
  std::vector<std::jthread> io_threads_{};
};

}  // namespace

Result<std::unique_ptr<Server>> make_server(ServerOptions options, Handler handler) {
  if (options.listen.empty()) {
    return invalid("a server needs an address to listen on", "listen");
  }
  if (options.certificates == nullptr && options.client_certificates != ClientCertificates::kIgnore) {
    return invalid("client certificates need TLS", "clientCertificates");
  }
  auto server = std::make_unique<BeastServer>(std::move(options), std::move(handler));
  MUSTER_RETURN_IF_ERROR(server->start());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace muster::net::beast
