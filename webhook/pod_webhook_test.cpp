#include "webhook/pod_webhook.h"

#include "api/codec/yaml.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::webhook {
namespace {

using api::Json;

Json from_yaml(const std::string& text) {
  const auto documents = api::yaml_to_json(text);
  EXPECT_TRUE(documents.ok() && !documents->empty()) << text;
  return documents.ok() && !documents->empty() ? documents->front() : Json::object();
}

struct MutateCase {
  std::string name{};
  std::string pod{};
  bool manage_all = false;
  bool pod_groups = false;
  std::string want{};  // empty: unchanged
};

class MutateAPod : public ::testing::TestWithParam<MutateCase> {};

TEST_P(MutateAPod, GivesThePodToCreate) {
  const MutateCase& c = GetParam();
  JobOptions options;
  options.manage_jobs_without_queue_name = c.manage_all;
  options.pod_groups = c.pod_groups;
  const Json pod = from_yaml(c.pod);
  const auto got = mutate_pod(pod, PublishedView{}, options);
  ASSERT_TRUE(got.ok()) << to_string(got.error());
  EXPECT_EQ(*got, c.want.empty() ? pod : from_yaml(c.want)) << got->dump(1);
}

constexpr char kGated[] =
    "{metadata: {namespace: n, labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: 'true'}, finalizers: "
    "[kueue.x-k8s.io/managed]}, spec: {schedulingGates: [{name: kueue.x-k8s.io/admission}]}}";

INSTANTIATE_TEST_SUITE_P(
    Table, MutateAPod,
    ::testing::Values(
        MutateCase{.name = "queued",
                   .pod = "{metadata: {namespace: n, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {}}",
                   .want = kGated},
        MutateCase{.name = "already_gated", .pod = kGated},
        MutateCase{.name = "keeps_other_gates_and_finalizers",
                   .pod = "{metadata: {labels: {kueue.x-k8s.io/queue-name: q}, finalizers: [a/b]}, spec: "
                          "{schedulingGates: [{name: c/d}]}}",
                   .want = "{metadata: {labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: 'true'}, "
                           "finalizers: [a/b, kueue.x-k8s.io/managed]}, spec: {schedulingGates: [{name: c/d}, {name: "
                           "kueue.x-k8s.io/admission}]}}"},
        MutateCase{.name = "no_queue", .pod = "{metadata: {namespace: n}, spec: {}}"},
        MutateCase{.name = "no_queue_but_everything_is_managed",
                   .pod = "{metadata: {namespace: n}, spec: {}}",
                   .manage_all = true,
                   .want = "{metadata: {namespace: n, labels: {kueue.x-k8s.io/managed: 'true'}, finalizers: "
                           "[kueue.x-k8s.io/managed]}, spec: {schedulingGates: [{name: kueue.x-k8s.io/admission}]}}"},
        MutateCase{.name = "of_a_job",
                   .pod = "{metadata: {labels: {kueue.x-k8s.io/queue-name: q}, ownerReferences: [{apiVersion: "
                          "batch/v1, kind: Job, name: j, uid: u, controller: true}]}, spec: {}}"},
        MutateCase{.name = "of_a_jobset_that_this_build_does_not_know",
                   .pod = "{metadata: {labels: {kueue.x-k8s.io/queue-name: q}, ownerReferences: [{apiVersion: "
                          "jobset.x-k8s.io/v1alpha2, kind: JobSet, name: j, uid: u, controller: true}]}, spec: {}}"},
        MutateCase{.name = "of_a_replica_set",
                   .pod = "{metadata: {namespace: n, labels: {kueue.x-k8s.io/queue-name: q}, ownerReferences: "
                          "[{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u, controller: true}]}, spec: {}}",
                   .want = "{metadata: {namespace: n, labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: "
                           "'true'}, finalizers: [kueue.x-k8s.io/managed], ownerReferences: [{apiVersion: apps/v1, "
                           "kind: ReplicaSet, name: r, uid: u, controller: true}]}, spec: {schedulingGates: [{name: "
                           "kueue.x-k8s.io/admission}]}}"},
        MutateCase{.name = "with_a_suspending_parent",
                   .pod = "{metadata: {labels: {kueue.x-k8s.io/queue-name: q}, annotations: "
                          "{kueue.x-k8s.io/pod-suspending-parent: deployment}}, spec: {}}"},
        MutateCase{.name = "deleting",
                   .pod = "{metadata: {deletionTimestamp: '2026-01-01T00:00:00Z', labels: "
                          "{kueue.x-k8s.io/queue-name: q}}, spec: {}}"},
        MutateCase{.name = "of_a_group_nobody_would_start",
                   .pod = "{metadata: {labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/pod-group-name: g}}, "
                          "spec: {}}"}),
    [](const auto& row) { return row.param.name; });

TEST(MutatePod, RefusesGatesThatAreNoList) {
  const auto got = mutate_pod(from_yaml("{metadata: {}, spec: {schedulingGates: 3}}"), PublishedView{}, {});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(to_string(got.error()), "spec.schedulingGates: must be a list");
}

struct ValidateCase {
  std::string name{};
  std::string old{};  // metadata; empty: create
  std::string now{};
  bool pod_groups = true;
  std::string want{};
};

class ValidateAPod : public ::testing::TestWithParam<ValidateCase> {};

Json pod_with(const std::string& metadata) {
  return from_yaml("{metadata: {" + metadata + "}, spec: {}}");
}

TEST_P(ValidateAPod, GivesTheseErrors) {
  const ValidateCase& c = GetParam();
  JobOptions options;
  options.pod_groups = c.pod_groups;
  const Json old = pod_with(c.old);
  const auto got = validate_pod(pod_with(c.now), c.old.empty() ? nullptr : &old, PublishedView{}, options);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(to_string(got->errors), c.want);
}

constexpr char kBoth[] =
    "Required value: both the 'kueue.x-k8s.io/pod-group-total-count' annotation and the "
    "'kueue.x-k8s.io/pod-group-name' label should be set";
const std::string kCount = "metadata.annotations[kueue.x-k8s.io/pod-group-total-count]: ";

std::string group(const std::string& name, const std::string& count, const std::string& more = {}) {
  return "labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/pod-group-name: '" + name +
         "'}, annotations: {kueue.x-k8s.io/pod-group-total-count: '" + count + "'" + more + "}";
}

INSTANTIATE_TEST_SUITE_P(
    Table, ValidateAPod,
    ::testing::Values(
        ValidateCase{.name = "single", .now = "labels: {kueue.x-k8s.io/queue-name: q}"},
        ValidateCase{.name = "managed_label",
                     .now = "labels: {kueue.x-k8s.io/managed: 'false'}",
                     .want = "metadata.labels[kueue.x-k8s.io/managed]: Forbidden: managed label value can only be "
                             "'true'"},
        ValidateCase{.name = "group", .now = group("g", "3")},
        ValidateCase{.name = "group_without_support",
                     .now = group("g", "3"),
                     .pod_groups = false,
                     .want = "metadata.labels[kueue.x-k8s.io/pod-group-name]: Forbidden: pod groups are not supported "
                             "by this version of Muster"},
        ValidateCase{.name = "unmanaged_group_without_support",
                     .now = "labels: {kueue.x-k8s.io/pod-group-name: g}, annotations: "
                            "{kueue.x-k8s.io/pod-group-total-count: '3'}",
                     .pod_groups = false},
        ValidateCase{
            .name = "group_without_count", .now = "labels: {kueue.x-k8s.io/pod-group-name: g}", .want = kCount + kBoth},
        ValidateCase{.name = "count_without_group",
                     .now = "annotations: {kueue.x-k8s.io/pod-group-total-count: '3'}",
                     .want = std::string("metadata.labels[kueue.x-k8s.io/pod-group-name]: ") + kBoth},
        ValidateCase{.name = "count_is_text",
                     .now = group("g", "three"),
                     .want = kCount + "Invalid value: \"three\": strconv.Atoi: parsing \"three\": invalid syntax"},
        ValidateCase{.name = "count_is_zero",
                     .now = group("g", "0"),
                     .want = kCount + "Invalid value: 0: should be greater than 0"},
        ValidateCase{.name = "prebuilt_is_another",
                     .now = group("g", "3", ", kueue.x-k8s.io/prebuilt-workload-name: h"),
                     .want = "metadata.annotations[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: \"h\": "
                             "prebuilt workload and pod group should be equal"},
        ValidateCase{.name = "group_changed",
                     .old = group("g", "3"),
                     .now = group("h", "3"),
                     .want = "metadata.labels[kueue.x-k8s.io/pod-group-name]: Invalid value: \"h\": field is "
                             "immutable"},
        ValidateCase{
            .name = "group_added_later", .old = "labels: {kueue.x-k8s.io/queue-name: q}", .now = group("g", "3")},
        ValidateCase{.name = "retriable_again",
                     .old = group("g", "3", ", kueue.x-k8s.io/retriable-in-group: 'false'"),
                     .now = group("g", "3"),
                     .want = "metadata.annotations[kueue.x-k8s.io/retriable-in-group]: Forbidden: unretriable pod "
                             "group can't be converted to retriable"},
        ValidateCase{.name = "no_longer_retriable",
                     .old = group("g", "3"),
                     .now = group("g", "3", ", kueue.x-k8s.io/retriable-in-group: 'false'")},
        ValidateCase{.name = "queue_changed_while_running",
                     .old = "labels: {kueue.x-k8s.io/queue-name: q}",
                     .now = "labels: {kueue.x-k8s.io/queue-name: r}",
                     .want = "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"r\": field is immutable"}),
    [](const auto& row) { return row.param.name; });

TEST(ValidatePod, QueueMayChangeWhileGated) {
  const std::string gated =
      "{metadata: {labels: {kueue.x-k8s.io/queue-name: Q}}, spec: {schedulingGates: [{name: "
      "kueue.x-k8s.io/admission}]}}";
  std::string old = gated;
  old.replace(old.find('Q'), 1, "q");
  std::string now = gated;
  now.replace(now.find('Q'), 1, "r");
  const Json before = from_yaml(old);
  EXPECT_EQ(validate_pod(from_yaml(now), &before, PublishedView{}, {})->errors.size(), 0U);
}

}  // namespace
}  // namespace muster::webhook
