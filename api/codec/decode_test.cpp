#include "api/codec/decode.h"

#include "api/batch/job.h"
#include "api/core/node.h"
#include "api/kueue/queues.h"
#include "api/kueue/workload.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::api {
namespace {

Json json(std::string_view text) {
  return parse_json(text).value();
}

PodSpec pod_spec(std::string_view text) {
  return decode<PodSpec>(json(text)).value();
}

TEST(DecodeClusterQueue, ReadsWhatAdminsWrite) {
  const ClusterQueue queue = decode<ClusterQueue>(json(R"({
    "metadata": {"name": "cq", "uid": "u", "generation": 3, "creationTimestamp": "2026-01-02T03:04:05Z",
                 "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "a": "b"}},
    "spec": {
      "cohortName": "team", "queueingStrategy": "StrictFIFO", "namespaceSelector": {}, "stopPolicy": "Hold",
      "fairSharing": {"weight": "1500m"}, "admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"},
      "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any",
                     "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 7}},
      "flavorFungibility": {"whenCanBorrow": "TryNextFlavor"},
      "admissionChecksStrategy": {"admissionChecks": [{"name": "c", "onFlavors": ["f"]}]},
      "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [
        {"name": "cpu", "nominalQuota": 4, "borrowingLimit": "1500m", "lendingLimit": "1E"}]}]}]},
    "status": {"pendingWorkloads": 2, "flavorsUsage": [{"name": "f", "resources": [
      {"name": "cpu", "total": "2", "borrowed": "500m"}]}]}})"))
                                 .value();
  EXPECT_EQ(queue.meta.generation, 3);
  EXPECT_EQ(queue.meta.annotations, (StringMap{{"a", "b"}}));
  EXPECT_EQ(queue.cohort.str(), "team");
  EXPECT_EQ(queue.queueing_strategy, QueueingStrategy::kStrictFifo);
  EXPECT_EQ(queue.namespace_selector, LabelSelector{});
  EXPECT_EQ(queue.stop_policy, StopPolicy::kHold);
  EXPECT_EQ(queue.fair_weight_nano, 1'500'000'000);
  EXPECT_TRUE(queue.usage_based_fair_sharing);
  EXPECT_EQ(queue.preemption.borrow_max_priority_threshold, 7);
  EXPECT_EQ(queue.flavor_fungibility.when_can_borrow, FungibilityPolicy::kTryNextFlavor);
  EXPECT_EQ(queue.flavor_fungibility.when_can_preempt, FungibilityPolicy::kTryNextFlavor);
  EXPECT_EQ(queue.admission_checks[0].on_flavors[0].str(), "f");
  EXPECT_EQ(queue.resource_groups[0].flavors[0].resources[0],
            (ResourceQuota{.resource = "cpu", .nominal = 4000, .borrowing_limit = 1500, .lending_limit = kUnlimited}));
  EXPECT_EQ(queue.status.flavors_usage[0].resources[0].borrowed, 500);
}

TEST(DecodeClusterQueue, TellsAbsentFromEmpty) {
  const ClusterQueue queue = decode<ClusterQueue>(json(R"({"spec": {"namespaceSelector": null}})")).value();
  EXPECT_EQ(queue.namespace_selector, std::nullopt);
  EXPECT_EQ(queue.fair_weight_nano, std::nullopt);
  EXPECT_EQ(queue, decode<ClusterQueue>(json("{}")).value());
}

