#include "server/metrics_server.h"

#include <utility>

namespace muster::server {
namespace {

net::Response plain(int status, std::string text) {
  return {.status = status, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}, .body = std::move(text) + "\n"};
}

net::Response refusal(const Error& error) {
  switch (error.code) {
    case ErrorCode::kUnauthenticated: {
      net::Response response = plain(401, error.message);
      response.headers.emplace_back("WWW-Authenticate", "Bearer");
      return response;
    }
    case ErrorCode::kForbidden:
      return plain(403, error.message);
    default:
      return plain(503, "cannot check the token: " + error.message);
  }
}

}  // namespace

net::Response serve_metrics(const net::ServerRequest& request, const Metrics& metrics, AccessGate& gate,
                            client::MonoTime now) {
  if (request.path != "/metrics") {
    return plain(404, "only /metrics is here");
  }
  if (request.method != "GET") {
    net::Response response = plain(405, "read it with GET");
    response.headers.emplace_back("Allow", "GET");
    return response;
  }
  if (const Status allowed = gate.check(net::find_header(request.headers, "Authorization"), now); !allowed.ok()) {
    return refusal(allowed.error());
  }
  return {
      .status = 200, .headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, .body = metrics.text()};
}

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(net::ListenAddress address,
                                                            std::shared_ptr<const net::CertificateStore> certificates,
                                                            const Metrics& metrics, AccessGate& gate,
                                                            const net::ServerFactory& make_server) {
  net::ServerOptions options{.listen = {std::move(address)},
                             .certificates = std::move(certificates),
                             .limits = {.body_bytes = 1024, .connections = 64},
                             .workers = 2};
  MUSTER_TRY(server, make_server(std::move(options), [&metrics, &gate](const net::ServerRequest& request) {
               return serve_metrics(request, metrics, gate, client::mono_now());
             }));
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(server)));
}

}  // namespace muster::server
