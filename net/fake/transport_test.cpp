#include "net/fake/transport.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

namespace muster::net::fake {
namespace {

class Sink : public ChunkSink {
 public:
  int status = 0;
  std::string text{};
  bool accept = true;
  std::size_t most = 1'000;

  bool on_head(int head_status, const Headers& /*headers*/) override {
    status = head_status;
    return accept;
  }

  bool on_bytes(std::string_view bytes) override {
    text.append(bytes);
    return text.size() < most;
  }
};

Request get(std::string target) {
  return {.method = "GET", .target = std::move(target)};
}

TEST(FakeTransport, AnswersByTheHandlerAndRecords) {
  Transport transport;
  EXPECT_EQ(transport.call(get("/a"), {})->status, 404) << "without a handler";
  transport.on_call([](const Request& request) -> Result<Response> {
    if (request.target == "/down") {
      return Error{.code = ErrorCode::kUnavailable, .message = "down"};
    }
    return Response{.status = 200, .body = request.target};
  });
  EXPECT_EQ(transport.call(get("/b"), {})->body, "/b");
  EXPECT_EQ(transport.call(get("/down"), {}).error().code, ErrorCode::kUnavailable);
  ASSERT_EQ(transport.requests().size(), 3U);
  EXPECT_EQ(transport.requests()[1].target, "/b");
  EXPECT_TRUE(transport.wait_for_requests(3));
  EXPECT_FALSE(transport.wait_for_requests(4, std::chrono::milliseconds(1)));
}

struct StreamCase {
  std::string name{};
  std::vector<std::string> pieces{};
  std::optional<ErrorCode> fails{};
  bool accept = true;
  std::size_t most = 1'000;
  std::string want{};
};

class FakeStream : public ::testing::TestWithParam<StreamCase> {};

TEST_P(FakeStream, FollowsItsScript) {
  const StreamCase& c = GetParam();
  const auto feed = std::make_shared<Feed>();
  for (const std::string& piece : c.pieces) {
    feed->push(piece);
  }
  if (c.fails) {
    feed->fail(Error{.code = *c.fails});
  } else {
    feed->end();
  }
  Transport transport;
  transport.on_stream([&](const Request&) -> Result<StreamReply> { return StreamReply{.status = 200, .feed = feed}; });
  Sink sink;
  sink.accept = c.accept;
  sink.most = c.most;
  const Status status = transport.stream(get("/watch"), {}, sink, {});
  EXPECT_EQ(status.ok(), !c.fails.has_value());
  if (c.fails) {
    EXPECT_EQ(status.error().code, *c.fails);
  }
  EXPECT_EQ(sink.status, 200);
  EXPECT_EQ(sink.text, c.want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, FakeStream,
    ::testing::Values(StreamCase{.name = "ends", .pieces = {"a", "b"}, .want = "ab"},
                      StreamCase{
                          .name = "fails_after_pieces", .pieces = {"a"}, .fails = ErrorCode::kTimeout, .want = "a"},
                      StreamCase{.name = "head_refused", .pieces = {"a"}, .accept = false, .want = ""},
                      StreamCase{.name = "sink_stops", .pieces = {"a", "b", "c"}, .most = 2, .want = "ab"}),
    [](const auto& row) { return row.param.name; });

TEST(FakeTransport, AStreamStaysOpenUntilStopped) {
  Transport transport;
  const auto feed = std::make_shared<Feed>();
  transport.on_stream([&](const Request&) -> Result<StreamReply> { return StreamReply{.feed = feed}; });
  std::stop_source stop;
  Sink sink;
  Status status;
  std::jthread watcher([&] { status = transport.stream(get("/watch"), {}, sink, stop.get_token()); });
  feed->push("event");
  EXPECT_TRUE(feed->wait_drained());
  stop.request_stop();
  watcher.join();
  EXPECT_EQ(sink.text, "event");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace muster::net::fake
