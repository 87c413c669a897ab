#include "client/effect_run.h"

#include <gtest/gtest.h>

#include <deque>

namespace muster::client {
namespace {

using framework::ApiReply;
using framework::ApiRequest;
using framework::EffectDone;
using framework::EffectFailed;
using framework::ProgramDone;
using framework::ProgramFailed;
using framework::Step;

// Steps through a script and notes what it was told.
class Script final : public framework::Program {
 public:
  Script(std::deque<Step> steps, std::vector<std::string>& told) : steps_(std::move(steps)), told_(told) {}

  Step start() override { return next(); }

  Step resume(const Result<ApiReply>& reply) override {
    told_.push_back(reply.ok() ? std::to_string(reply->status)
                               : std::string(to_string(reply.error().code)) +
                                     (reply.error().maybe_executed ? " maybe executed" : ""));
    return next();
  }

 private:
  Step next() {
    Step step = steps_.front();
    if (steps_.size() > 1) {
      steps_.pop_front();
    }
    return step;
  }

  std::deque<Step> steps_;
  std::vector<std::string>& told_;
};

const ApiRequest kRead{.method = "GET", .path = "/w"};
const ApiRequest kWrite{.method = "PATCH", .path = "/w"};
const ApiRequest kSafeWrite{.method = "PATCH", .path = "/w", .replay_safe = true};
const Step kDone = ProgramDone{};

Result<net::Response> reply(int status, const net::Headers& headers = {}) {
  return net::Response{.status = status, .headers = headers};
}

Result<net::Response> lost() {
  return Error{.code = ErrorCode::kTimeout, .message = "lost", .maybe_executed = true};
}

Result<net::Response> unreachable() {
  return Error{.code = ErrorCode::kUnavailable, .message = "unreachable"};
}

const net::Headers kRetryIn2s = {{"Retry-After", "2"}};

class Runs : public ::testing::Test {
 protected:
  void begin(std::deque<Step> steps, const RetryPolicy& policy = {}) {
    PendingWrite write{.effect = {.id = 2}, .ids = {1, 2}};
    write.effect.body = framework::DeleteObject{};
    run_.emplace(std::move(write), std::make_unique<Script>(std::move(steps), told_), policy, now_);
  }

  // The wait until the next request; time passes.
  Duration answer(const Result<net::Response>& got) {
    const Duration wait = run_->on_answer(got, now_, 0);
    now_ += wait;
    return wait;
  }

  bool is_done() const {
    const auto reports = run_->reports();
    return reports.size() == 2 && std::holds_alternative<EffectDone>(reports[0]) &&
           std::holds_alternative<EffectDone>(reports[1]);
  }

  std::optional<Error> failure() const {
    const auto reports = run_->reports();
    const auto* failed = reports.empty() ? nullptr : std::get_if<EffectFailed>(&reports.back());
    return failed == nullptr ? std::nullopt : std::optional(failed->error);
  }

