// MetricsServer: GET /metrics over TLS, for those whom the API server allows it.
//
// Owner: the manager. Serves from start() to its destruction; other methods from any thread but a worker of the server.
#pragma once

#include "base/result.h"
#include "net/server_factory.h"
#include "server/access_gate.h"
#include "server/metrics.h"

#include <cstdint>
#include <memory>

namespace muster::server {

class MetricsServer {
 public:
  // `metrics` and `gate` must outlive this.
  static Result<std::unique_ptr<MetricsServer>> start(net::ListenAddress address,
                                                      std::shared_ptr<const net::CertificateStore> certificates,
                                                      const Metrics& metrics, AccessGate& gate,
                                                      const net::ServerFactory& make_server);

  std::uint16_t port() const { return server_->port(); }

 private:
  explicit MetricsServer(std::unique_ptr<net::Server> server) : server_(std::move(server)) {}

  std::unique_ptr<net::Server> server_;
};

// What the server does with one request.
net::Response serve_metrics(const net::ServerRequest& request, const Metrics& metrics, AccessGate& gate,
                            client::MonoTime now);

}  // namespace muster::server
