// Items 4 and 5 of the suite, and what else a call promises: deadlines, limits, errors, at most one execution.
#include "net/conformance/client_fixture.h"

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

namespace muster::net::conformance {
namespace {

using std::chrono::milliseconds;

TEST(ClientCall, SendsTheRequestAsGiven) {
  std::string seen;
  ScriptedPeer peer(ScriptedPeer::answering([&](const std::string& request) {
    seen = request;
    return http_response(201, "made", "X-Kind: thing\r\n");
  }));
  const auto client = make_client(
      {.credentials = {.base_url = peer.url() + "/prefix", .token = from_text("secret")}, .user_agent = "muster/test"});
  Request request = post("{\"a\":1}");
  request.target = "/apis/x?labelSelector=a%3Db&limit=500";
  request.headers = {{"Content-Type", "application/json"}};
  const auto response = client->call(request, {});
  ASSERT_TRUE(response.ok()) << to_string(response.error());
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, "made");
  ASSERT_NE(find_header(response->headers, "x-kind"), nullptr);
  EXPECT_EQ(*find_header(response->headers, "x-kind"), "thing");
  EXPECT_EQ(seen.substr(0, seen.find("\r\n")), "POST /prefix/apis/x?labelSelector=a%3Db&limit=500 HTTP/1.1");
  for (const char* line : {"Content-Type:application/json\r\n", "Content-Length:7\r\n", "User-Agent:muster/test\r\n",
                           "Authorization:Bearer secret\r\n", "\r\n\r\n{\"a\":1}"}) {
    EXPECT_NE(seen.find(line), std::string::npos) << line << "\n" << seen;
  }
}

TEST(ClientCall, SurvivesAnIdleConnectionClosedByThePeer) {
  Gate closed[20];
  std::atomic<int> served = 0;
  ScriptedPeer peer([&](Channel& channel) {
    if (!channel.receive_message().empty()) {
      channel.send(http_response(200, "ok"));  // keep-alive, and yet closed
      channel.close();
      closed[served++].open();
    }
  });
  const auto client = plain_client(peer);
  for (Gate& gate : closed) {
    const auto response = client->call(get(), {});
    ASSERT_TRUE(response.ok()) << to_string(response.error());
    ASSERT_TRUE(gate.wait());
  }
}

struct WriteCase {
  std::string name{};
  std::string method{};
  std::string body{};
};

class ClientWrite : public ::testing::TestWithParam<WriteCase> {};

// The peer answers a GET, reads the write on the same connection, and closes: was it executed? Nobody knows, so it must
// not be sent again.
TEST_P(ClientWrite, IsExecutedAtMostOnce) {
  std::atomic<int> writes = 0;
  std::atomic<int> on_reused = 0;
  ScriptedPeer peer([&](Channel& channel) {
    for (int requests = 0;; ++requests) {
      const std::string request = channel.receive_message();
      if (request.empty()) {
        return;
      }
      if (request.substr(0, 3) != "GET") {
        ++writes;
        on_reused += requests > 0 ? 1 : 0;
        return;
      }
      channel.send(http_response(200, "ok"));
    }
  });
  const auto client = plain_client(peer);
  // A connection returns to the pool slightly after its response, so that one round may open a new one.
  int rounds = 0;
  for (; rounds < 50 && on_reused < 3; ++rounds) {
    ASSERT_TRUE(client->call(get(), {}).ok());
    const auto response = client->call({.method = GetParam().method, .target = "/x", .body = GetParam().body}, {});
    ASSERT_FALSE(response.ok());
    EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
    EXPECT_TRUE(response.error().maybe_executed) << to_string(response.error());
    ASSERT_EQ(writes, rounds + 1);
  }
  EXPECT_GE(on_reused, 3) << "no write went over a pooled connection";
}

INSTANTIATE_TEST_SUITE_P(Table, ClientWrite,
                         ::testing::Values(WriteCase{.name = "post", .method = "POST", .body = "{}"},
                                           WriteCase{.name = "put", .method = "PUT", .body = "{}"},
                                           WriteCase{.name = "patch", .method = "PATCH", .body = "{}"},
                                           WriteCase{.name = "delete", .method = "DELETE", .body = ""},
                                           WriteCase{.name = "empty_post", .method = "POST", .body = ""}),
                         [](const auto& row) { return row.param.name; });

TEST(ClientCall, ReturnsRedirectsInsteadOfFollowing) {
  ScriptedPeer other(ScriptedPeer::answering([](const std::string&) { return http_response(200, "stolen"); }));
  ScriptedPeer peer(ScriptedPeer::answering([&](const std::string& request) {
    const std::string status = request.substr(request.find("/") + 1, 3);
    return http_response(std::stoi(status), "", "Location: " + other.url() + "/\r\n");
  }));
  const auto client = make_client({.credentials = {.base_url = peer.url(), .token = from_text("secret")}});
  for (const int status : {301, 302, 303, 307, 308}) {
    const auto response = client->call(get("/" + std::to_string(status)), {});
    ASSERT_TRUE(response.ok()) << to_string(response.error());
    EXPECT_EQ(response->status, status);
  }
  EXPECT_EQ(other.connections(), 0);
}

TEST(ClientCall, EndsAtItsDeadlineWhateverArrives) {
  ScriptedPeer peer([](Channel& channel) {
    channel.receive_message();
    channel.send(chunked_head());
    while (channel.send(chunk("drip")) && !channel.wait_closed(20)) {
    }
  });
  Request request = post("{}");
  request.deadline = milliseconds(300);
  const auto start = Timer::now();
  const auto response = plain_client(peer)->call(request, {});
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(response.error().maybe_executed);
  EXPECT_LT(since(start), milliseconds(2'000));
}

TEST(ClientCall, ATimedOutReadHasNotBeenExecuted) {
  ScriptedPeer peer([](Channel& channel) { channel.receive_all(); });
  Request request = get();
  request.deadline = milliseconds(100);
  const auto response = plain_client(peer)->call(request, {});
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, ErrorCode::kTimeout);
  EXPECT_FALSE(response.error().maybe_executed);
}

TEST(ClientCall, AnUnreachablePeerIsUnavailableAndHasExecutedNothing) {
  std::string url;
  {
    const ScriptedPeer peer([](Channel&) {});
    url = peer.url();
  }
  const auto response = make_client({.credentials = {.base_url = url}})->call(post("{}"), {});
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(response.error().maybe_executed);
  EXPECT_NE(response.error().message.find(url), std::string::npos) << response.error().message;
}

TEST(ClientCall, RefusesAnAnswerBeyondTheLimit) {
  ScriptedPeer peer(
      ScriptedPeer::answering([](const std::string&) { return http_response(200, std::string(2'000, 'z')); }));
  const auto client = make_client({.credentials = {.base_url = peer.url()}, .response_bytes = 1'000});
  const auto response = client->call(get(), {});
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, ErrorCode::kTooLarge);
}

TEST(ClientCall, KeepsToItsConcurrency) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  ScriptedPeer peer(ScriptedPeer::answering([&](const std::string&) {
    int seen = most;
    const int now = ++running;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::yield();
    --running;
    return http_response(200, "ok");
  }));
  const auto client = make_client({.credentials = {.base_url = peer.url()}, .concurrency = 3});
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 10; ++n) {
        EXPECT_TRUE(client->call(get(), {}).ok());
      }
    });
  }
  threads.clear();
  EXPECT_LE(most, 3);
}

TEST(ClientCall, WaitingForASlotEndsToo) {
  Gate entered;
  ScriptedPeer peer([&](Channel& channel) {
    channel.receive_message();
    entered.open();
    channel.receive_all();
  });
  const auto client = make_client({.credentials = {.base_url = peer.url()}, .concurrency = 1});
  std::stop_source stop;
  std::jthread holder([&] {
    const auto response = client->call(get(), stop.get_token());
    ASSERT_FALSE(response.ok());
    EXPECT_EQ(response.error().code, ErrorCode::kCancelled);
  });
  ASSERT_TRUE(entered.wait());
  Request request = get();
  request.deadline = milliseconds(50);
  const auto response = client->call(request, {});
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, ErrorCode::kTimeout);
  stop.request_stop();
}

TEST(ClientCall, SendsALargeBodyWhole) {
  std::string seen;
  ScriptedPeer peer(ScriptedPeer::answering([&](const std::string& request) {
    seen = request.substr(request.find("\r\n\r\n") + 4);
    return http_response(200, "");
  }));
  std::string body;
  for (int i = 0; body.size() < (3U << 20); ++i) {
    body += std::to_string(i) + ",";
  }
  Request request = post(body);
  const auto client = plain_client(peer);
  ASSERT_TRUE(client->call(request, {}).ok());
  EXPECT_TRUE(seen == body);
  request.replay_safe = true;
  ASSERT_TRUE(client->call(request, {}).ok());
  EXPECT_TRUE(seen == body);
}

}  // namespace
}  // namespace muster::net::conformance
