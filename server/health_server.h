// HealthServer: liveness and readiness over plain HTTP, as kubelet asks for them. Answers as Kubernetes' own components
// do: `ok`, or the list of checks with those that fail.
//
// Owner: the manager. Serves from start() to its destruction.
#pragma once

#include "base/result.h"
#include "net/server_factory.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace muster::server {

struct HealthCheck {
  std::string name{};
  std::function<Status()> run{};  // quick; called on the server's workers
};

struct HealthEndpoint {
  std::string path{};  // "/readyz"
  std::vector<HealthCheck> checks{};
};

class HealthServer {
 public:
  static Result<std::unique_ptr<HealthServer>> start(net::ListenAddress address, std::vector<HealthEndpoint> endpoints,
                                                     const net::ServerFactory& make_server);

  std::uint16_t port() const { return server_->port(); }

 private:
  explicit HealthServer(std::unique_ptr<net::Server> server) : server_(std::move(server)) {}

  std::unique_ptr<net::Server> server_;
};

// What the server does with one request.
net::Response serve_health(const net::ServerRequest& request, const std::vector<HealthEndpoint>& endpoints);

}  // namespace muster::server
