// Items 1, 2 and 3 of the suite: what a watch needs of a Transport.
#include "net/conformance/client_fixture.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

namespace muster::net::conformance {
namespace {

using std::chrono::milliseconds;

// The peer sends each event only after the sink has seen the one before: a transport that holds bytes back never ends.
TEST(ClientStream, DeliversEachEventWhenItArrives) {
  Gate seen[3];
  ScriptedPeer peer([&](Channel& channel) {
    channel.receive_message();
    channel.send(chunked_head());
    for (int i = 0; i < 3; ++i) {
      channel.send(chunk("event" + std::to_string(i) + "\n"));
      if (!seen[i].wait()) {
        return;
      }
    }
    channel.send(last_chunk());
  });
  const auto client = plain_client(peer);
  RecordingSink sink;
  sink.on_text = [&](const std::string& text) {
    for (int i = 0; i < 3; ++i) {
      if (text.find("event" + std::to_string(i) + "\n") != std::string::npos) {
        seen[i].open();
      }
    }
    return true;
  };
  const Status status = client->stream(get("/watch"), {}, sink, {});
  EXPECT_TRUE(status.ok()) << to_string(status.error());
  EXPECT_EQ(sink.status, 200);
  EXPECT_EQ(sink.text, "event0\nevent1\nevent2\n");
}

struct BodyCase {
  std::string name{};
  std::vector<std::string> chunks{};
  std::string want{};
};

class ClientStreamBody : public ::testing::TestWithParam<BodyCase> {};

TEST_P(ClientStreamBody, ArrivesWhole) {
  const BodyCase& c = GetParam();
  ScriptedPeer peer([&](Channel& channel) {
    channel.receive_message();
    channel.send(chunked_head());
    for (const std::string& piece : c.chunks) {
      channel.send(chunk(piece));
    }
    channel.send(last_chunk());
  });
  RecordingSink sink;
  const Status status = plain_client(peer)->stream(get(), {}, sink, {});
  EXPECT_TRUE(status.ok()) << to_string(status.error());
  EXPECT_EQ(sink.text, c.want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ClientStreamBody,
    ::testing::Values(
        BodyCase{.name = "empty", .chunks = {}, .want = ""},
        BodyCase{.name = "event_over_chunks", .chunks = {"{\"ty", "pe\":", "1}\n"}, .want = "{\"type\":1}\n"},
        BodyCase{.name = "ten_events_in_a_chunk",
                 .chunks = {"0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"},
                 .want = "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"},
        BodyCase{.name = "large_chunk", .chunks = {std::string(3U << 20, 'x')}, .want = std::string(3U << 20, 'x')}),
    [](const auto& row) { return row.param.name; });

// Far more than may wait in memory, towards a sink that is slower than the peer.
TEST(ClientStream, HoldsAFastPeerBack) {
  constexpr std::size_t kTotal = 48U << 20;
  const std::string piece(1U << 20, 'y');
  std::atomic<std::size_t> sent = 0;
  ScriptedPeer peer([&](Channel& channel) {
    channel.receive_message();
    channel.send(chunked_head());
    while (sent < kTotal && channel.send(chunk(piece))) {
      sent += piece.size();
    }
    channel.send(last_chunk());
  });
  std::size_t received = 0;
  std::size_t most_ahead = 0;

  class SlowSink final : public ChunkSink {
   public:
    SlowSink(std::size_t& taken, std::size_t& ahead, const std::atomic<std::size_t>& total)
        : taken_(taken), ahead_(ahead), total_(total) {}

    bool on_head(int /*status*/, const Headers& /*headers*/) override { return true; }

    bool on_bytes(std::string_view bytes) override {
      ahead_ = std::max(ahead_, total_ - std::min<std::size_t>(taken_, total_));
      taken_ += bytes.size();
      std::this_thread::yield();
      return true;
    }

   private:
    std::size_t& taken_;
    std::size_t& ahead_;
    const std::atomic<std::size_t>& total_;
  } sink(received, most_ahead, sent);

  EXPECT_TRUE(plain_client(peer)->stream(get(), {}, sink, {}).ok());
  EXPECT_EQ(received, kTotal);
  EXPECT_LT(most_ahead, 24U << 20);
}

// The peer sends a head and one piece, then nothing more until the client has gone.
ScriptedPeer::Script silent_after_first_piece() {
  return [](Channel& channel) {
    channel.receive_message();
    channel.send(chunked_head());
    channel.send(chunk("first"));
    channel.receive_all();
  };
}

TEST(ClientStream, EndsAnIdleStreamInTime) {
  ScriptedPeer peer(silent_after_first_piece());
  const auto client = plain_client(peer);
  RecordingSink sink;
  const auto start = Timer::now();
  const Status status = client->stream(get(), {.idle = milliseconds(200)}, sink, {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(sink.text, "first");
  EXPECT_GE(since(start), milliseconds(200));
  EXPECT_LT(since(start), milliseconds(2'000));
}

TEST(ClientStream, EndsABusyStreamAtItsDeadline) {
  ScriptedPeer peer([](Channel& channel) {
    channel.receive_message();
    channel.send(chunked_head());
    while (channel.send(chunk("more")) && !channel.wait_closed(20)) {
    }
  });
  const auto client = plain_client(peer);
  RecordingSink sink;
  const Status status = client->stream(get(), {.deadline = milliseconds(300)}, sink, {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kTimeout);
  EXPECT_GT(sink.calls, 1);
}

// Until a stop request has ended a stream that is under way.
std::chrono::nanoseconds time_to_stop() {
  Gate first;
  ScriptedPeer peer(silent_after_first_piece());
  const auto client = plain_client(peer);
  RecordingSink sink;
  sink.on_text = [&](const std::string&) {
    first.open();
    return true;
  };
  std::stop_source stop;
  Timer::time_point stopped_at;
  std::jthread stopper([&] {
    first.wait();
    stopped_at = Timer::now();
    stop.request_stop();
  });
  const Status status = client->stream(get(), {}, sink, stop.get_token());
  const auto returned_at = Timer::now();
  stopper.join();
  EXPECT_EQ(status.ok() ? ErrorCode::kInternal : status.error().code, ErrorCode::kCancelled);
  return returned_at - stopped_at;
}

TEST(ClientStream, StopsAtOnce) {
  auto best = time_to_stop();  // of a few: the machine may be busy
  for (int i = 0; i < 5 && best >= milliseconds(100); ++i) {
    best = std::min(best, time_to_stop());
  }
  EXPECT_LT(best, milliseconds(100));
}

TEST(ClientStream, DoesNotCallTheSinkAfterReturn) {
  Gate returned;
  Gate sent;
  ScriptedPeer peer([&](Channel& channel) {
    channel.receive_message();
    channel.send(chunked_head());
    channel.send(chunk("one"));
    returned.wait();
    channel.send(chunk("two"));
    channel.send(last_chunk());
    sent.open();
  });
  const auto client = plain_client(peer);
  RecordingSink sink;
  sink.on_text = [](const std::string&) { return false; };
  const Status status = client->stream(get(), {}, sink, {});
  EXPECT_TRUE(status.ok()) << to_string(status.error());
  returned.open();
  EXPECT_TRUE(sent.wait());
  EXPECT_EQ(sink.text, "one");
}

class ClientStreamStatus : public ::testing::TestWithParam<int> {};

TEST_P(ClientStreamStatus, ReachesTheSinkBeforeAnyByte) {
  ScriptedPeer peer(ScriptedPeer::answering([](const std::string&) { return http_response(GetParam(), "why"); }));
  RecordingSink sink;  // checks the order itself
  EXPECT_TRUE(plain_client(peer)->stream(get(), {}, sink, {}).ok());
  EXPECT_EQ(sink.status, GetParam());
  EXPECT_EQ(sink.text, "why");
}

TEST_P(ClientStreamStatus, ARefusedBodyIsNotRead) {
  ScriptedPeer peer([](Channel& channel) {
    channel.receive_message();
    channel.send(chunked_head(GetParam()) + chunk("why"));
    channel.receive_all();
  });
  RecordingSink sink;
  sink.accept_head = false;
  EXPECT_TRUE(plain_client(peer)->stream(get(), {}, sink, {}).ok());
  EXPECT_EQ(sink.status, GetParam());
  EXPECT_EQ(sink.calls, 0);
}

INSTANTIATE_TEST_SUITE_P(Table, ClientStreamStatus, ::testing::Values(200, 401, 403, 410, 429, 500),
                         [](const auto& row) { return std::to_string(row.param); });

TEST(ClientStream, ABrokenStreamIsUnavailable) {
  ScriptedPeer peer([](Channel& channel) {
    channel.receive_message();
    channel.send(chunked_head() + chunk("first"));
  });
  RecordingSink sink;
  const Status status = plain_client(peer)->stream(get(), {}, sink, {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(sink.text, "first");
}

TEST(ClientStream, WaitsForTheHeadOnlyUntilItsDeadline) {
  ScriptedPeer peer([](Channel& channel) { channel.receive_all(); });
  RecordingSink sink;
  Request request = get();
  request.deadline = milliseconds(200);
  const Status status = plain_client(peer)->stream(request, {}, sink, {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(sink.status, 0);
}

TEST(ClientStream, ManyStreamsRunBesideCalls) {
  std::atomic<int> streaming = 0;
  Gate all_streaming;
  Gate called;
  ScriptedPeer peer([&](Channel& channel) {
    if (channel.receive_message().find("/watch") == std::string::npos) {
      channel.send(http_response(200, "called"));
      return;
    }
    channel.send(chunked_head() + chunk("on"));
    if (++streaming == 12) {
      all_streaming.open();
    }
    called.wait();
    channel.send(last_chunk());
  });
  const auto client = make_client({.credentials = {.base_url = peer.url()}, .concurrency = 1});
  std::vector<std::jthread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&] {
      RecordingSink sink;
      EXPECT_TRUE(client->stream(get("/watch"), {}, sink, {}).ok());
      EXPECT_EQ(sink.text, "on");
    });
  }
  EXPECT_TRUE(all_streaming.wait());
  const auto response = client->call(get("/call"), {});
  EXPECT_TRUE(response.ok());
  called.open();
}

}  // namespace
}  // namespace muster::net::conformance
