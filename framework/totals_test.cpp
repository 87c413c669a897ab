// What a Workload asks of quota (spec/admission.md §2.2).
#include "framework/totals.h"

#include "api/testing/builders.h"
#include "base/quantity.h"
#include "framework/cycle/admissible.h"

#include <gtest/gtest.h>

#include <limits>

namespace muster::framework {
namespace {

using api::ResourceAmounts;
using api::testing::a_cluster_queue;
using api::testing::a_namespace;
using api::testing::a_workload;

// The objects that adjust requests, in namespace `ns`.
class TotalsTest : public ::testing::Test {
 protected:
  template <class T>
  void add(const T& object) {
    model_.observe(ObjectEvent(Upserted<T>{std::make_shared<const T>(object)}));
  }

  void limit_range(const std::string& name, const api::LimitRangeItem& item) {
    add(api::LimitRange{.meta = {.ns = "ns", .name = name}, .limits = {item}});
  }

  WorkloadInfo info(const api::testing::WorkloadBuilder& workload, const TotalsRules& rules = {}) const {
    return build_info(std::make_shared<const api::Workload>(workload.obj()), ClusterQueueName("q"), model_.objects(),
                      rules);
  }

  ResourceAmounts requests(const api::testing::WorkloadBuilder& workload, const TotalsRules& rules = {}) const {
    return info(workload, rules).pod_sets.front().requests;
  }

  std::string refusal(const api::testing::WorkloadBuilder& workload) {
    add(a_namespace("ns").obj());
    add(a_cluster_queue("q").quota("cpu", "f", "10").obj());
    return admissible(info(workload), model_).message();
  }