  MonoTime now_{std::chrono::hours(1)};
  std::vector<std::string> told_{};
  std::optional<EffectRun> run_{};
};

TEST_F(Runs, FeedAnswersToTheProgram) {
  begin({kRead, kWrite, kDone});
  EXPECT_EQ(run_->request()->method, "GET");
  EXPECT_EQ(answer(reply(200)), Duration(0));
  EXPECT_EQ(run_->request()->method, "PATCH");
  EXPECT_EQ(answer(reply(409)), Duration(0));
  EXPECT_EQ(run_->request(), nullptr);
  EXPECT_EQ(told_, (std::vector<std::string>{"200", "409"}));
  EXPECT_TRUE(is_done());
}

struct Repeat {
  std::string name{};
  ApiRequest request{};
  Result<net::Response> answer = reply(200);
  Duration wait{};                  // until the same request is sent again
  std::vector<std::string> told{};  // or what the program hears instead
};

class Repeats : public Runs, public ::testing::WithParamInterface<Repeat> {};

TEST_P(Repeats, OnlyWhereHarmless) {
  begin({GetParam().request, kRead, kDone});
  EXPECT_EQ(answer(GetParam().answer), GetParam().wait);
  EXPECT_EQ(told_, GetParam().told);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Repeats,
    ::testing::Values(Repeat{"unreachable", kWrite, unreachable(), Duration(100), {}},
                      Repeat{"lost", kWrite, lost(), Duration(100), {"Timeout maybe executed"}},
                      Repeat{"lost_but_harmless", kSafeWrite, lost(), Duration(100), {}},
                      Repeat{"lost_read", kRead, lost(), Duration(100), {}},
                      Repeat{"throttled", kWrite, reply(429, kRetryIn2s), Duration(2000), {}},
                      Repeat{"throttled_silently", kWrite, reply(429), Duration(100), {}},
                      Repeat{"token_refused", kWrite, reply(401), Duration(100), {}},
                      Repeat{"server_error", kWrite, reply(500), Duration(100), {"Unavailable maybe executed"}},
                      Repeat{"server_error_on_read", kRead, reply(500), Duration(100), {}},
                      Repeat{"gateway_timeout", kWrite, reply(504), Duration(100), {"Timeout maybe executed"}},
                      Repeat{"turned_away", kWrite, reply(503, kRetryIn2s), Duration(2000), {}},
                      Repeat{"unavailable", kWrite, reply(503), Duration(100), {"Unavailable maybe executed"}},
                      Repeat{"forbidden", kWrite, reply(403), Duration(0), {"403"}},
                      Repeat{"not_found", kRead, reply(404), Duration(0), {"404"}}),
    [](const auto& row) { return row.param.name; });

TEST_F(Runs, GiveUpAtTheDeadline) {
  begin({kWrite, ProgramFailed{.error = {.code = ErrorCode::kUnavailable, .message = "gave up"}}},
        {.deadline = Duration(1000)});
  int tries = 0;
  while (run_->request() != nullptr) {
    answer(unreachable());
    ++tries;
  }
  EXPECT_EQ(tries, 4);  // at 0, 100, 300 and 700 ms; the next would be at 1500
  EXPECT_EQ(told_, std::vector<std::string>{"Unavailable"});
  ASSERT_TRUE(failure());
  EXPECT_EQ(failure()->message, "gave up");
}

// A read that is refused says nothing about the write before it.
TEST_F(Runs, DoubtOutlivesARefusedRead) {
  begin({kWrite, kRead, ProgramFailed{.error = {.code = ErrorCode::kForbidden}}});
  answer(lost());
  for (const int status : {403, 403, 422}) {
    EXPECT_GT(answer(reply(status)), Duration(0));
    ASSERT_NE(run_->request(), nullptr);
  }
  answer(reply(200));
  EXPECT_EQ(told_, (std::vector<std::string>{"Timeout maybe executed", "200"}));
}

// A failure has to be certain: once a write may have been executed, no deadline counts until the object has been read.
TEST_F(Runs, DoubtOutlivesTheDeadline) {
  begin({kWrite, kRead, ProgramFailed{.error = {.code = ErrorCode::kConflict}}}, {.deadline = Duration(1000)});
  answer(lost());
  EXPECT_TRUE(run_->uncertain());
  for (int i = 0; i < 100; ++i) {
    EXPECT_GT(answer(unreachable()), Duration(0));
  }
  ASSERT_NE(run_->request(), nullptr);
  EXPECT_EQ(run_->request()->method, "GET");
  EXPECT_TRUE(run_->reports().empty());
  answer(reply(200));
  EXPECT_FALSE(run_->uncertain());
  EXPECT_EQ(failure()->code, ErrorCode::kConflict);
}

TEST_F(Runs, ConflictOfARepeatedWriteDoesNotEndTheDoubt) {
  begin({kSafeWrite, kRead, kDone}, {.deadline = Duration(1000)});
  answer(lost());
  answer(reply(409));  // by our own first try, perhaps
  EXPECT_TRUE(run_->uncertain());
  answer(reply(200));
  EXPECT_TRUE(is_done());
}

TEST_F(Runs, WithoutNeedForCertaintyTheDeadlineHolds) {
  begin({kSafeWrite, ProgramFailed{}}, {.deadline = Duration(1000), .settle_doubt = false});
  for (int i = 0; i < 10 && run_->request() != nullptr; ++i) {
    answer(lost());
  }
  EXPECT_TRUE(failure());
}

TEST_F(Runs, EndlessProgramIsStopped) {
  begin({kRead}, {.max_steps = 5});
  for (int i = 0; i < 5; ++i) {
    answer(reply(200));
  }
  EXPECT_EQ(run_->request(), nullptr);
  ASSERT_TRUE(failure());
  EXPECT_EQ(failure()->code, ErrorCode::kInternal);
}

TEST_F(Runs, AnnounceWhatWasWritten) {
  begin({kWrite, ProgramDone{.events = {{.reason = "Started"}}}});
  EXPECT_TRUE(run_->announcements().empty());
  answer(reply(200));
  const auto effects = run_->announcements();
  ASSERT_EQ(effects.size(), 1U);
  EXPECT_EQ(std::get<framework::EmitEvent>(effects[0].body).reason, "Started");
}

}  // namespace
}  // namespace muster::client
