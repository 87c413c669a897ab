#include "client/leader_election.h"

#include "net/fake/transport.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <condition_variable>

namespace muster::client {
namespace {

using api::Json;

const LeaseOptions kQuick{.ns = "ns",
                          .name = "lease",
                          .identity = "me",
                          .lease_duration = Duration(400),
                          .renew_deadline = Duration(300),
                          .retry_period = Duration(5)};

class Flag {
 public:
  void raise() {
    const std::lock_guard lock(mutex_);
    raised_ = true;
    changed_.notify_all();
  }

  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [this] { return raised_; });
  }

  bool is_raised() {
    const std::lock_guard lock(mutex_);
    return raised_;
  }

 private:
  std::mutex mutex_{};
  std::condition_variable changed_{};
  bool raised_ = false;
};

// A lease that accepts every write while `up`.
struct Server {
  std::atomic<bool> up = true;
  std::mutex mutex{};
  std::string body{};

  Result<net::Response> call(const net::Request& request) {
    const std::lock_guard lock(mutex);
    if (!up) {
      return Error{.code = ErrorCode::kUnavailable, .message = "down"};
    }
    if (request.method == "GET") {
      return body.empty() ? net::Response{.status = 404} : net::Response{.status = 200, .body = body};
    }
    body = request.body;
    return net::Response{.status = 200, .body = body};
  }

  std::string holder() {
    const std::lock_guard lock(mutex);
    return (*api::parse_json(body))["spec"]["holderIdentity"].get<std::string>();
  }
};

TEST(LeaderElection, LeadsRenewsAndReleases) {
  Server server;
  net::fake::Transport transport;
  transport.on_call([&](const net::Request& request) { return server.call(request); });
  Flag leading;
  Flag lost;
  LeaderElection election(transport, kQuick, {[&] { leading.raise(); }, [&] { lost.raise(); }});
  EXPECT_FALSE(election.is_leader());
  election.start();
  ASSERT_TRUE(leading.wait());
  EXPECT_EQ(server.holder(), "me");
  EXPECT_EQ(election.holder(), "me");
  ASSERT_TRUE(transport.wait_for_requests(6));
  election.stop();
  EXPECT_FALSE(election.is_leader());
  EXPECT_EQ(server.holder(), "");
  EXPECT_FALSE(lost.is_raised());
}

TEST(LeaderElection, TellsOfItsLoss) {
  Server server;
  net::fake::Transport transport;
  transport.on_call([&](const net::Request& request) { return server.call(request); });
  Flag leading;
  Flag lost;
  LeaderElection election(transport, kQuick, {[&] { leading.raise(); }, [&] { lost.raise(); }});
  election.start();
  ASSERT_TRUE(leading.wait());
  server.up = false;
  ASSERT_TRUE(lost.wait());
  EXPECT_FALSE(election.is_leader());
  server.up = true;
  election.stop();
  EXPECT_EQ(server.holder(), "me");  // what is lost is not ours to release
}

TEST(LeaseIdentity, IsUnique) {
  EXPECT_NE(lease_identity(), lease_identity());
  EXPECT_NE(lease_identity().find('_'), std::string::npos);
}

}  // namespace
}  // namespace muster::client