TEST(DecodeJob, ReadsCountsAndTemplate) {
  const Job job = decode<Job>(json(R"({
    "metadata": {"name": "j", "namespace": "ns", "labels": {"kueue.x-k8s.io/queue-name": "lq"}},
    "spec": {"suspend": true, "parallelism": 3, "completions": 5, "template": {"metadata": {"labels": {"a": "b"}},
      "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}},
    "status": {"active": 1, "uncountedTerminatedPods": {"succeeded": ["u1", "u2"]}, "startTime": null,
      "conditions": [{"type": "Suspended", "status": "True", "lastProbeTime": null}]}})"))
                      .value();
  EXPECT_TRUE(job.suspend);
  EXPECT_EQ(job.parallelism, 3);
  EXPECT_EQ(job.completions, 5);
  EXPECT_EQ(job.uncounted_succeeded, 2);
  EXPECT_EQ(job.pod_template.labels.at("a"), "b");
  EXPECT_EQ(pod_requests(job.pod_template.spec), (ResourceAmounts{{"cpu", 1000}}));
  EXPECT_TRUE(is_true(job.conditions, "Suspended"));
}

TEST(DecodeNode, ReadsAllocatableAndReadiness) {
  const Node node = decode<Node>(json(R"({"metadata": {"name": "n"}, "spec": {"unschedulable": true,
    "taints": [{"key": "k", "effect": "NoSchedule"}]}, "status": {"allocatable": {"cpu": "3920m", "memory": "1Gi",
    "pods": "110"}, "conditions": [{"type": "Ready", "status": "True"}]}})"))
                        .value();
  EXPECT_EQ(node.allocatable, (ResourceAmounts{{"cpu", 3920}, {"memory", 1073741824}, {"pods", 110}}));
  EXPECT_TRUE(node.ready);
  EXPECT_TRUE(node.unschedulable);
  EXPECT_EQ(node.taints[0].effect, "NoSchedule");
}

TEST(DecodePodSpec, KeepsPlacementRules) {
  const PodSpec spec = pod_spec(R"({
    "containers": [{"ports": [{"hostPort": 80}, {"containerPort": 5}]}, {"ports": [{"hostPort": 53, "protocol": "UDP"}]}],
    "initContainers": [{"ports": [{"hostPort": 1}]}, {"restartPolicy": "Always", "ports": [{"hostPort": 2}]}],
    "schedulingGates": [{"name": "g"}], "priority": 9,
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []},
      "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 3, "preference": {"matchExpressions":
        [{"key": "zone", "operator": "In", "values": ["z"]}]}}]}}})");
  EXPECT_EQ(spec.host_ports, (std::vector<HostPort>{{"", "TCP", 2}, {"", "TCP", 80}, {"", "UDP", 53}}));
  EXPECT_TRUE(spec.init_containers[1].restartable_init);
  ASSERT_TRUE(spec.node_affinity.required.has_value());  // case 37: present and empty matches no node
  EXPECT_TRUE(spec.node_affinity.required->empty());
  EXPECT_EQ(spec.node_affinity.preferred[0].weight, 3);
  EXPECT_EQ(spec.scheduling_gates, std::vector<std::string>{"g"});
  EXPECT_TRUE(spec.unsupported_placement_fields.empty());
}

struct UnsupportedCase {
  std::string name{};
  std::string spec{};
  std::vector<std::string> want{};
};

class UnsupportedFields : public ::testing::TestWithParam<UnsupportedCase> {};

TEST_P(UnsupportedFields, AreNamed) {
  EXPECT_EQ(pod_spec(GetParam().spec).unsupported_placement_fields, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, UnsupportedFields,
    ::testing::Values(
        UnsupportedCase{"pod_affinity",
                        R"({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{}]}}})",
                        {"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"}},
        UnsupportedCase{
            "pod_anti_affinity",
            R"({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{}]}}})",
            {"spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"}},
        UnsupportedCase{"preferred_affinity_is_a_wish",
                        R"({"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}}})",
                        {}},
        UnsupportedCase{"empty_required_list",
                        R"({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}}})",
                        {}},
        UnsupportedCase{"hard_spread",
                        R"({"topologySpreadConstraints": [{"whenUnsatisfiable": "DoNotSchedule"}]})",
                        {"spec.topologySpreadConstraints"}},
        UnsupportedCase{
            "soft_spread", R"({"topologySpreadConstraints": [{"whenUnsatisfiable": "ScheduleAnyway"}]})", {}},
        UnsupportedCase{"volumes",
                        R"({"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "persistentVolumeClaim": {}},
                                        {"name": "c", "ephemeral": {}}]})",
                        {"spec.volumes[b].persistentVolumeClaim", "spec.volumes[c].ephemeral"}},
        UnsupportedCase{"claims", R"({"resourceClaims": [{"name": "x"}]})", {"spec.resourceClaims"}}),
    [](const auto& row) { return row.param.name; });

struct HashCase {
  std::string name{};
  std::string a{};
  std::string b{};
  bool same = true;
};

class ContainersHash : public ::testing::TestWithParam<HashCase> {};

