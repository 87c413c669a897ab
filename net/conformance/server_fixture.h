// What the server half of the suite shares: a server with a counting echo handler, and good clients.
#pragma once

#include "net/beast/server.h"
#include "net/conformance/client_fixture.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace muster::net::conformance {

// "METHOD path?query body-size", so that a test sees that all arrived.
inline Response echo(const ServerRequest& request) {
  return {
      .status = 200,
      .headers = {{"Content-Type", "text/plain"}},
      .body = request.method + " " + request.path + "?" + request.query + " " + std::to_string(request.body.size())};
}

inline std::unique_ptr<Server> serve(ServerOptions options, Handler handler = echo) {
  auto made = beast::make_server(std::move(options), std::move(handler));
  EXPECT_TRUE(made.ok()) << to_string(made.error());
  return std::move(made).value();
}

inline ServerOptions local(ServerLimits limits = {}) {
  return {.listen = {{.host = "127.0.0.1"}}, .limits = limits};
}

inline ServerOptions local_tls(std::shared_ptr<const CertificateStore> store, ServerLimits limits = {}) {
  return {.listen = {{.host = "127.0.0.1"}}, .certificates = std::move(store), .limits = limits};
}

inline std::shared_ptr<CertificateStore> store_with(const PemPair& identity) {
  auto store = std::make_shared<CertificateStore>();
  EXPECT_TRUE(store->set(identity.certificate_pem, identity.key_pem).ok());
  return store;
}

inline std::string request_text(const std::string& method, const std::string& target, const std::string& body = {}) {
  return method + " " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

// One request over a fresh connection, as any well-behaved client makes it.
inline int good_status(std::uint16_t port, const std::string& address = "127.0.0.1") {
  const auto channel = Channel::connect(address, port);
  if (channel == nullptr || !channel->send(request_text("GET", "/good"))) {
    return 0;
  }
  return status_of(channel->receive_message());
}

}  // namespace muster::net::conformance
