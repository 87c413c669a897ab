#include "net/cpprest/exchange.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace muster::net::cpprest {
namespace {

using std::chrono::milliseconds;

class Sink : public ChunkSink {
 public:
  std::string log{};
  bool accept_head = true;
  bool accept_bytes = true;

  bool on_head(int status, const Headers& /*headers*/) override {
    log += std::to_string(status) + ":";
    return accept_head;
  }

  bool on_bytes(std::string_view bytes) override {
    log.append(bytes).append(";");
    return accept_bytes;
  }
};

Deadlines far() {
  const auto later = Clock::now() + std::chrono::minutes(1);
  return {.head = later, .total = later, .idle = std::chrono::minutes(1)};
}

TEST(Exchange, HoldsBytesUntilTheHeadIsKnown) {
  Exchange exchange;
  exchange.bytes("a", [] {});
  exchange.head(200, {});
  exchange.bytes("b", [] {});
  exchange.finish(std::nullopt);
  Sink sink;
  EXPECT_EQ(exchange.consume(sink, far(), {}), End::kComplete);
  EXPECT_EQ(sink.log, "200:a;b;");
}

TEST(Exchange, DeliversWhatCameBeforeAFailure) {
  Exchange exchange;
  exchange.head(200, {});
  exchange.bytes("a", [] {});
  exchange.finish(Failure{.code = 2, .message = "broken"});
  Sink sink;
  EXPECT_EQ(exchange.consume(sink, far(), {}), End::kFailed);
  EXPECT_EQ(sink.log, "200:a;");
  EXPECT_EQ(exchange.failure().message, "broken");
}

TEST(Exchange, AFailureBeforeTheHeadReachesNoSink) {
  Exchange exchange;
  exchange.bytes("a", [] {});
  exchange.finish(Failure{.code = 2});
  Sink sink;
  EXPECT_EQ(exchange.consume(sink, far(), {}), End::kFailed);
  EXPECT_EQ(sink.log, "");
}

TEST(Exchange, StopsWhereTheSinkDeclines) {
  for (const bool at_head : {true, false}) {
    Exchange exchange;
    exchange.head(410, {});
    exchange.bytes("a", [] {});
    exchange.bytes("b", [] {});
    Sink sink;
    sink.accept_head = !at_head;
    sink.accept_bytes = false;
    EXPECT_EQ(exchange.consume(sink, far(), {}), End::kDeclined);
    EXPECT_EQ(sink.log, at_head ? "410:" : "410:a;");
  }
}

TEST(Exchange, EndsAtEachOfItsDeadlines) {
  const auto soon = Clock::now() + milliseconds(20);
  Sink sink;
  Exchange silent;
  Deadlines deadlines = far();
  deadlines.head = soon;
  EXPECT_EQ(silent.consume(sink, deadlines, {}), End::kTimedOut);
  Exchange idle;
  idle.head(200, {});
  deadlines = far();
  deadlines.idle = milliseconds(20);
  EXPECT_EQ(idle.consume(sink, deadlines, {}), End::kTimedOut);
  Exchange late;
  late.head(200, {});
  deadlines = far();
  deadlines.total = soon;
  EXPECT_EQ(late.consume(sink, deadlines, {}), End::kTimedOut);
}

TEST(Exchange, StopsByItsToken) {
  Exchange exchange;
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  Sink sink;
  EXPECT_EQ(exchange.consume(sink, far(), stop.get_token()), End::kStopped);
}

TEST(Exchange, ResumesAPausedSenderOnceAllIsTaken) {
  Exchange exchange;
  exchange.head(200, {});
  int resumed = 0;
  int pieces = 0;
  while (exchange.bytes(std::string(1U << 20, 'x'), [&] { ++resumed; })) {
    ++pieces;
  }
  EXPECT_EQ(pieces, 4);
  EXPECT_EQ(resumed, 0);
  exchange.finish(std::nullopt);
  Sink sink;
  EXPECT_EQ(exchange.consume(sink, far(), {}), End::kComplete);
  EXPECT_EQ(resumed, 1);
}

TEST(Exchange, ReleasesAPausedSenderWhenTheCallerLeaves) {
  Exchange exchange;
  exchange.head(200, {});
  int resumed = 0;
  while (exchange.bytes(std::string(1U << 20, 'x'), [&] { ++resumed; })) {
  }
  Sink sink;
  sink.accept_head = false;
  EXPECT_EQ(exchange.consume(sink, far(), {}), End::kDeclined);
  EXPECT_EQ(resumed, 1);
  EXPECT_TRUE(exchange.bytes(std::string(9U << 20, 'x'), [&] { ++resumed; })) << "later bytes are dropped";
  EXPECT_EQ(resumed, 1);
}

}  // namespace
}  // namespace muster::net::cpprest