  Model model_{};
};

TEST_F(TotalsTest, Case34_ALimitIsARequest) {
  EXPECT_EQ(requests(a_workload("ns", "w").limit("cpu", "2")), (ResourceAmounts{{"cpu", 2000}}));
}

TEST_F(TotalsTest, Case34_LimitRangeDefaultsWhereNothingIsSaid) {
  limit_range("r", {.type = "Container", .default_request = {{"cpu", 1000}}});
  EXPECT_EQ(requests(a_workload("ns", "w").request("memory", "1").count(3)),
            (ResourceAmounts{{"cpu", 3000}, {"memory", 3}}));
  EXPECT_EQ(requests(a_workload("ns", "w").request("cpu", "500m")), (ResourceAmounts{{"cpu", 500}}));
  EXPECT_EQ(requests(a_workload("other", "w").request("memory", "1")), (ResourceAmounts{{"memory", 1}}));
}

TEST_F(TotalsTest, Case34_RuntimeClassOverheadOfEveryPod) {
  add(api::RuntimeClass{.meta = {.name = "kata"}, .overhead = {{"cpu", 500}}});
  auto workload = a_workload("ns", "w").request("cpu", "1").count(2);
  workload.spec().runtime_class_name = "kata";
  EXPECT_EQ(requests(workload), (ResourceAmounts{{"cpu", 3000}}));
  workload.spec().overhead = {{"cpu", 100}};  // says so itself
  EXPECT_EQ(requests(workload), (ResourceAmounts{{"cpu", 2200}}));
}

TEST_F(TotalsTest, DefaultsOfTheFirstLimitRangeCount) {
  limit_range("a", {.type = "Container", .defaults = {{"cpu", 2000}}});
  limit_range("b", {.type = "Container", .defaults = {{"cpu", 4000}, {"memory", 8}}});
  EXPECT_EQ(requests(a_workload("ns", "w").request("gpu", "1")),
            (ResourceAmounts{{"cpu", 2000}, {"gpu", 1}, {"memory", 8}}));
}

TEST_F(TotalsTest, SidecarsRunBesideTheContainersAndInitPeaksCount) {
  auto workload = a_workload("ns", "w").request("cpu", "2");
  workload.spec().init_containers = {{.name = "sidecar", .requests = {{"cpu", 1000}}, .restartable_init = true},
                                     {.name = "init", .requests = {{"cpu", 5000}}}};
  EXPECT_EQ(requests(workload), (ResourceAmounts{{"cpu", 6000}}));
}

TEST_F(TotalsTest, PodLevelRequestsWinAndFollowTheirLimits) {
  auto workload = a_workload("ns", "w").request("cpu", "1");
  workload.spec().pod_limits = ResourceAmounts{{"cpu", 3000}};
  EXPECT_EQ(requests(workload), (ResourceAmounts{{"cpu", 3000}}));
}

TEST_F(TotalsTest, Case35_ReclaimedPodsAreNotCounted) {
  const WorkloadInfo w = info(a_workload("ns", "w").request("cpu", "1").count(5).reclaimable("main", 2));
  EXPECT_EQ(w.pod_sets[0].count, 3);
  EXPECT_EQ(w.pod_sets[0].requests, (ResourceAmounts{{"cpu", 3000}}));
  EXPECT_EQ(info(a_workload("ns", "w").count(2).reclaimable("main", 7)).pod_sets[0].count, 0);
}

TEST_F(TotalsTest, ExcludedPrefixesGoBeforeTransformations) {
  TotalsRules rules{.exclude_prefixes = {"internal/"}};
  rules.transformations["gpu"] = {.outputs = {{"internal/credit", parse_wide_nano("2").value()}}};
  rules.transformations["internal/x"] = {.outputs = {{"y", parse_wide_nano("1").value()}}};
  EXPECT_EQ(requests(a_workload("ns", "w").request("gpu", "1").request("internal/x", "9").count(2), rules),
            (ResourceAmounts{{"gpu", 2}, {"internal/credit", 4}}));
}

TEST_F(TotalsTest, APodIsRoundedBeforeItIsMultiplied) {
  TotalsRules rules;
  rules.transformations["gpu"] = {.keeps_input = false, .outputs = {{"credit", parse_wide_nano("500m").value()}}};
  EXPECT_EQ(requests(a_workload("ns", "w").request("gpu", "1").count(4), rules), (ResourceAmounts{{"credit", 4}}))
      << "resourceUsage has to be divisible by the count";
}

TEST_F(TotalsTest, FewerPodsAskForTheirShare) {
  const WorkloadInfo all = info(a_workload("ns", "w").request("cpu", "1500m").count(10).min_count(2));
  EXPECT_EQ(all.pod_sets[0].min_count, 2);
  const WorkloadInfo some = with_counts(all, {4});
  EXPECT_EQ(some.pod_sets[0].count, 4);
  EXPECT_EQ(some.pod_sets[0].requests, (ResourceAmounts{{"cpu", 6000}}));
  EXPECT_EQ(info(a_workload("ns", "w").count(10).min_count(2), {.partial_admission = false}).pod_sets[0].min_count, 10);
}

TEST_F(TotalsTest, ClassesTellWhatDecides) {
  const auto w = a_workload("ns", "w").count(5).request("cpu", "1");
  const ClassId id = info(w).class_id;
  EXPECT_EQ(info(api::testing::WorkloadBuilder(w).label("a", "b")).class_id, id);
  EXPECT_NE(info(api::testing::WorkloadBuilder(w).min_count(2)).class_id, id);
  EXPECT_NE(info(api::testing::WorkloadBuilder(w).group("g")).class_id, id);
}

// Request and count at their ends: exact, or the most there is; never negative.
TEST_F(TotalsTest, AmountsAtTheEdge) {
  constexpr std::int32_t kManyPods = std::numeric_limits<std::int32_t>::max();

  struct Edge {
    const char* resource;
    const char* quantity;
    std::int32_t count;
    Amount want;
  };

  for (const Edge& edge :
       {Edge{"cpu", "0", kManyPods, 0}, Edge{"cpu", "-1", 3, 0}, Edge{"memory", "-1Ei", 3, 0},
        Edge{"memory", "9223372036854775807", 1, kUnlimited}, Edge{"memory", "9223372036854775807", 2, kUnlimited},
        Edge{"cpu", "9223372036854775807", 1, kUnlimited}, Edge{"memory", "1e3", 2, 2000},
        Edge{"memory", "1Ei", 7, 7 * (Amount{1} << 60)}, Edge{"memory", "1Ei", 8, kUnlimited},
        Edge{"cpu", "0.0001", 3, 3}, Edge{"memory", "0.0001", 3, 3}, Edge{"gpu", "1", 0, 0}}) {
    EXPECT_EQ(requests(a_workload("ns", "w").request(edge.resource, edge.quantity).count(edge.count)).at(edge.resource),
              edge.want)
        << edge.quantity << " x " << edge.count;
  }
}

// ---- §2.8 ----

TEST_F(TotalsTest, Case36_RequestAboveLimit) {
  EXPECT_EQ(
      refusal(a_workload("ns", "w").request("cpu", "2").limit("cpu", "1")),
      "resources validation failed: spec.podSets[0].template.spec.containers[0]: requests must not exceed its limits");
}

TEST_F(TotalsTest, Case36_RequestAboveTheDefaultLimit) {
  limit_range("r", {.type = "Container", .defaults = {{"cpu", 1000}}});
  EXPECT_EQ(
      refusal(a_workload("ns", "w").request("cpu", "2")),
      "resources validation failed: spec.podSets[0].template.spec.containers[0]: requests must not exceed its limits");
}

TEST_F(TotalsTest, SmallestMaximumOfTheLimitRangesCounts) {
  limit_range("a", {.type = "Container", .max = {{"cpu", 4000}}});
  limit_range("b", {.type = "Container", .max = {{"cpu", 2000}}});
  EXPECT_EQ(
      refusal(a_workload("ns", "w").request("cpu", "5")),
      "resources didn't satisfy LimitRange constraints: spec.podSets[0].template.spec.containers[0]: requests must not "
      "be above the limitRange max");
  EXPECT_EQ(
      refusal(a_workload("ns", "w").limit("cpu", "3")),
      "resources didn't satisfy LimitRange constraints: spec.podSets[0].template.spec.containers[0]: requests must not "
      "be above the limitRange max");
  EXPECT_EQ(refusal(a_workload("ns", "w").request("cpu", "2")), "");
}

TEST_F(TotalsTest, MinimumOfAPodComparesItsSum) {
  limit_range("a", {.type = "Pod", .min = {{"cpu", 2000}}});
  EXPECT_EQ(
      refusal(a_workload("ns", "w").request("cpu", "1")),
      "resources didn't satisfy LimitRange constraints: spec.podSets[0].template.spec: requests must not be below the "
      "limitRange min");
}

}  // namespace
}  // namespace muster::framework
