// Channel: one blocking byte stream over a socket, optionally with TLS, for scripted peers and hostile clients in
// tests. Used by one thread, but for shut_down(), which any thread may call. Every read ends after 10 s at the latest.
#pragma once

#include "net/tls_certs.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

typedef struct ssl_st SSL;
typedef struct ssl_ctx_st SSL_CTX;

namespace muster::net::conformance {

struct ServerTls {
  PemPair identity{};
  std::string client_ca_pem{};  // not empty: a client certificate of this CA is required
};

struct ClientTls {
  std::string ca_pem{};
  PemPair identity{};  // optional
};

class Channel {
 public:
  explicit Channel(int fd);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Null if refused.
  static std::unique_ptr<Channel> connect(const std::string& address, std::uint16_t port);

  bool accept_tls(const ServerTls& tls);
  bool connect_tls(const ClientTls& tls);
  // The common name that the other side's certificate shows; empty without TLS.
  std::string peer_common_name() const;

  bool send(std::string_view bytes);
  // Up to and including `mark`; what came beyond is kept. Shorter if the stream ends.
  std::string receive_until(std::string_view mark);
  std::string receive_exactly(std::size_t count);
  // Head and, by its Content-Length, body. Empty if the stream ends before.
  std::string receive_message();
  std::string receive_all();
  bool wait_readable(int limit_ms);
  // Waits for the other side to close. False: it had not, after `limit_ms`.
  bool wait_closed(int limit_ms);

  void close();
  void shut_down();

 private:
  struct SslDeleter {
    void operator()(SSL* ssl) const;
  };

  struct ContextDeleter {
    void operator()(SSL_CTX* context) const;
  };

  bool fill();

  int fd_;
  std::unique_ptr<SSL_CTX, ContextDeleter> context_{};
  std::unique_ptr<SSL, SslDeleter> ssl_{};
  std::string buffer_{};
};

// The status of an HTTP response text; 0 if there is none.
int status_of(std::string_view response);

}  // namespace muster::net::conformance
