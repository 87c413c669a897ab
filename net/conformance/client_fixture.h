// What the client half of the suite shares: making a transport, a sink that records, certificates of a test CA.
#pragma once

#include "net/conformance/scripted_peer.h"
#include "net/cpprest/transport.h"
#include "net/tls_certs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace muster::net::conformance {

inline TimePoint wall_now() {
  return std::chrono::floor<Duration>(std::chrono::system_clock::now());
}

inline Validity valid_now() {
  return {.not_before = wall_now() - std::chrono::hours(1), .lifetime = std::chrono::hours(2)};
}

// A CA and a serving certificate for 127.0.0.1 and `dns_name`.
struct TestCa {
  PemPair ca{};

  explicit TestCa(const std::string& name = "test-ca") : ca(make_ca(name, valid_now()).value()) {}

  ServerTls serving(const std::string& dns_name = "localhost", Validity validity = valid_now()) const {
    return {
        .identity =
            make_serving_certificate(ca, {.dns_names = {dns_name}, .ip_addresses = {"127.0.0.1"}}, validity).value()};
  }

  PemPair client(const std::string& name, std::vector<std::string> organisations = {}) const {
    return make_client_certificate(ca, {.common_name = name, .organisations = std::move(organisations)}, valid_now())
        .value();
  }
};

inline std::unique_ptr<Transport> make_client(cpprest::TransportOptions options) {
  auto made = cpprest::make_transport(std::move(options));
  EXPECT_TRUE(made.ok()) << to_string(made.error());
  return std::move(made).value();
}

inline std::unique_ptr<Transport> plain_client(const ScriptedPeer& peer) {
  return make_client({.credentials = {.base_url = peer.url()}});
}

inline std::unique_ptr<Transport> tls_client(const std::string& url, const std::string& ca_pem) {
  return make_client({.credentials = {.base_url = url, .ca = from_text(ca_pem)}});
}

inline Request get(std::string target = "/") {
  return {.method = "GET", .target = std::move(target)};
}

inline Request post(std::string body) {
  return {.method = "POST", .target = "/things", .body = std::move(body)};
}

class RecordingSink : public ChunkSink {
 public:
  std::function<bool(const std::string&)> on_text{};  // what on_bytes returns; none: true
  bool accept_head = true;
  int status = 0;
  Headers headers{};
  std::string text{};
  int calls = 0;

  bool on_head(int head_status, const Headers& head_headers) override {
    EXPECT_EQ(calls, 0) << "bytes before the head";
    status = head_status;
    headers = head_headers;
    return accept_head;
  }

  bool on_bytes(std::string_view bytes) override {
    ++calls;
    text.append(bytes);
    return !on_text || on_text(text);
  }
};

using Timer = std::chrono::steady_clock;

inline std::chrono::milliseconds since(Timer::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Timer::now() - start);
}

}  // namespace muster::net::conformance
