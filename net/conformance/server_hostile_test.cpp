// Item 8 of the suite: what a hostile or broken client can do to the server, which is nothing.
#include "net/conformance/server_fixture.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <string>
#include <vector>

namespace muster::net::conformance {
namespace {

using std::chrono::milliseconds;

constexpr int kClosed = 0;  // the connection ends without an answer

ServerLimits tight() {
  return {.header_bytes = 4'096,
          .body_bytes = 10'000,
          .handshake = milliseconds(200),
          .header = milliseconds(200),
          .body = milliseconds(200),
          .idle = milliseconds(400)};
}

std::string chunked_request(const std::string& body) {
  return "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + body;
}

std::string many_headers(int count) {
  std::string text = "GET /x HTTP/1.1\r\n";
  for (int i = 0; i < count; ++i) {
    text += "X-Filler-" + std::to_string(i) + ": aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n";
  }
  return text + "\r\n";
}

struct BytesCase {
  std::string name{};
  std::string bytes{};
  int want = kClosed;
};

class ServerHostileBytes : public ::testing::TestWithParam<BytesCase> {};

// One server for the whole table: it must serve the next client after each of them.
TEST_P(ServerHostileBytes, AreAnsweredAndTheServerLives) {
  static const std::unique_ptr<Server> server = serve(local(tight()));
  const auto channel = Channel::connect("127.0.0.1", server->port());
  ASSERT_NE(channel, nullptr);
  channel->send(GetParam().bytes);
  const auto start = Timer::now();
  EXPECT_EQ(status_of(channel->receive_all()), GetParam().want);
  EXPECT_LT(since(start), milliseconds(5'000));
  EXPECT_EQ(good_status(server->port()), 200);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ServerHostileBytes,
    ::testing::Values(
        BytesCase{.name = "nothing", .bytes = "", .want = kClosed},
        BytesCase{.name = "half_a_header", .bytes = "GET / HTTP/1.1\r\nHo", .want = kClosed},
        BytesCase{.name = "half_a_body", .bytes = "POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc", .want = kClosed},
        BytesCase{.name = "negative_chunk", .bytes = chunked_request("-1\r\nabc\r\n0\r\n\r\n"), .want = 400},
        BytesCase{.name = "huge_chunk", .bytes = chunked_request("7fffffffffffffff\r\nabc"), .want = 413},
        BytesCase{.name = "overflowing_chunk", .bytes = chunked_request("ffffffffffffffffff\r\nabc"), .want = 400},
        BytesCase{.name = "chunk_without_size", .bytes = chunked_request("\r\nabc\r\n"), .want = 400},
        BytesCase{.name = "chunk_with_wrong_end", .bytes = chunked_request("3\r\nabcXX\r\n0\r\n\r\n"), .want = 400},
        BytesCase{.name = "chunks_beyond_the_limit",
                  .bytes = chunked_request("1388\r\n" + std::string(5'000, 'a') + "\r\n1389\r\n" +
                                           std::string(5'001, 'a') + "\r\n0\r\n\r\n"),
                  .want = 413},
        BytesCase{
            .name = "endless_chunk_extension", .bytes = chunked_request("1;" + std::string(200'000, 'e')), .want = 431},
        BytesCase{.name = "length_beyond_the_limit",
                  .bytes = "POST / HTTP/1.1\r\nContent-Length: 10001\r\n\r\n",
                  .want = 413},
        BytesCase{.name = "negative_length", .bytes = "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", .want = 400},
        BytesCase{.name = "overflowing_length",
                  .bytes = "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
                  .want = 400},
        BytesCase{.name = "two_lengths",
                  .bytes = "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
                  .want = 400},
        BytesCase{.name = "length_and_chunks",
                  .bytes = "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                  .want = 400},
        BytesCase{.name = "bad_method", .bytes = "G@T / HTTP/1.1\r\n\r\n", .want = 400},
        BytesCase{.name = "bad_version", .bytes = "GET / HTTP/9.9\r\n\r\n", .want = 400},
        BytesCase{.name = "http2_preface", .bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .want = 400},
        BytesCase{.name = "target_is_no_path", .bytes = "CONNECT evil:443 HTTP/1.1\r\n\r\n", .want = 400},
        BytesCase{
            .name = "endless_trailer", .bytes = chunked_request("0\r\n" + many_headers(3'000).substr(17)), .want = 431},
        BytesCase{.name = "header_beyond_the_limit", .bytes = many_headers(100), .want = 431},
        BytesCase{.name = "endless_line", .bytes = "GET /" + std::string(300'000, 'a'), .want = 431},
        BytesCase{.name = "header_without_colon", .bytes = "GET / HTTP/1.1\r\nnonsense\r\n\r\n", .want = 400},
        BytesCase{.name = "zero_bytes", .bytes = std::string(64, '\0'), .want = kClosed},
        BytesCase{
            .name = "tls_hello_to_a_plain_port", .bytes = std::string("\x16\x03\x01\x02\x00\x01", 6), .want = kClosed}),
    [](const auto& row) { return row.param.name; });

// A byte now and then must not put the deadline off.
class ServerDrip : public ::testing::TestWithParam<BytesCase> {};

TEST_P(ServerDrip, IsCutOffAtTheDeadline) {
  const auto server = serve(local(tight()));
  const auto channel = Channel::connect("127.0.0.1", server->port());
  ASSERT_NE(channel, nullptr);
  channel->send(GetParam().bytes);
  const auto start = Timer::now();
  while (since(start) < milliseconds(4'000) && channel->send("a") && !channel->wait_closed(30)) {
  }
  EXPECT_GE(since(start), milliseconds(150));
  EXPECT_LT(since(start), milliseconds(3'000));
}

INSTANTIATE_TEST_SUITE_P(Table, ServerDrip,
                         ::testing::Values(BytesCase{.name = "header", .bytes = "GET /"},
                                           BytesCase{.name = "body",
                                                     .bytes = "POST / HTTP/1.1\r\nContent-Length: 9000\r\n\r\n"}),
                         [](const auto& row) { return row.param.name; });

TEST(ServerHostile, GarbageInsteadOfTlsIsCutOff) {
  const TestCa ca;
  const auto server = serve(local_tls(store_with(ca.serving().identity), tight()));
  for (const std::string& bytes : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(500, '\xff'), std::string()}) {
    const auto channel = Channel::connect("127.0.0.1", server->port());
    ASSERT_NE(channel, nullptr);
    channel->send(bytes);
    EXPECT_TRUE(channel->wait_closed(3'000));
  }
  const auto response =
      tls_client("https://127.0.0.1:" + std::to_string(server->port()), ca.ca.certificate_pem)->call(get("/good"), {});
  EXPECT_TRUE(response.ok());
}

// Three bodies that never end: any two fit into the budget, the last bytes of the third do not.
TEST(ServerHostile, BodiesOfAllConnectionsTogetherAreBounded) {
  ServerLimits limits;
  limits.buffered_body_bytes = 100'000;
  const auto server = serve(local(limits));
  std::vector<std::unique_ptr<Channel>> channels;
  for (int i = 0; i < 3; ++i) {
    channels.push_back(Channel::connect("127.0.0.1", server->port()));
    channels.back()->send("POST / HTTP/1.1\r\nContent-Length: 50000\r\n\r\n" + std::string(40'000, 'a'));
  }
  std::vector<int> answers;
  for (const auto start = Timer::now(); answers.empty() && since(start) < milliseconds(5'000);) {
    for (const auto& channel : channels) {
      if (channel->wait_readable(10)) {
        answers.push_back(status_of(channel->receive_message()));
      }
    }
  }
  EXPECT_EQ(answers, std::vector<int>{503});
  EXPECT_EQ(good_status(server->port()), 200) << "small requests still pass";
}

TEST(ServerHostile, IdleConnectionsMakeRoomForGoodClients) {
  ServerLimits limits;
  limits.connections = 4;
  const auto server = serve(local(limits));
  std::vector<std::unique_ptr<Channel>> hoard;
  for (int i = 0; i < 20; ++i) {
    hoard.push_back(Channel::connect("127.0.0.1", server->port()));
    ASSERT_NE(hoard.back(), nullptr);
    hoard.back()->send("GET /");
  }
  EXPECT_EQ(good_status(server->port()), 200);
  EXPECT_TRUE(hoard.front()->wait_closed(3'000)) << "the longest waiting one was to go";
}

// Runs `attack` in a child process, which can have a descriptor limit of its own, after `prepare` has run here; calls
// `meanwhile` while the child holds what it has got.
template <class Attack, class Prepare, class Meanwhile>
void with_attacker(const Attack& attack, const Prepare& prepare, const Meanwhile& meanwhile) {
  std::array<int, 2> to_child{};
  std::array<int, 2> to_parent{};
  ASSERT_EQ(::pipe(to_child.data()), 0);
  ASSERT_EQ(::pipe(to_parent.data()), 0);
  char byte = 1;
  const pid_t child = ::fork();
  if (child == 0) {                       // system calls only: other threads' locks are not to be trusted here
    for (int fd = 3; fd < 1'024; ++fd) {  // a copy of the server's sockets would keep them open
      if (fd != to_child[0] && fd != to_parent[1]) {
        ::close(fd);
      }
    }
    (void)!::read(to_child[0], &byte, 1);
    attack();
    (void)!::write(to_parent[1], &byte, 1);
    (void)!::read(to_child[0], &byte, 1);
    ::_exit(0);
  }
  ::close(to_parent[1]);
  prepare();
  EXPECT_EQ(::write(to_child[1], &byte, 1), 1);
  EXPECT_EQ(::read(to_parent[0], &byte, 1), 1) << "the attacker could not attack";
  meanwhile();
  ::close(to_child[1]);
  ::waitpid(child, nullptr, 0);
  ::close(to_parent[0]);
  ::close(to_child[0]);
}

// Opens connections until there are `count`; for the attacker, which ends if it cannot.
void open_connections(std::uint16_t port, int count) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < count; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ::_exit(1);
    }
  }
}

rlimit descriptor_limit() {
  rlimit limit{};
  EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  return limit;
}

void limit_descriptors(rlimit limit, rlim_t count) {
  limit.rlim_cur = count;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

std::clock_t cpu_ms() {
  return std::clock() * 1'000 / CLOCKS_PER_SEC;
}

// The CPU time that this process spends while nothing but the attack goes on.
std::clock_t cpu_ms_of_half_a_second() {
  const std::clock_t start = cpu_ms();
  ::poll(nullptr, 0, 500);
  return cpu_ms() - start;
}

TEST(ServerHostile, TwoThousandConnectionsWithFewDescriptors) {
  const rlimit before = descriptor_limit();
  if (before.rlim_max < 2'100) {
    GTEST_SKIP() << "needs a hard limit of 2,100 descriptors";
  }
  limit_descriptors(before, 512);
  const auto server = serve(local());
  with_attacker(
      [&] {
        limit_descriptors(before, 2'100);
        open_connections(server->port(), 2'000);
      },
      [] {},
      [&] {
        for (int i = 0; i < 20; ++i) {
          EXPECT_EQ(good_status(server->port()), 200);
        }
        EXPECT_LT(cpu_ms_of_half_a_second(), 150) << "the server spins";
      });
  limit_descriptors(before, before.rlim_cur);
}

// No descriptor is left at all: accepting fails, is tried again without spinning, and works once there are some.
TEST(ServerHostile, RecoversWhenDescriptorsAreOut) {
  const rlimit before = descriptor_limit();
  const auto server = serve(local());
  const auto idle = Channel::connect("127.0.0.1", server->port());
  ASSERT_NE(idle, nullptr);
  idle->send(request_text("GET", "/first"));
  ASSERT_EQ(status_of(idle->receive_message()), 200);
  std::clock_t spent = 0;
  with_attacker(
      [&] {
        limit_descriptors(before, before.rlim_cur);
        open_connections(server->port(), 10);
      },
      [&] { limit_descriptors(before, 3); },
      [&] {
        EXPECT_TRUE(idle->wait_closed(3'000)) << "idle connections are shed to win descriptors";
        spent = cpu_ms_of_half_a_second();
        limit_descriptors(before, before.rlim_cur);
      });
  EXPECT_LT(spent, 150) << "the server spins";
  EXPECT_EQ(good_status(server->port()), 200);
}

}  // namespace
}  // namespace muster::net::conformance
