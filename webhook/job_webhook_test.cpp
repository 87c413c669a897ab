#include "webhook/job_webhook.h"

#include "api/codec/yaml.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::webhook {
namespace {

using api::Json;

Json from_yaml(const std::string& text) {
  const auto documents = api::yaml_to_json(text);
  EXPECT_TRUE(documents.ok()) << text;
  return documents.ok() && !documents->empty() ? documents->front() : Json::object();
}

PublishedView a_view() {
  PublishedView view;
  view.namespaces = {{"team", {{"kubernetes.io/metadata.name", "team"}, {"batch", "yes"}}},
                     {"other", {{"kubernetes.io/metadata.name", "other"}}}};
  view.default_queues = {"team"};
  return view;
}

api::LabelSelector batch_namespaces() {
  return {.match_labels = {{"batch", "yes"}}};
}

struct MutateCase {
  std::string name{};
  std::string job{};
  bool manage_all = false;
  bool select_batch = false;  // only namespaces with the label batch=yes
  bool default_queue = false;
  bool default_priority_class = false;
  std::string want{};  // the job as it should become; empty: unchanged
};

class MutateJob : public ::testing::TestWithParam<MutateCase> {};

TEST_P(MutateJob, GivesTheJobToCreate) {
  const MutateCase& c = GetParam();
  PublishedView view = a_view();
  view.default_priority_class = c.default_priority_class;
  const Json job = from_yaml(c.job);
  JobOptions options;
  options.manage_jobs_without_queue_name = c.manage_all;
  options.default_local_queue = c.default_queue;
  if (c.select_batch) {
    options.managed_namespaces = batch_namespaces();
  }
  const auto got = mutate_job(job, view, options);
  ASSERT_TRUE(got.ok()) << to_string(got.error());
  EXPECT_EQ(*got, c.want.empty() ? job : from_yaml(c.want)) << got->dump(1);
}

constexpr char kQueued[] = "{metadata: {namespace: team, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {}}";
constexpr char kPlain[] = "{metadata: {namespace: team}, spec: {parallelism: 2}}";

INSTANTIATE_TEST_SUITE_P(
    Table, MutateJob,
    ::testing::Values(
        MutateCase{
            .name = "queued_is_suspended",
            .job = kQueued,
            .want = "{metadata: {namespace: team, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: true}}"},
        MutateCase{
            .name = "user_said_not_suspended",
            .job = "{metadata: {namespace: team, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: false}}",
            .want = "{metadata: {namespace: team, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: true}}"},
        MutateCase{.name = "no_queue_name", .job = kPlain},
        MutateCase{.name = "empty_queue_name",
                   .job = "{metadata: {namespace: team, labels: {kueue.x-k8s.io/queue-name: ''}}, spec: {}}"},
        MutateCase{.name = "managed_without_queue_name",
                   .job = kPlain,
                   .manage_all = true,
                   .want = "{metadata: {namespace: team}, spec: {parallelism: 2, suspend: true}}"},
        MutateCase{.name = "deleting",
                   .job = "{metadata: {namespace: team, deletionTimestamp: '2026-01-01T00:00:00Z', labels: "
                          "{kueue.x-k8s.io/queue-name: q}}, spec: {}}"},
        MutateCase{.name = "child_of_a_job",
                   .job = "{metadata: {namespace: team, labels: {kueue.x-k8s.io/queue-name: q}, ownerReferences: "
                          "[{apiVersion: batch/v1, kind: Job, name: p, uid: u, controller: true}]}, spec: {}}"},
        MutateCase{.name = "owned_by_something_else",
                   .job = "{metadata: {namespace: team, labels: {kueue.x-k8s.io/queue-name: q}, ownerReferences: "
                          "[{apiVersion: batch/v1, kind: CronJob, name: p, uid: u, controller: true}]}, spec: {}}",
                   .want = "{metadata: {namespace: team, labels: {kueue.x-k8s.io/queue-name: q}, ownerReferences: "
                           "[{apiVersion: batch/v1, kind: CronJob, name: p, uid: u, controller: true}]}, spec: "
                           "{suspend: true}}"},
        MutateCase{.name = "namespace_not_selected",
                   .job = "{metadata: {namespace: other, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {}}",
                   .select_batch = true},
        MutateCase{
            .name = "namespace_selected",
            .job = kQueued,
            .select_batch = true,
            .want = "{metadata: {namespace: team, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: true}}"},
        MutateCase{.name = "default_queue_is_off", .job = kPlain},
        MutateCase{.name = "default_queue",
                   .job = kPlain,
                   .default_queue = true,
                   .want = "{metadata: {namespace: team, labels: {kueue.x-k8s.io/queue-name: default}}, spec: "
                           "{parallelism: 2, suspend: true}}"},
        MutateCase{.name = "namespace_without_default_queue",
                   .job = "{metadata: {namespace: other}, spec: {}}",
                   .default_queue = true},
        MutateCase{.name = "default_queue_not_for_children_of_job_kinds",
                   .job = "{metadata: {namespace: team, ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: "
                          "JobSet, name: p, uid: u, controller: true}]}, spec: {}}",
                   .default_queue = true},
        MutateCase{.name = "default_priority_class",
                   .job = kQueued,
                   .default_priority_class = true,
                   .want = "{metadata: {namespace: team, labels: {kueue.x-k8s.io/queue-name: q, "
                           "kueue.x-k8s.io/priority-class: default}}, spec: {suspend: true}}"},
        MutateCase{.name = "default_priority_class_not_for_unmanaged", .job = kPlain, .default_priority_class = true}),
    [](const auto& row) { return row.param.name; });

TEST(MutateJobNamespaces, UnknownOneMattersOnlyIfItsLabelsDecide) {
  const Json job = from_yaml("{metadata: {namespace: new, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {}}");
  const api::LabelSelector by_name = {
      .match_expressions = {{.key = "kubernetes.io/metadata.name", .op = "NotIn", .values = {"kube-system"}}}};
  const auto decided = mutate_job(job, a_view(), {.managed_namespaces = by_name});
  ASSERT_TRUE(decided.ok());
  EXPECT_TRUE((*decided)["spec"]["suspend"].get<bool>());
  const auto open = mutate_job(job, a_view(), {.managed_namespaces = batch_namespaces()});
  ASSERT_FALSE(open.ok());
  EXPECT_EQ(open.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(open.error().message, "namespace \"new\" is not known yet");
}

struct ShapeCase {
  std::string name{};
  std::string job{};
  std::string want{};
};

class MalformedJob : public ::testing::TestWithParam<ShapeCase> {};

TEST_P(MalformedJob, IsRefusedWithItsPath) {
  const auto got = mutate_job(Json::parse(GetParam().job), a_view(), {});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(to_string(got.error()), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, MalformedJob,
    ::testing::Values(
        ShapeCase{.name = "list", .job = "[]", .want = "must be an object"},
        ShapeCase{.name = "no_metadata", .job = "{}", .want = "metadata: must be set"},
        ShapeCase{.name = "spec", .job = R"({"metadata":{},"spec":3})", .want = "spec: must be an object"},
        ShapeCase{
            .name = "labels", .job = R"({"metadata":{"labels":[]}})", .want = "metadata.labels: must be an object"},
        ShapeCase{.name = "label",
                  .job = R"({"metadata":{"labels":{"a":1}}})",
                  .want = "metadata.labels[a]: must be a string"},
        ShapeCase{.name = "owners",
                  .job = R"({"metadata":{"ownerReferences":{}}})",
                  .want = "metadata.ownerReferences: must be a list"},
        ShapeCase{.name = "owner",
                  .job = R"({"metadata":{"ownerReferences":[1]}})",
                  .want = "metadata.ownerReferences: has an element of the wrong type"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace muster::webhook
