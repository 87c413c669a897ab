// Items 8 (well-formed part), 11 and 12 of the suite: HTTP as good clients speak it, draining, addresses.
#include "net/conformance/server_fixture.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

namespace muster::net::conformance {
namespace {

using std::chrono::milliseconds;

struct ExchangeCase {
  std::string name{};
  std::string request{};
  int status = 200;
  std::string body{};
};

class ServerExchange : public ::testing::TestWithParam<ExchangeCase> {};

TEST_P(ServerExchange, AnswersAndKeepsTheConnection) {
  const auto server = serve(local());
  const auto channel = Channel::connect("127.0.0.1", server->port());
  ASSERT_NE(channel, nullptr);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(channel->send(GetParam().request));
    const std::string response = channel->receive_message();
    EXPECT_EQ(status_of(response), GetParam().status);
    EXPECT_EQ(response.substr(response.find("\r\n\r\n") + 4), GetParam().body);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, ServerExchange,
    ::testing::Values(
        ExchangeCase{.name = "get", .request = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n", .body = "GET /a? 0"},
        ExchangeCase{.name = "query", .request = "GET /a?b=c%20d?e HTTP/1.1\r\n\r\n", .body = "GET /a?b=c%20d?e 0"},
        ExchangeCase{.name = "post", .request = request_text("POST", "/a", "12345"), .body = "POST /a? 5"},
        ExchangeCase{.name = "large",
                     .request = request_text("POST", "/a", std::string(7U << 20, 'x')),
                     .body = "POST /a? 7340032"},
        ExchangeCase{
            .name = "chunked",
            .request =
                "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: r\r\n\r\n",
            .body = "POST /a? 5"},
        ExchangeCase{.name = "unknown_method", .request = request_text("BREW", "/pot"), .body = "BREW /pot? 0"}),
    [](const auto& row) { return row.param.name; });

TEST(ServerHttp, AnswersPipelinedRequestsInOrder) {
  const auto server = serve(local());
  const auto channel = Channel::connect("127.0.0.1", server->port());
  std::string all;
  for (int i = 0; i < 10; ++i) {
    all += request_text("POST", "/" + std::to_string(i), std::string(static_cast<std::size_t>(i), 'b'));
  }
  ASSERT_TRUE(channel->send(all));
  for (int i = 0; i < 10; ++i) {
    const std::string response = channel->receive_message();
    const std::string want = "POST /" + std::to_string(i) + "? " + std::to_string(i);
    EXPECT_EQ(response.substr(response.find("\r\n\r\n") + 4), want);
  }
}

TEST(ServerHttp, InvitesABodyThatWaitsForIt) {
  const auto server = serve(local());
  const auto channel = Channel::connect("127.0.0.1", server->port());
  channel->send("POST /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(channel->receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  channel->send("body");
  const std::string response = channel->receive_message();
  EXPECT_EQ(response.substr(response.find("\r\n\r\n") + 4), "POST /a? 4");
}

TEST(ServerHttp, RefusesATooLargeBodyBeforeItIsSent) {
  const auto server = serve(local());
  const auto channel = Channel::connect("127.0.0.1", server->port());
  channel->send("POST /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n");
  EXPECT_EQ(status_of(channel->receive_message()), 413);
}

// The answer must survive although the client is still sending: no reset may overtake it.
TEST(ServerHttp, ARefusalReachesAClientThatKeepsSending) {
  const auto server = serve(local());
  for (int round = 0; round < 5; ++round) {
    const auto channel = Channel::connect("127.0.0.1", server->port());
    channel->send("POST /a HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n");
    channel->send(std::string(2U << 20, 'x'));
    EXPECT_EQ(status_of(channel->receive_message()), 413);
  }
}

TEST(ServerHttp, ClosesWhenAskedTo) {
  const auto server = serve(local());
  for (const char* head : {"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    const auto channel = Channel::connect("127.0.0.1", server->port());
    channel->send(head);
    EXPECT_EQ(status_of(channel->receive_all()), 200);
  }
}

TEST(ServerHttp, AnswersHeadWithoutBody) {
  const auto server = serve(local());
  const auto channel = Channel::connect("127.0.0.1", server->port());
  channel->send("HEAD /a HTTP/1.1\r\n\r\n" + request_text("GET", "/b"));
  const std::string head = channel->receive_until("\r\n\r\n");
  EXPECT_NE(head.find("Content-Length: 10"), std::string::npos) << head;  // of "HEAD /a? 0"
  EXPECT_EQ(status_of(channel->receive_message()), 200);
}

struct HandlerCase {
  std::string name{};
  Handler handler{};
  int want = 0;
};

class ServerHandler : public ::testing::TestWithParam<HandlerCase> {};

TEST_P(ServerHandler, ItsFaultsStayInside) {
  const auto server = serve(local(), GetParam().handler);
  const auto channel = Channel::connect("127.0.0.1", server->port());
  for (int round = 0; round < 2; ++round) {
    channel->send(request_text("GET", "/"));
    const std::string response = channel->receive_message();
    EXPECT_EQ(status_of(response), GetParam().want);
    EXPECT_EQ(response.find("Injected"), std::string::npos) << response;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, ServerHandler,
    ::testing::Values(
        HandlerCase{.name = "throws",
                    .handler = [](const ServerRequest&) -> Response { throw std::runtime_error("x"); },
                    .want = 500},
        HandlerCase{.name = "throws_an_int", .handler = [](const ServerRequest&) -> Response { throw 1; }, .want = 500},
        HandlerCase{.name = "no_status", .handler = [](const ServerRequest&) { return Response{}; }, .want = 500},
        HandlerCase{.name = "splits_headers",
                    .handler =
                        [](const ServerRequest&) {
                          return Response{.status = 200, .headers = {{"X", "a\r\nInjected: yes"}}};
                        },
                    .want = 500},
        HandlerCase{.name = "lies_about_length",
                    .handler =
                        [](const ServerRequest&) {
                          return Response{.status = 200, .headers = {{"content-length", "99"}}, .body = "ab"};
                        },
                    .want = 200},
        HandlerCase{.name = "no_content",
                    .handler = [](const ServerRequest&) { return Response{.status = 204}; },
                    .want = 204}),
    [](const auto& row) { return row.param.name; });

TEST(ServerHttp, ABlockedHandlerDoesNotBlockOthers) {
  Gate entered;
  Gate leave;
  ServerOptions options = local();
  options.workers = 2;
  const auto server = serve(options, [&](const ServerRequest& request) {
    if (request.path == "/slow") {
      entered.open();
      leave.wait();
    }
    return echo(request);
  });
  const auto slow = Channel::connect("127.0.0.1", server->port());
  slow->send(request_text("GET", "/slow"));
  ASSERT_TRUE(entered.wait());
  EXPECT_EQ(good_status(server->port()), 200);
  leave.open();
  EXPECT_EQ(status_of(slow->receive_message()), 200);
}

TEST(ServerDrain, FinishesWhatHasBegunAndRefusesTheRest) {
  Gate entered;
  Gate leave;
  const auto server = serve(local(), [&](const ServerRequest& request) {
    entered.open();
    leave.wait();
    return echo(request);
  });
  const std::uint16_t port = server->port();
  const auto idle = Channel::connect("127.0.0.1", port);
  const auto busy = Channel::connect("127.0.0.1", port);
  busy->send(request_text("GET", "/last"));
  ASSERT_TRUE(entered.wait());
  server->stop_accepting();
  EXPECT_EQ(Channel::connect("127.0.0.1", port), nullptr) << "new connections are refused";
  EXPECT_TRUE(idle->wait_closed(2'000));
  EXPECT_FALSE(busy->wait_closed(0));
  std::jthread opener([&] { leave.open(); });
  const auto start = Timer::now();
  std::jthread client([&] {
    const std::string response = busy->receive_message();
    EXPECT_EQ(status_of(response), 200);
    EXPECT_NE(response.find("Connection: close"), std::string::npos) << response;
    busy->close();
  });
  EXPECT_TRUE(server->drain(milliseconds(5'000)));
  EXPECT_LT(since(start), milliseconds(4'000));
}

TEST(ServerDrain, EndsInTimeWhateverAHandlerDoes) {
  Gate entered;
  Gate leave;
  auto server = serve(local(), [&](const ServerRequest& request) {
    entered.open();
    leave.wait();
    return echo(request);
  });
  const auto busy = Channel::connect("127.0.0.1", server->port());
  busy->send(request_text("GET", "/last"));
  ASSERT_TRUE(entered.wait());
  EXPECT_FALSE(server->drain(milliseconds(100)));
  EXPECT_TRUE(busy->wait_closed(2'000)) << "cut off";
  leave.open();
  server.reset();
}

TEST(ServerDrain, DestructionWithOpenConnectionsIsClean) {
  std::vector<std::unique_ptr<Channel>> channels;
  {
    const auto server = serve(local());
    for (int i = 0; i < 20; ++i) {
      channels.push_back(Channel::connect("127.0.0.1", server->port()));
      channels.back()->send(i % 2 == 0 ? "GET / HT" : request_text("GET", "/"));
    }
  }
  for (const auto& channel : channels) {
    EXPECT_TRUE(channel->wait_closed(2'000));
  }
}

bool has_ipv6() {
  const auto made = beast::make_server({.listen = {{.host = "::1"}}}, echo);
  return made.ok();
}

struct AddressCase {
  std::string name{};
  std::string listen{};
  std::string client{};
  int want = 200;
};

class ServerAddress : public ::testing::TestWithParam<AddressCase> {};

TEST_P(ServerAddress, Serves) {
  const AddressCase& c = GetParam();
  if (!has_ipv6() && (c.listen == "::1" || c.client == "::1")) {
    GTEST_SKIP() << "no IPv6 on this machine";
  }
  std::string seen;
  const auto server = serve({.listen = {{.host = c.listen}}}, [&](const ServerRequest& request) {
    seen = request.peer.address;
    return echo(request);
  });
  EXPECT_EQ(good_status(server->port(), c.client), c.want);
  if (c.want == 200) {
    EXPECT_EQ(seen, c.client);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, ServerAddress,
    ::testing::Values(AddressCase{.name = "ipv4", .listen = "127.0.0.1", .client = "127.0.0.1"},
                      AddressCase{.name = "ipv4_any", .listen = "0.0.0.0", .client = "127.0.0.1"},
                      AddressCase{.name = "ipv6", .listen = "::1", .client = "::1"},
                      AddressCase{.name = "dual_stack_by_ipv6", .listen = "::", .client = "::1"},
                      AddressCase{.name = "dual_stack_by_ipv4", .listen = "::", .client = "127.0.0.1"},
                      AddressCase{.name = "ipv6_only", .listen = "::1", .client = "127.0.0.1", .want = 0}),
    [](const auto& row) { return row.param.name; });

TEST(ServerAddresses, SeveralAreServedByOneServer) {
  const auto server = serve({.listen = {{.host = "127.0.0.1"}, {.host = "127.0.0.1"}}});
  ASSERT_EQ(server->ports().size(), 2U);
  EXPECT_NE(server->ports()[0], server->ports()[1]);
  for (const std::uint16_t port : server->ports()) {
    EXPECT_EQ(good_status(port), 200);
  }
}

TEST(ServerAddresses, WhatCannotBeBoundIsAnError) {
  const auto server = serve(local());
  const auto taken = beast::make_server({.listen = {{.host = "127.0.0.1", .port = server->port()}}}, echo);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code, ErrorCode::kUnavailable);
  const auto no_address = beast::make_server({.listen = {{.host = "localhost"}}}, echo);
  ASSERT_FALSE(no_address.ok());
  EXPECT_EQ(no_address.error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace muster::net::conformance
