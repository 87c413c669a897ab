// Server: the only way Muster answers HTTP. An interface and values; the backend is net/beast. It is made to face a
// hostile network: everything a client can make it hold is bounded by ServerLimits.
//
// Thread: methods may be called from any thread but a worker of the server itself. The handler runs on the server's
// workers, several at once, and may block; an exception out of it becomes status 500.
#pragma once

#include "net/tls.h"
#include "net/transport.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace muster::net {

// Who is at the other end. The verified fields are filled only from a certificate that passed verification.
struct Peer {
  std::string address{};                     // IP address, without the port
  std::string verified_cn{};                 // common name; empty: no verified certificate
  std::vector<std::string> verified_orgs{};  // organisations (groups, in Kubernetes' reading)
};

struct ServerRequest {
  std::string method{};
  std::string path{};   // as sent, percent-encoded
  std::string query{};  // without the question mark
  Headers headers{};
  std::string body{};
  Peer peer{};
};

struct ServerLimits {
  std::size_t header_bytes = 32U << 10;
  std::size_t body_bytes = 7U << 20;             // of one request; an AdmissionReview holds two objects
  std::size_t buffered_body_bytes = 128U << 20;  // of all requests together; beyond it, 503
  int connections = 1024;                        // of all listeners together; beyond it, the backlog waits
  std::chrono::milliseconds handshake{5'000};    // TLS handshake, as a whole
  std::chrono::milliseconds header{5'000};       // from the first byte of a request to the end of its header
  std::chrono::milliseconds body{10'000};        // the whole body
  std::chrono::milliseconds idle{120'000};       // between two requests of one connection
  std::chrono::milliseconds write{30'000};       // the whole answer
};

// Port 0 takes a free one. Host is an IP address; "::" listens on IPv4 too, unless the machine has no IPv6: then it
// means "0.0.0.0".
struct ListenAddress {
  std::string host{"::"};
  std::uint16_t port = 0;
};

enum class ClientCertificates {
  kIgnore,   // not asked for
  kRequest,  // asked for; a client without one, or with one that does not verify, is served with an empty Peer
  kRequire,  // no verified certificate, no connection
};

struct ServerOptions {
  std::vector<ListenAddress> listen{{}};
  std::shared_ptr<const CertificateStore> certificates{};  // none: plain HTTP (health probes)
  ClientCertificates client_certificates = ClientCertificates::kIgnore;
  ServerLimits limits{};
  int workers = 4;     // threads that run the handler
  int io_threads = 1;  // threads that do sockets and TLS
};

using Handler = std::function<Response(const ServerRequest&)>;

// Serves from its creation on. The destructor closes everything at once; handlers that run are waited for.
class Server {
 public:
  virtual ~Server() = default;
  // One port for each listen address, in order.
  virtual std::vector<std::uint16_t> ports() const = 0;

  std::uint16_t port() const { return ports().front(); }

  // Closes the listeners and idle connections. Requests that have begun are answered, with `Connection: close`.
  virtual void stop_accepting() = 0;
  // stop_accepting(), then waits for those requests. False: some were still open after `max` and have been cut off.
  virtual bool drain(std::chrono::milliseconds max) = 0;
};

}  // namespace muster::net