TEST_P(ContainersHash, IsSemanticEquality) {
  const auto hash = [](const std::string& containers) {
    return pod_spec(R"({"containers": )" + containers + "}").containers_hash;
  };
  EXPECT_EQ(hash(GetParam().a) == hash(GetParam().b), GetParam().same);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ContainersHash,
    ::testing::Values(
        HashCase{"same", R"([{"image": "i"}])", R"([{"image": "i"}])"},
        HashCase{"image", R"([{"image": "i"}])", R"([{"image": "j"}])", false},
        HashCase{"order", R"([{"name": "a"}, {"name": "b"}])", R"([{"name": "b"}, {"name": "a"}])", false},
        HashCase{"absent_null_empty", R"([{"name": "a", "args": [], "resources": {"limits": {}}, "env": null}])",
                 R"([{"name": "a"}])"},
        HashCase{
            "env_last_value_first_place",
            R"([{"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "A", "value": "3"}]}])",
            R"([{"env": [{"name": "A", "value": "3"}, {"name": "B", "value": "2"}]}])"},
        HashCase{"env_order", R"([{"env": [{"name": "A"}, {"name": "B"}]}])",
                 R"([{"env": [{"name": "B"}, {"name": "A"}]}])", false},
        HashCase{"quantities_by_value", R"([{"resources": {"requests": {"cpu": "1000m", "memory": 1024}}}])",
                 R"([{"resources": {"requests": {"cpu": 1, "memory": "1Ki"}}}])"},
        HashCase{"quantities_differ", R"([{"resources": {"requests": {"cpu": "1"}}}])",
                 R"([{"resources": {"limits": {"cpu": "1"}}}])", false},
        HashCase{"empty_string_is_a_value", R"([{"env": [{"name": "A", "value": ""}]}])",
                 R"([{"env": [{"name": "A"}]}])", false},
        HashCase{"no_concatenation", R"([{"command": ["ab", "c"]}])", R"([{"command": ["a", "bc"]}])", false},
        HashCase{"two_empty_containers", "[{}]", "[{}, {}]", false}, HashCase{"none_and_empty", "[]", "null"}),
    [](const auto& row) { return row.param.name; });

struct BadCase {
  std::string name{};
  std::string text{};
  std::string path{};
};

class BadWorkload : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadWorkload, NamesTheField) {
  const Result<Workload> got = decode<Workload>(json(GetParam().text));
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(got.error().path, GetParam().path);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadWorkload,
    ::testing::Values(
        BadCase{"not_an_object", "[]", ""}, BadCase{"spec_list", R"({"spec": []})", "spec"},
        BadCase{"count_text", R"({"spec": {"podSets": [{"count": "3"}]}})", "spec.podSets[0].count"},
        BadCase{"count_float", R"({"spec": {"podSets": [{}, {"count": 1.5}]}})", "spec.podSets[1].count"},
        BadCase{"count_beyond_int32", R"({"spec": {"podSets": [{"count": 2147483648}]}})", "spec.podSets[0].count"},
        BadCase{"count_beyond_int64", R"({"spec": {"podSets": [{"count": 18446744073709551615}]}})",
                "spec.podSets[0].count"},
        BadCase{"pod_set_text", R"({"spec": {"podSets": ["x"]}})", "spec.podSets[0]"},
        BadCase{"quantity",
                R"({"spec": {"podSets": [{"template": {"spec": {"containers": [{"resources": {"requests":
                    {"cpu": "1x"}}}]}}}]}})",
                "spec.podSets[0].template.spec.containers[0].resources.requests.cpu"},
        BadCase{"active_text", R"({"spec": {"active": "true"}})", "spec.active"},
        BadCase{"check_state", R"({"status": {"admissionChecks": [{"state": "Maybe"}]}})",
                "status.admissionChecks[0].state"},
        BadCase{"time", R"({"status": {"requeueState": {"requeueAt": "soon"}}})", "status.requeueState.requeueAt"},
        BadCase{"label", R"({"metadata": {"labels": {"a": 1}}})", "metadata.labels[a]"},
        BadCase{"condition_status", R"({"status": {"conditions": [{"type": "A", "status": "Yes"}]}})",
                "status.conditions[0].status"}),
    [](const auto& row) { return row.param.name; });

TEST(DecodeWorkload, TakesNullForAbsentEverywhere) {
  const Workload workload = decode<Workload>(json(R"({"metadata": {"creationTimestamp": null, "labels": null},
    "spec": {"podSets": null, "priority": null, "active": null}, "status": {"admission": null, "conditions": null}})"))
                                .value();
  EXPECT_EQ(workload, Workload{});
}

TEST(DecodeLimitRange, ReadsItems) {
  const LimitRange range = decode<LimitRange>(json(R"({"spec": {"limits": [{"type": "Container",
    "default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}, "max": {"memory": "1Gi"}}]}})"))
                               .value();
  EXPECT_EQ(range.limits[0].defaults.at("cpu"), 2000);
  EXPECT_EQ(range.limits[0].default_request.at("cpu"), 1000);
  EXPECT_EQ(range.limits[0].max.at("memory"), 1073741824);
}

TEST(DecodeRuntimeClass, ReadsOverhead) {
  EXPECT_EQ(decode<RuntimeClass>(json(R"({"overhead": {"podFixed": {"cpu": "250m"}}})"))->overhead.at("cpu"), 250);
}

}  // namespace
}  // namespace muster::api
