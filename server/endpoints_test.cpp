// Who may read metrics, and what the probes answer; no socket.
#include "net/fake/transport.h"
#include "server/health_server.h"
#include "server/metrics_server.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::server {
namespace {

using nlohmann::json;
using std::chrono::seconds;

constexpr client::MonoTime kStart{};

// Answers reviews: the token `good` belongs to alice, `poor` to bob; only alice may read.
net::Response review(const net::Request& request) {
  const json body = json::parse(request.body);
  json status;
  if (request.target.find("tokenreviews") != std::string::npos) {
    const auto token = body["spec"]["token"].get<std::string>();
    status = token == "bad"
                 ? json{{"authenticated", false}, {"error", "token is bad"}}
                 : json{{"authenticated", true}, {"user", {{"username", token == "poor" ? "bob" : "alice"}}}};
  } else {
    EXPECT_EQ(body["spec"]["nonResourceAttributes"], (json{{"path", "/metrics"}, {"verb", "get"}}));
    status = {{"allowed", body["spec"]["user"] == "alice"}};
  }
  return {.status = 201, .body = json{{"status", status}}.dump()};
}

struct World {
  net::fake::Transport transport{};
  client::ApiClient api{transport};
  AccessGate gate;
  Metrics metrics{{}};

  explicit World(AccessOptions options = {}) : gate(api, std::move(options)) {
    transport.on_call([](const net::Request& request) -> Result<net::Response> { return review(request); });
  }

  net::Response get(const std::string& authorization, client::MonoTime now = kStart) {
    net::ServerRequest request{.method = "GET", .path = "/metrics"};
    if (!authorization.empty()) {
      request.headers.emplace_back("authorization", authorization);
    }
    return serve_metrics(request, metrics, gate, now);
  }

  std::size_t asked() const { return transport.requests().size(); }
};

struct AccessCase {
  std::string name{};
  std::string authorization{};
  int want = 0;
};

class MetricsAccess : public ::testing::TestWithParam<AccessCase> {};

TEST_P(MetricsAccess, IsDecidedByTheApiServer) {
  World world;
  EXPECT_EQ(world.get(GetParam().authorization).status, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, MetricsAccess,
    ::testing::Values(AccessCase{.name = "nobody", .want = 401},
                      AccessCase{.name = "basic", .authorization = "Basic Zm9v", .want = 401},
                      AccessCase{.name = "empty_token", .authorization = "Bearer ", .want = 401},
                      AccessCase{.name = "bad_token", .authorization = "Bearer bad", .want = 401},
                      AccessCase{.name = "not_allowed", .authorization = "Bearer poor", .want = 403},
                      AccessCase{.name = "allowed", .authorization = "Bearer good", .want = 200},
                      AccessCase{.name = "lower_case", .authorization = "bearer good", .want = 200}),
    [](const auto& row) { return row.param.name; });

TEST(MetricsEndpoint, SaysWhatItServes) {
  World world;
  const net::Response response = world.get("Bearer good");
  EXPECT_EQ(*net::find_header(response.headers, "content-type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_NE(response.body.find("muster_ledger_drift"), std::string::npos);
  EXPECT_EQ(*net::find_header(world.get("").headers, "www-authenticate"), "Bearer");
  EXPECT_EQ(serve_metrics({.method = "GET", .path = "/"}, world.metrics, world.gate, kStart).status, 404);
  EXPECT_EQ(serve_metrics({.method = "POST", .path = "/metrics"}, world.metrics, world.gate, kStart).status, 405);
}

TEST(Answers, AreKeptForAMinute) {
  World world;
  world.get("Bearer good");
  EXPECT_EQ(world.asked(), 2U);
  EXPECT_EQ(world.get("Bearer good", kStart + seconds(59)).status, 200);
  EXPECT_EQ(world.asked(), 2U);
  EXPECT_EQ(world.get("Bearer good", kStart + seconds(60)).status, 200);
  EXPECT_EQ(world.asked(), 4U);
}

TEST(Answers, AreBounded) {
  World world({.entries = 2});
  world.get("Bearer good", kStart);
  world.get("Bearer b", kStart + seconds(1));
  world.get("Bearer c", kStart + seconds(2));
  const std::size_t asked = world.asked();
  world.get("Bearer c", kStart + seconds(3));
  EXPECT_EQ(world.asked(), asked) << "the newest stay";
  world.get("Bearer good", kStart + seconds(3));
  EXPECT_EQ(world.asked(), asked + 2) << "the oldest made room";
}

TEST(Answers, AreNotMadeUpWhenNobodyCanSay) {
  World world;
  bool down = true;
  world.transport.on_call([&down](const net::Request& request) -> Result<net::Response> {
    return down ? Result<net::Response>(Error{.code = ErrorCode::kUnavailable, .message = "down"})
                : Result<net::Response>(review(request));
  });
  EXPECT_EQ(world.get("Bearer good").status, 503);
  down = false;
  EXPECT_EQ(world.get("Bearer good").status, 200);
}

std::vector<HealthEndpoint> endpoints(Status certificates) {
  return {{.path = "/healthz", .checks = {{"ping", [] { return Status{}; }}}},
          {.path = "/readyz",
           .checks = {{"certificates", [certificates] { return certificates; }}, {"caches", [] { return Status{}; }}}}};
}

struct HealthCase {
  std::string name{};
  std::string method = "GET";
  std::string path{};
  std::string query{};
  bool ready = true;
  int want = 200;
  std::string body{};
};

class Health : public ::testing::TestWithParam<HealthCase> {};

TEST_P(Health, Answers) {
  const HealthCase& c = GetParam();
  const Status certificates = c.ready ? Status{} : Status{Error{.message = "none yet"}};
  const net::Response got =
      serve_health({.method = c.method, .path = c.path, .query = c.query}, endpoints(certificates));
  EXPECT_EQ(got.status, c.want);
  EXPECT_EQ(got.body, c.body);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Health,
    ::testing::Values(
        HealthCase{.name = "alive", .path = "/healthz", .body = "ok"},
        HealthCase{.name = "ready", .path = "/readyz", .body = "ok"},
        HealthCase{.name = "verbose",
                   .path = "/readyz",
                   .query = "verbose",
                   .body = "[+]certificates ok\n[+]caches ok\nreadyz check passed\n"},
        HealthCase{.name = "not_ready",
                   .path = "/readyz",
                   .ready = false,
                   .want = 500,
                   .body = "[-]certificates failed: none yet\n[+]caches ok\nreadyz check failed\n"},
        HealthCase{.name = "alive_though_not_ready", .path = "/healthz", .ready = false, .body = "ok"},
        HealthCase{.name = "elsewhere", .path = "/", .want = 404, .body = "not found\n"},
        HealthCase{.name = "post", .method = "POST", .path = "/healthz", .want = 405, .body = "read it with GET\n"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace muster::server
