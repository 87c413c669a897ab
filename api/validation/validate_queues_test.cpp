#include "api/codec/encode.h"
#include "api/testing/builders.h"
#include "api/validation/validate.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::api {
namespace {

using testing::a_cluster_queue;
using testing::a_cohort;
using testing::a_flavor;

struct Case {
  std::string name{};
  Json object{};
  std::string want{};  // text of all errors; empty: accepted
};

std::string row_name(const ::testing::TestParamInfo<Case>& row) {
  return row.param.name;
}

// `object` with the value at `pointer` replaced.
template <class T>
Json with(const T& object, const char* pointer, Json value) {
  Json json = encode(object);
  json[Json::json_pointer(pointer)] = std::move(value);
  return json;
}

class ClusterQueueRules : public ::testing::TestWithParam<Case> {};

TEST_P(ClusterQueueRules, ReportEveryError) {
  EXPECT_EQ(to_string(validate_cluster_queue(GetParam().object, nullptr)), GetParam().want);
}

ClusterQueue queue_of(const testing::ClusterQueueBuilder& builder) {
  return builder;
}

ClusterQueue good() {
  return queue_of(a_cluster_queue("cq").cohort("c").quota("cpu", "f", "10", "5", "3"));
}

ClusterQueue with_flavor_twice() {
  ClusterQueue queue = a_cluster_queue("cq").quota("cpu", "a", "1").quota("memory", "b", "1");
  queue.resource_groups[1].flavors[0].name = FlavorName("a");
  return queue;
}

ClusterQueue with_resource_twice() {
  ClusterQueue queue = a_cluster_queue("cq").quota("cpu", "a", "1").quota("memory", "b", "1");
  queue.resource_groups[1].covered_resources[0] = "cpu";
  queue.resource_groups[1].flavors[0].resources[0].resource = "cpu";
  return queue;
}

ClusterQueue with_many_flavors() {
  ClusterQueue queue = a_cluster_queue("cq").quota("cpu", "a", "1");
  FlavorQuotas quotas = queue.resource_groups[0].flavors[0];
  for (int i = 1; i < 257; ++i) {
    quotas.name = FlavorName("f" + std::to_string(i));
    queue.resource_groups[0].flavors.push_back(quotas);
  }
  return queue;
}

INSTANTIATE_TEST_SUITE_P(
    Quotas, ClusterQueueRules,
    ::testing::Values(
        Case{"good", encode(good()), ""}, Case{"empty", Json::object(), ""},
        Case{"bad_resource_name", encode(queue_of(a_cluster_queue("cq").quota("-", "f", "1"))),
             "spec.resourceGroups[0].coveredResources[0]: Invalid value: \"-\": name part must consist of alphanumeric "
             "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
             "'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"},
        Case{"flavor_twice", encode(with_flavor_twice()),
             "spec.resourceGroups[1].flavors[0].name: Duplicate value: \"a\""},
        Case{"resource_twice", encode(with_resource_twice()),
             "spec.resourceGroups[1].coveredResources[0]: Duplicate value: \"cpu\""},
        Case{"resource_order", with(good(), "/spec/resourceGroups/0/coveredResources/0", "memory"),
             "spec.resourceGroups[0].flavors[0].resources[0].name: Invalid value: \"cpu\": must match the name in "
             "coveredResources"},
        Case{"negative_nominal", with(good(), "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "-1"),
             "[spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Invalid value: \"-1\": must be greater "
             "than or "
             "equal to 0, spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: \"3\": must be "
             "less "
             "than or equal to the nominalQuota]"},
        Case{"limits_without_cohort", encode(queue_of(a_cluster_queue("cq").quota("cpu", "f", "10", "5", "3"))),
             "[spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: Invalid value: \"5\": must be nil when "
             "cohort is empty, spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: \"3\": must "
             "be "
             "nil when cohort is empty]"},
        Case{
            "too_many_flavors", encode(with_many_flavors()),
            "spec.resourceGroups: Invalid value: 257: total number of flavors across all resourceGroups must be ≤ 256, "
            "got 257"},
        Case{
            "bad_quantity", with(good(), "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "ten"),
            "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$': \"ten\""}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    Policies, ClusterQueueRules,
    ::testing::Values(
        Case{"selector", encode(queue_of(a_cluster_queue("cq").namespaces({.match_expressions = {{"k", "In", {}}}}))),
             "spec.namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` is "
             "'In' or 'NotIn'"},
        Case{"borrow_without_reclaim",
             with(good(), "/spec/preemption", {{"borrowWithinCohort", {{"policy", "LowerPriority"}}}}),
             "spec.preemption: Invalid value: {\"borrowWithinCohort\":{\"policy\":\"LowerPriority\"}}: "
             "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never"},
        Case{"preference", with(good(), "/spec/flavorFungibility/preference", "BorrowingOverPreemption"),
             "spec.flavorFungibility.preference: Invalid value: \"BorrowingOverPreemption\": preference "
             "\"BorrowingOverPreemption\" requires both whenCanBorrow and whenCanPreempt to be TryNextFlavor"},
        Case{"negative_weight", with(good(), "/spec/fairSharing", {{"weight", "-1"}}),
             "spec.fairSharing: Invalid value: \"-1\": must be greater than or equal to 0"},
        Case{"tiny_weight", with(good(), "/spec/fairSharing", {{"weight", "1n"}}),
             "spec.fairSharing: Invalid value: \"1n\": When not 0, weight must be > 10e-9"},
        Case{"small_weight", with(good(), "/spec/fairSharing", {{"weight", "2n"}}), ""},
        Case{"zero_weight", with(good(), "/spec/fairSharing", {{"weight", 0}}), ""},
        Case{
            "check_on_unknown_flavor", encode(queue_of(a_cluster_queue("cq").quota("cpu", "f", "1").check("c", {"g"}))),
            "spec.admissionChecksStrategy.admissionChecks[0].onFlavors[0]: Unsupported value: \"g\": supported values: "
            "\"f\""},
        Case{"bad_enum", with(good(), "/spec/stopPolicy", "Now"),
             "spec.stopPolicy: Unsupported value: \"Now\": supported values: \"None\", \"Hold\", \"HoldAndDrain\""}),
    row_name);

TEST(ClusterQueueUpdate, LetsAnOldRuleStandWhileFlavorsStay) {
  const Json old = encode(queue_of(a_cluster_queue("cq").quota("cpu", "f", "1").check("c", {"g"})));
  const Json same_flavors = encode(queue_of(a_cluster_queue("cq").quota("cpu", "f", "2").check("c", {"g"})));
  EXPECT_EQ(to_string(validate_cluster_queue(same_flavors, &old)), "");
  EXPECT_EQ(validate_cluster_queue(same_flavors, &old, {.reject_updates_with_invalid_on_flavors = true}).size(), 1u);
  const Json other =
      encode(queue_of(a_cluster_queue("cq").quota("cpu", "f", "1").quota("cpu", "h", "1").check("c", {"g"})));
  EXPECT_EQ(validate_cluster_queue(other, &old).size(), 1u);
}

TEST(ClusterQueueUpdate, KeepsTheConcurrentAdmissionPolicy) {
  const Json policy = {{"migration", {{"mode", "TryPreferredFlavors"}}}};
  const Json old = encode(good());
  const Json now = with(good(), "/spec/concurrentAdmissionPolicy", policy);
  EXPECT_EQ(
      to_string(validate_cluster_queue(now, &old)),
      "spec.concurrentAdmissionPolicy: Invalid value: {\"migration\":{\"mode\":\"TryPreferredFlavors\"}}: field is "
      "immutable");
  EXPECT_EQ(to_string(validate_cluster_queue(now, &now)), "");
}

TEST(ClusterQueueConcurrent, ChecksThePolicyBehindItsGate) {
  const Json policy = {
      {"migration", {{"mode", "RetainFirstAdmission"}, {"constraints", {{"lastAcceptableFlavorName", "x"}}}}}};
  const Json queue = with(queue_of(a_cluster_queue("cq").quota("cpu", "f", "1").strict_fifo()),
                          "/spec/concurrentAdmissionPolicy", policy);
  EXPECT_EQ(to_string(validate_cluster_queue(queue, nullptr)), "");
  EXPECT_EQ(
      to_string(validate_cluster_queue(queue, nullptr, {.concurrent_admission = true})),
      "[spec.queueingStrategy: Invalid value: \"StrictFIFO\": StrictFIFO queueing strategy cannot be used when "
      "ConcurrentAdmissionPolicy is defined, spec.concurrentAdmissionPolicy.migration.constraints: Forbidden: may "
      "only be set when migration.mode is \"TryPreferredFlavors\" (got \"RetainFirstAdmission\"), "
      "spec.concurrentAdmissionPolicy.migration.constraints.lastAcceptableFlavorName: Invalid value: \"x\": must be "
      "one of the flavors defined in the ClusterQueue: [f]]");
}

TEST(CohortRules, DifferFromTheClusterQueues) {
  EXPECT_EQ(
      to_string(validate_cohort(encode(Cohort(a_cohort("c").quota("cpu", "f", "1", "2"))))),
      "spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: Invalid value: \"2\": must be nil when parent "
      "is empty");
  EXPECT_EQ(to_string(validate_cohort(encode(Cohort(a_cohort("c").parent("p").quota("cpu", "f", "1", "2", "9"))))), "");
}

TEST(ResourceFlavorRules, CheckLabelsTaintsAndTolerations) {
  EXPECT_TRUE(
      validate_resource_flavor(
          encode(ResourceFlavor(
              a_flavor("f").node_label("zone", "z").taint("k", "v", "NoSchedule").taint("k", "v", "NoExecute"))))
          .empty());
  const FieldErrors errors =
      validate_resource_flavor(encode(ResourceFlavor(a_flavor("f")
                                                         .node_label("zone", "a b")
                                                         .taint("k", "v", "NoSchedule")
                                                         .taint("k", "w", "NoSchedule")
                                                         .taint("", "x y", "NoExecute")
                                                         .toleration(testing::a_toleration("a/b/c", "Exists")))));
  std::vector<std::string> paths;
  for (const FieldError& error : errors) {
    paths.push_back(error.path);
  }
  EXPECT_EQ(paths, (std::vector<std::string>{"spec.nodeLabels", "spec.nodeTaints[1]", "spec.nodeTaints[2].key",
                                             "spec.nodeTaints[2].key", "spec.nodeTaints[2].value",
                                             "spec.tolerations[0].key"}));
  EXPECT_EQ(
      to_string(errors[1]),
      "spec.nodeTaints[1]: Duplicate value: {\"effect\":\"NoSchedule\",\"key\":\"k\",\"value\":\"w\"}: taints must be "
      "unique by key and effect pair");
}

}  // namespace
}  // namespace muster::api
