// WebhookServer: the TLS endpoint that the API server sends admission reviews to. Each request is answered from the
// view that is published at that moment.
//
// Owner: the manager. Serves from start() to its destruction; methods from any thread but a worker of the server.
#pragma once

#include "base/result.h"
#include "net/server_factory.h"
#include "webhook/admission.h"
#include "webhook/options.h"
#include "webhook/view.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace muster::webhook {

// The view published last; null before the first. Called on the server's workers.
using ViewSource = std::function<std::shared_ptr<const View>()>;

struct WebhookServerOptions {
  std::string host{};  // webhook.host; empty: every interface
  std::uint16_t port = 9443;
  Options admission{};
  std::chrono::milliseconds patience{1'000};  // for a namespace that the view does not know yet
};

class WebhookServer {
 public:
  // kUnavailable if the address cannot be bound.
  static Result<std::unique_ptr<WebhookServer>> start(WebhookServerOptions options,
                                                      std::shared_ptr<const net::CertificateStore> certificates,
                                                      ViewSource views, const net::ServerFactory& make_server);

  std::uint16_t port() const { return server_->port(); }

  // Stops accepting and waits for the reviews that have begun. False: some were cut off.
  bool drain(std::chrono::milliseconds max) { return server_->drain(max); }

 private:
  explicit WebhookServer(std::unique_ptr<net::Server> server) : server_(std::move(server)) {}

  std::unique_ptr<net::Server> server_;
};

// What the server does with one request. `options` and `views` are borrowed.
net::Response serve(const net::ServerRequest& request, const WebhookServerOptions& options, const ViewSource& views);

}  // namespace muster::webhook
