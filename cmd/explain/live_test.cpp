// Reading a cluster with few rights: an API server that answers lists, or refuses them.
#include "cmd/explain/live.h"

#include "api/codec/encode.h"
#include "api/constants.h"
#include "api/testing/builders.h"
#include "net/fake/transport.h"
#include "plugins/register_all.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <set>
#include <string>

namespace muster::cmd {
namespace {

using namespace api::testing;  // NOLINT(google-build-using-namespace): the builders are the vocabulary here
using api::Json;
using framework::Explanation;
using framework::Standing;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kKueue = "/apis/kueue.x-k8s.io/v1beta2/";

class FakeCluster {
 public:
  FakeCluster() {
    transport_.on_call([this](const net::Request& request) { return answer(request); });
    add(kKueue + "resourceflavors", a_flavor("f").obj());
    add(kKueue + "clusterqueues", a_cluster_queue("cq").quota("cpu", "f", "4").obj());
    add(kKueue + "localqueues", a_local_queue("ns", "lq").cluster_queue("cq").obj());
    add("/api/v1/namespaces", a_namespace("ns").obj());
    add(kKueue + "workloads", a_workload("ns", "holder").queue("lq").request("cpu", "3").admitted("cq", "f").obj());
    add(kKueue + "workloads", waiting().obj());
  }

  static WorkloadBuilder waiting() {
    return a_workload("ns", "w")
        .queue("lq")
        .request("cpu", "2")
        .condition(a_condition(api::kQuotaReserved, api::ConditionStatus::kFalse, "WaitingForQuota", at(0),
                               "as the manager wrote"));
  }

  template <class T>
  void add(const std::string& path, const T& object) {
    lists_[path].push_back(api::encode(object));
  }

  void forbid(const std::set<std::string>& paths) { forbidden_ = paths; }

  void fail_with(int status) { status_ = status; }

  Result<LiveCore> read() {
    framework::Registry registry;
    plugins::register_all(registry);
    auto parts = make_parts({.own_namespace = "kueue-system"}, registry, {});
    return read_cluster(client::ApiClient(transport_), *std::move(parts), "ns");
  }

  Explanation explain(LiveCore& live, const std::string& name = "w") {
    Explanation explanation = live.core->explain(live.now, {"ns", name});
    restrict_to_seen(live, explanation);
    return explanation;
  }

  void expect_only_reads() {
    for (const net::Request& request : transport_.requests()) {
      EXPECT_EQ(request.method, "GET") << request.target;
    }
  }

 private:
  Result<net::Response> answer(const net::Request& request) {
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (status_ != 0 || forbidden_.contains(path)) {
      return net::Response{.status = status_ != 0 ? status_ : 403,
                           .body = R"({"kind": "Status", "message": "you may not"})"};
    }
    if (path == "/api/v1/namespaces/ns") {
      return net::Response{.status = 200, .body = lists_.at("/api/v1/namespaces")[0].dump()};
    }
    std::string list = path;
    if (const std::size_t local = list.find("/namespaces/ns/"); local != std::string::npos) {
      list.erase(local, std::string("/namespaces/ns").size());
    }
    const Json body = {{"metadata", Json::object()},
                       {"items", lists_.count(list) > 0 ? Json(lists_[list]) : Json::array()}};
    return net::Response{.status = 200, .body = body.dump()};
  }

  net::fake::Transport transport_{};
  std::map<std::string, std::vector<Json>> lists_{};
  std::set<std::string> forbidden_{};
  int status_ = 0;
};

TEST(ReadCluster, DecidesAsTheManagerDoes) {
  FakeCluster cluster;
  auto live = cluster.read();
  ASSERT_TRUE(live.ok()) << to_string(live.error());
  EXPECT_THAT(live->notes, IsEmpty());
  const Explanation explanation = cluster.explain(*live);
  EXPECT_EQ(explanation.standing, Standing::kParked);
  EXPECT_EQ(explanation.message,
            "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, 1 more needed");
  ASSERT_EQ(explanation.flavors.size(), 1U);
  EXPECT_EQ(explanation.flavors[0].holders.at(0).workload.name, "holder");
  cluster.expect_only_reads();
}

TEST(ReadCluster, KindsThatMayNotBeReadAndDoNotMatterAreNoted) {
  FakeCluster cluster;
  cluster.forbid({"/api/v1/nodes", "/apis/node.k8s.io/v1/runtimeclasses"});
  auto live = cluster.read();
  ASSERT_TRUE(live.ok());
  EXPECT_THAT(live->notes, Contains(HasSubstr("Nodes are not seen")));
  EXPECT_EQ(cluster.explain(*live).flavors.size(), 1U);
}

TEST(ReadCluster, OneNamespaceIsEnoughForWhatLivesInIt) {
  FakeCluster cluster;
  cluster.forbid({kKueue + "localqueues", "/api/v1/namespaces", "/apis/batch/v1/jobs"});
  auto live = cluster.read();
  ASSERT_TRUE(live.ok());
  EXPECT_THAT(live->notes, IsEmpty());
  EXPECT_EQ(cluster.explain(*live).reason, "WaitingForQuota");
  EXPECT_EQ(cluster.explain(*live).flavors.size(), 1U);
}

TEST(ReadCluster, WithoutTheQuotaOnlyTheManagersWordIsRepeated) {
  FakeCluster cluster;
  cluster.forbid({kKueue + "clusterqueues", kKueue + "workloads"});
  auto live = cluster.read();
  ASSERT_TRUE(live.ok());
  EXPECT_THAT(live->notes, Contains(HasSubstr("ClusterQueues are not seen: you may not")));
  EXPECT_THAT(live->notes, Contains(HasSubstr("Workloads of namespace ns alone are seen")));
  const Explanation explanation = cluster.explain(*live);
  EXPECT_EQ(explanation.standing, Standing::kParked);
  EXPECT_EQ(explanation.reason, "WaitingForQuota");
  EXPECT_EQ(explanation.message, "as the manager wrote");
  EXPECT_THAT(explanation.flavors, IsEmpty());
  EXPECT_THAT(explanation.cures, IsEmpty());
  EXPECT_FALSE(explanation.in_cluster_queue);
}

TEST(ReadCluster, WithoutNodesNothingIsSaidOfAGang) {
  FakeCluster cluster;
  cluster.add(
      kKueue + "workloads",
      a_workload("ns", "gang").queue("lq").request("cpu", "2").scheduler(std::string(api::kSchedulerName)).obj());
  cluster.forbid({"/api/v1/nodes"});
  auto live = cluster.read();
  ASSERT_TRUE(live.ok());
  const Explanation explanation = cluster.explain(*live, "gang");
  EXPECT_THAT(explanation.nodes, IsEmpty());
  EXPECT_EQ(explanation.attempt, "");
  EXPECT_EQ(explanation.flavors.size(), 1U);
}

TEST(ReadCluster, EverythingElseIsAnError) {
  FakeCluster cluster;
  cluster.fail_with(401);
  EXPECT_EQ(cluster.read().error().code, ErrorCode::kUnauthenticated);
  cluster.fail_with(500);
  EXPECT_FALSE(cluster.read().ok());
}

}  // namespace
}  // namespace muster::cmd
