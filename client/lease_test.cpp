#include "client/lease.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::client {
namespace {

using api::Json;

const LeaseOptions kMe{.ns = "kueue-system", .name = "lease", .identity = "me"};
const TimePoint kWall{std::chrono::seconds(1'796'000'000)};

Json lease(const std::string& holder, int renewed, const std::string& version = "7") {
  return {{"metadata", {{"name", "lease"}, {"namespace", "kueue-system"}, {"resourceVersion", version}}},
          {"spec",
           {{"holderIdentity", holder},
            {"leaseDurationSeconds", 15},
            {"acquireTime", "2020-01-01T00:00:00.000000Z"},
            {"renewTime", "2020-01-01T00:00:0" + std::to_string(renewed) + ".000000Z"},
            {"leaseTransitions", 3}}}};
}

Result<net::Response> reply(const Json& body, int status = 200) {
  return net::Response{.status = status, .body = api::dump_json(body)};
}

Result<net::Response> refusal(int status) {
  return net::Response{.status = status};
}

const Result<net::Response> kUnreachable = Error{.code = ErrorCode::kUnavailable, .message = "x"};

class Election : public ::testing::Test {
 protected:
  void pass(Duration time) { now_ += time; }

  // One attempt against a server on which the lease is `server_`; writes are accepted.
  void attempt() {
    std::optional<net::Request> request = state_.start(now_, kWall);
    while (request) {
      sent_.push_back(request->method);
      last_ = *request;
      request = state_.on_answer(serve(*request), now_, kWall);
    }
  }

  Result<net::Response> serve(const net::Request& request) {
    if (down_) {
      return kUnreachable;
    }
    if (request.method == "GET") {
      return server_.is_null() ? refusal(404) : reply(server_);
    }
    const Json body = *api::parse_json(request.body);
    const bool current =
        server_.is_null() || body["metadata"]["resourceVersion"] == server_["metadata"]["resourceVersion"];
    if (!current) {
      return refusal(409);
    }
    server_ = body;
    server_["metadata"]["resourceVersion"] = std::to_string(++version_);
    return reply(server_, request.method == "POST" ? 201 : 200);
  }

  std::vector<std::string> take_sent() { return std::exchange(sent_, {}); }

  using Sent = std::vector<std::string>;

  MonoTime now_{std::chrono::hours(5)};
  LeaseState state_{kMe};
  Json server_{};
  bool down_ = false;
  int version_ = 100;
  Sent sent_{};
  net::Request last_{};
};

TEST_F(Election, CreatesTheLease) {
  attempt();
  EXPECT_EQ(take_sent(), (Sent{"GET", "POST"}));
  EXPECT_EQ(state_.leadership(now_), Leadership::kLeading);
  EXPECT_EQ(last_.target, "/apis/coordination.k8s.io/v1/namespaces/kueue-system/leases");
  EXPECT_EQ(server_["spec"]["holderIdentity"], Json("me"));
  EXPECT_EQ(server_["spec"]["leaseDurationSeconds"], Json(15));
  EXPECT_EQ(server_["spec"]["renewTime"], Json(format_rfc3339_micro(kWall)));
  EXPECT_EQ(server_["spec"]["leaseTransitions"], Json(0));
}

TEST_F(Election, WaitsAsLongAsTheHolderRenews) {
  for (int i = 0; i < 8; ++i) {
    server_ = lease("other", i);
    attempt();
    pass(std::chrono::seconds(14));
  }
  EXPECT_EQ(state_.leadership(now_), Leadership::kWaiting);
  EXPECT_EQ(state_.holder(), "other");
  EXPECT_EQ(take_sent(), Sent(8, "GET"));
}

// Times in the record say nothing: it looks years old here. Only that it does not change for its whole duration counts.
TEST_F(Election, TakesOverWhatDoesNotChange) {
  server_ = lease("other", 1);
  attempt();
  pass(std::chrono::milliseconds(14'999));
  attempt();
  EXPECT_EQ(take_sent(), (Sent{"GET", "GET"}));
  pass(std::chrono::milliseconds(1));
  attempt();
  EXPECT_EQ(take_sent(), (Sent{"GET", "PUT"}));
  EXPECT_EQ(state_.leadership(now_), Leadership::kLeading);
  EXPECT_EQ(server_["spec"]["leaseTransitions"], Json(4));
  EXPECT_EQ(server_["spec"]["acquireTime"], Json(format_rfc3339_micro(kWall)));
}

TEST_F(Election, TakesAReleasedLeaseAtOnce) {
  server_ = lease("", 1);
  attempt();
  EXPECT_EQ(state_.leadership(now_), Leadership::kLeading);
}

TEST_F(Election, LosesARaceAndTriesAgain) {
  server_ = lease("", 1, "7");
  const auto get = state_.start(now_, kWall);
  auto put = state_.on_answer(reply(server_), now_, kWall);
  ASSERT_TRUE(put);
  EXPECT_EQ((*api::parse_json(put->body))["metadata"]["resourceVersion"], Json("7"));
  EXPECT_FALSE(state_.on_answer(refusal(409), now_, kWall));
  EXPECT_EQ(state_.leadership(now_), Leadership::kWaiting);
  server_ = lease("winner", 2, "8");
  attempt();
  EXPECT_EQ(state_.leadership(now_), Leadership::kWaiting);
}

TEST_F(Election, RenewsWithoutReading) {
  server_ = lease("", 1);
  attempt();
  take_sent();
  const Json acquired = server_["spec"]["acquireTime"];
  for (int i = 0; i < 20; ++i) {
    pass(std::chrono::seconds(2));
    attempt();
  }
  EXPECT_EQ(take_sent(), Sent(20, "PUT"));
  EXPECT_EQ(state_.leadership(now_), Leadership::kLeading);
  EXPECT_EQ(server_["spec"]["leaseTransitions"], Json(4));
  EXPECT_EQ(server_["spec"]["acquireTime"], acquired);
}

TEST_F(Election, ReadsAgainAfterAConflictingRenewal) {
  server_ = lease("", 1);
  attempt();
  take_sent();
  server_["metadata"]["resourceVersion"] = "touched";
  server_["metadata"]["labels"]["by"] = "an admin";
  pass(std::chrono::seconds(2));
  attempt();
  EXPECT_EQ(take_sent(), (Sent{"PUT", "GET", "PUT"}));
  EXPECT_EQ(server_["metadata"]["labels"]["by"], Json("an admin"));
  EXPECT_EQ(state_.leadership(now_), Leadership::kLeading);
}

TEST_F(Election, RefusedRenewalsEndTheAttempt) {
  server_ = lease("", 1);
  attempt();
  take_sent();
  pass(std::chrono::seconds(2));
  std::optional<net::Request> request = state_.start(now_, kWall);
  int requests = 0;
  while (request) {
    ++requests;
    request = state_.on_answer(request->method == "GET" ? reply(server_) : refusal(403), now_, kWall);
  }
  EXPECT_EQ(requests, 3);  // PUT, GET, PUT
}

TEST_F(Election, IsLostAtTheRenewDeadline) {
  server_ = lease("", 1);
  attempt();
  down_ = true;
  pass(std::chrono::milliseconds(9'999));
  attempt();
  EXPECT_EQ(state_.leadership(now_), Leadership::kLeading);
  pass(std::chrono::milliseconds(1));
  EXPECT_EQ(state_.leadership(now_), Leadership::kLost);
  down_ = false;
  attempt();
  EXPECT_EQ(state_.leadership(now_), Leadership::kLost);  // for good
}

// The server counts from when it got the renewal, we from when we sent it: never longer than the others wait.
TEST_F(Election, CountsFromTheSendingOfTheRenewal) {
  state_.start(now_, kWall);
  state_.on_answer(reply(lease("", 1)), now_, kWall);
  const MonoTime sent = now_;
  pass(std::chrono::seconds(4));
  state_.on_answer(reply(lease("me", 2)), now_, kWall);
  EXPECT_EQ(state_.valid_until(), sent + std::chrono::seconds(10));
}

TEST_F(Election, AnswerAfterTheDeadlineComesTooLate) {
  server_ = lease("", 1);
  attempt();
  state_.start(now_, kWall);
  pass(std::chrono::seconds(11));
  EXPECT_FALSE(state_.on_answer(reply(lease("me", 3)), now_, kWall));
  EXPECT_EQ(state_.leadership(now_), Leadership::kLost);
}

TEST_F(Election, AnotherHolderEndsLeadershipAtOnce) {
  server_ = lease("", 1);
  attempt();
  server_ = lease("usurper", 2, "900");
  pass(std::chrono::seconds(2));
  attempt();
  EXPECT_EQ(state_.leadership(now_), Leadership::kLost);
}

// Our own write was executed, but its answer lost: the next attempt finds us as the holder.
TEST_F(Election, LostAnswerOfAcquisition) {
  state_.start(now_, kWall);
  auto put = state_.on_answer(reply(lease("", 1)), now_, kWall);
  ASSERT_TRUE(put);
  EXPECT_TRUE(serve(*put).ok());
  EXPECT_FALSE(state_.on_answer(kUnreachable, now_, kWall));
  EXPECT_EQ(state_.leadership(now_), Leadership::kWaiting);
  attempt();
  EXPECT_EQ(state_.leadership(now_), Leadership::kLeading);
}

TEST_F(Election, RequestsEndBeforeTheLeaseDoes) {
  server_ = lease("", 1);
  attempt();
  EXPECT_EQ(state_.start(now_, kWall).deadline, Duration(5'000));
  pass(std::chrono::seconds(8));
  EXPECT_EQ(state_.start(now_, kWall).deadline, Duration(2'000));
  EXPECT_EQ(state_.pause(now_, 0.9), Duration(2'000));
  EXPECT_EQ(state_.pause(now_ + Duration(1'500), 0.9), Duration(500));
}

TEST_F(Election, ReleaseLetsOthersInAtOnce) {
  EXPECT_FALSE(state_.release(kWall));
  server_ = lease("", 1);
  attempt();
  const auto request = state_.release(kWall);
  ASSERT_TRUE(request);
  EXPECT_TRUE(serve(*request).ok());
  EXPECT_EQ(server_["spec"]["holderIdentity"], Json(""));
  EXPECT_EQ(server_["spec"]["leaseDurationSeconds"], Json(1));
  EXPECT_EQ(server_["spec"]["leaseTransitions"], Json(4));
  EXPECT_EQ(state_.leadership(now_), Leadership::kLost);
  EXPECT_FALSE(state_.release(kWall));
}

TEST_F(Election, OddAnswersEndTheAttempt) {
  for (const auto& odd : {refusal(500), refusal(403), reply(Json::array()), reply(Json(7)), kUnreachable}) {
    state_.start(now_, kWall);
    EXPECT_FALSE(state_.on_answer(odd, now_, kWall));
    EXPECT_EQ(state_.leadership(now_), Leadership::kWaiting);
  }
  EXPECT_GE(state_.pause(now_, 0.99), Duration(2'000));
  EXPECT_LE(state_.pause(now_, 0.99), Duration(2'400));
}

TEST(LeaseOptions, AreChecked) {
  EXPECT_TRUE(check(kMe).ok());
  LeaseOptions options = kMe;
  options.renew_deadline = options.lease_duration;
  EXPECT_EQ(check(options).error().path, "leaderElection.leaseDuration");
  options = kMe;
  options.retry_period = std::chrono::seconds(9);
  EXPECT_EQ(check(options).error().path, "leaderElection.renewDeadline");
  options = kMe;
  options.name.clear();
  EXPECT_FALSE(check(options).ok());
}

}  // namespace
}  // namespace muster::client
