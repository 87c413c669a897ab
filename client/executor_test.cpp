#include "client/executor.h"

#include "net/fake/transport.h"

#include <gtest/gtest.h>

#include <random>

namespace muster::client {
namespace {

using framework::ApiReply;
using framework::ApiRequest;
using framework::Effect;
using framework::EffectDone;
using framework::EffectFailed;
using framework::EffectId;
using framework::Kind;
using framework::ProgramDone;
using framework::ProgramFailed;
using framework::Step;

constexpr auto kLimit = std::chrono::seconds(30);

// DeleteObject as one PATCH to /<name>/<id>, read back from /<name> when the answer was lost; EmitEvent as one POST.
class OneWrite final : public framework::Program {
 public:
  explicit OneWrite(const Effect& effect)
      : path_("/" + target(effect).key.name),
        body_(std::to_string(effect.id)),
        is_event_(std::holds_alternative<framework::EmitEvent>(effect.body)) {}

  Step start() override { return ApiRequest{.method = is_event_ ? "POST" : "PATCH", .path = path_, .body = body_}; }

  Step resume(const Result<ApiReply>& reply) override {
    if (!reply.ok() && reply.error().maybe_executed) {
      return ApiRequest{.method = "GET", .path = path_};
    }
    if (!reply.ok()) {
      return ProgramFailed{.error = reply.error()};
    }
    if (reply->status == 200 && (reply->body.empty() || reply->body == body_)) {
      return ProgramDone{};
    }
    return ProgramFailed{.error = {.code = ErrorCode::kConflict, .message = reply->body}};
  }

