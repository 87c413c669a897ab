#include "server/health_server.h"

#include <algorithm>
#include <utility>

namespace muster::server {
namespace {

net::Response plain(int status, std::string text) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"Cache-Control", "no-store"}},
          .body = std::move(text)};
}

net::Response run(const HealthEndpoint& endpoint, bool verbose) {
  std::string lines;
  bool healthy = true;
  for (const HealthCheck& check : endpoint.checks) {
    const Status status = check.run();
    healthy = healthy && status.ok();
    lines += status.ok() ? "[+]" + check.name + " ok\n"
                         : "[-]" + check.name + " failed: " + to_string(status.error()) + "\n";
  }
  if (!healthy) {
    return plain(500, lines + endpoint.path.substr(1) + " check failed\n");
  }
  return plain(200, verbose ? lines + endpoint.path.substr(1) + " check passed\n" : "ok");
}

}  // namespace

net::Response serve_health(const net::ServerRequest& request, const std::vector<HealthEndpoint>& endpoints) {
  const auto found = std::find_if(endpoints.begin(), endpoints.end(),
                                  [&](const HealthEndpoint& endpoint) { return endpoint.path == request.path; });
  if (found == endpoints.end()) {
    return plain(404, "not found\n");
  }
  if (request.method != "GET" && request.method != "HEAD") {
    net::Response response = plain(405, "read it with GET\n");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  return run(*found, request.query == "verbose");
}

Result<std::unique_ptr<HealthServer>> HealthServer::start(net::ListenAddress address,
                                                          std::vector<HealthEndpoint> endpoints,
                                                          const net::ServerFactory& make_server) {
  net::ServerOptions options{
      .listen = {std::move(address)}, .limits = {.body_bytes = 1024, .connections = 64}, .workers = 1};
  MUSTER_TRY(server,
             make_server(std::move(options), [endpoints = std::move(endpoints)](const net::ServerRequest& request) {
               return serve_health(request, endpoints);
             }));
  return std::unique_ptr<HealthServer>(new HealthServer(std::move(server)));
}

}  // namespace muster::server