 private:
  std::string path_;
  std::string body_;
  bool is_event_;
};

std::unique_ptr<framework::Program> program(const Effect& effect, TimePoint /*now*/) {
  return std::make_unique<OneWrite>(effect);
}

Effect write_of(EffectId id, const std::string& name) {
  return {.id = id,
          .body = framework::DeleteObject{.object = {.kind = Kind::kWorkload, .key = {"", name}, .uid = Uid("u")}}};
}

Effect event_of(EffectId id) {
  return {.id = id, .body = framework::EmitEvent{.regarding = {.key = {"", "event"}}}};
}

std::vector<framework::Event> collect(EventQueue& results, std::size_t count) {
  std::vector<framework::Event> all;
  const MonoTime deadline = mono_now() + kLimit;
  while (all.size() < count && mono_now() < deadline) {
    for (framework::Event& event : results.pop_batch(count - all.size(), Duration(100))) {
      all.push_back(std::move(event));
    }
  }
  return all;
}

std::uint64_t counted(const ExecutorStats& stats, const std::string& method, const std::string& code) {
  std::uint64_t count = 0;
  for (const RequestCount& entry : stats.requests) {
    count += entry.method == method && entry.code == code ? entry.count : 0;
  }
  return count;
}

const RetryPolicy kQuickRetry{.backoff = {.first = Duration(1), .max = Duration(2)}};

TEST(Executor, WritesReportsAndCounts) {
  net::fake::Transport transport;
  transport.on_call([](const net::Request& request) -> Result<net::Response> {
    return request.target == "/bad" ? net::Response{.status = 409, .body = "no"} : net::Response{.status = 200};
  });
  EventQueue results;
  Executor executor(transport, program, results, {.threads = 2});
  executor.submit({write_of(1, "good"), write_of(2, "bad")});
  std::map<EffectId, bool> done;
  for (const framework::Event& event : collect(results, 2)) {
    if (const auto* ok = std::get_if<EffectDone>(&event)) {
      done[ok->id] = true;
    } else {
      const auto& failed = std::get<EffectFailed>(event);
      EXPECT_EQ(failed.error.code, ErrorCode::kConflict);
      done[failed.id] = false;
    }
  }
  EXPECT_EQ(done, (std::map<EffectId, bool>{{1, true}, {2, false}}));
  EXPECT_TRUE(executor.drain(kLimit));
  EXPECT_EQ(counted(executor.stats(), "PATCH", "200"), 1U);
  EXPECT_EQ(counted(executor.stats(), "PATCH", "409"), 1U);
  EXPECT_EQ(executor.stats().requests.front().kind, "Workload");
}

TEST(Executor, EventsAreWrittenButNotReported) {
  net::fake::Transport transport;
  transport.on_call([](const net::Request&) -> Result<net::Response> { return net::Response{.status = 200}; });
  EventQueue results;
  Executor executor(transport, program, results, {.threads = 1});
  executor.submit({event_of(1), event_of(2)});
  EXPECT_TRUE(executor.drain(kLimit));
  EXPECT_EQ(counted(executor.stats(), "POST", "200"), 2U);
  EXPECT_EQ(results.size(), 0U);
}

TEST(Executor, EventsAboveTheBoundAreDropped) {
  net::fake::Transport transport;
  transport.on_call([](const net::Request&) -> Result<net::Response> { return net::Response{.status = 200}; });
  EventQueue results;
  Executor executor(transport, program, results, {.threads = 1, .max_events = 3, .may_write = [] { return false; }});
  framework::Effects many;
  for (EffectId id = 1; id <= 10; ++id) {
    many.push_back(event_of(id));
  }
  executor.submit(std::move(many));
  EXPECT_GE(executor.stats().events_dropped, 6U);  // one may have been taken in the meantime
  executor.stop();
  EXPECT_TRUE(transport.requests().empty());
}

TEST(Executor, LeaseInDoubtHoldsWritesBack) {
  net::fake::Transport transport;
  transport.on_call([](const net::Request&) -> Result<net::Response> { return net::Response{.status = 200}; });
  std::atomic<bool> leading = false;
  std::atomic<int> asked = 0;
  EventQueue results;
  Executor executor(transport, program, results, {.threads = 1, .may_write = [&] {
                                                    ++asked;
                                                    return leading.load();
                                                  }});
  executor.submit({write_of(1, "a")});
  const MonoTime deadline = mono_now() + kLimit;
  while (asked == 0 && mono_now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(executor.drain(Duration(1)));
  EXPECT_TRUE(transport.requests().empty());
  leading = true;
  EXPECT_EQ(collect(results, 1).size(), 1U);
}

TEST(Executor, StopCeasesAtOnce) {
  net::fake::Transport transport;
  transport.on_call([](const net::Request&) -> Result<net::Response> {
    return Error{.code = ErrorCode::kUnavailable, .message = "down"};
  });
  EventQueue results;
  Executor executor(transport, program, results, {.threads = 4, .retry = kQuickRetry});
  executor.submit({write_of(1, "a"), write_of(2, "b")});
  ASSERT_TRUE(transport.wait_for_requests(10));
  executor.stop();
  const std::size_t sent = transport.requests().size();
  executor.submit({write_of(3, "c")});
  EXPECT_FALSE(executor.drain(Duration(20)));
  EXPECT_EQ(transport.requests().size(), sent);
  EXPECT_EQ(results.size(), 0U);
}

// An API server that loses requests and answers at random.
class LossyServer {
 public:
  explicit LossyServer(std::uint64_t seed) : random_(seed) {}

  Result<net::Response> call(const net::Request& request) {
    const std::string& name = request.target;
    if (request.method == "GET") {
      return draw(4) == 0 ? refuse() : net::Response{.status = 200, .body = read(name)};
    }
    switch (draw(6)) {
      case 0:
        return refuse();
      case 1:
        return Error{.code = ErrorCode::kTimeout, .message = "lost before", .maybe_executed = true};
      case 2:
        write(name, request.body);
        return Error{.code = ErrorCode::kTimeout, .message = "lost after", .maybe_executed = true};
      case 3:
        write(name, request.body);
        return net::Response{.status = 500};
      default:
        write(name, request.body);
        return net::Response{.status = 200};
    }
  }

  const std::vector<std::string>& writes() const { return writes_; }

 private:
  Result<net::Response> refuse() {
    if (draw(2) == 0) {
      return net::Response{.status = 429};
    }
    return Error{.code = ErrorCode::kUnavailable, .message = "refused"};
  }

  std::string read(const std::string& name) const {
    const auto found = state_.find(name);
    return found == state_.end() ? "untouched" : found->second;
  }

  void write(const std::string& name, const std::string& body) {
    state_[name] = body;
    writes_.push_back(body);
  }

  int draw(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  std::mt19937_64 random_;
  std::map<std::string, std::string> state_{};
  std::vector<std::string> writes_{};
};

class RandomLosses : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomLosses, EveryReportIsTrueAndInOrder) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  constexpr EffectId kEffects = 300;
  LossyServer server(GetParam());
  net::fake::Transport transport;
  transport.on_call([&](const net::Request& request) { return server.call(request); });
  EventQueue results;
  Executor executor(transport, program, results, {.rate = {}, .retry = kQuickRetry});
  std::mt19937_64 random(GetParam());
  std::map<EffectId, std::string> names;
  for (EffectId id = 1; id <= kEffects; ++id) {
    names[id] = std::to_string(random() % 10);
    executor.submit({write_of(id, names[id])});
  }
  const auto reports = collect(results, kEffects);
  executor.stop();
  ASSERT_EQ(reports.size(), kEffects);
  const std::set<std::string> written(server.writes().begin(), server.writes().end());
  std::map<std::string, EffectId> last;
  std::uint64_t done_without_write = 0;
  for (const framework::Event& event : reports) {
    const auto* done = std::get_if<EffectDone>(&event);
    const EffectId id = done != nullptr ? done->id : std::get<EffectFailed>(event).id;
    const bool was_written = written.contains(std::to_string(id));
    EXPECT_TRUE(done != nullptr || !was_written) << id << " failed, but was written";
    done_without_write += done != nullptr && !was_written ? 1U : 0U;
    EXPECT_LT(std::exchange(last[names.at(id)], id), id) << "out of order, or twice";
  }
  EXPECT_LE(done_without_write, executor.stats().replaced);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLosses, ::testing::Range<std::uint64_t>(1, 11));

}  // namespace
}  // namespace muster::client
