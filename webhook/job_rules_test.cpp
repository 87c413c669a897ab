// What a Job's labels and annotations may say, and what may change: every message.
#include "api/codec/yaml.h"
#include "webhook/job_webhook.h"

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

PublishedView a_view() {
  PublishedView view;
  view.default_queues = {"team"};
  return view;
}

struct CreateCase {
  std::string name{};
  std::string labels{};
  std::string annotations{};
  std::string spec = "parallelism: 4, completions: 4";
  std::string want{};
};

class CreateJob : public ::testing::TestWithParam<CreateCase> {};

TEST_P(CreateJob, GivesTheseErrors) {
  const CreateCase& c = GetParam();
  const Json job = from_yaml("{metadata: {namespace: team, labels: {" + c.labels + "}, annotations: {" + c.annotations +
                             "}}, spec: {" + c.spec + "}}");
  const auto got = validate_job(job, nullptr, a_view(), {});
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(to_string(*got), c.want);
}

constexpr char kSubdomain[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const std::string kGates = "metadata.annotations[kueue.x-k8s.io/admission-gated-by]: ";
const std::string kMin = "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: ";
const std::string kFollow = "metadata.annotations[kueue.x-k8s.io/job-completions-equal-parallelism]: ";
const std::string kMaxExec = "metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: ";

INSTANTIATE_TEST_SUITE_P(
    Table, CreateJob,
    ::testing::Values(
        CreateCase{.name = "fine",
                   .labels = "kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/max-exec-time-seconds: '60'"},
        CreateCase{
            .name = "queue_name",
            .labels = "kueue.x-k8s.io/queue-name: A_b",
            .want = std::string("metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"A_b\": ") + kSubdomain},
        CreateCase{.name = "prebuilt_label",
                   .labels = "kueue.x-k8s.io/prebuilt-workload-name: -x",
                   .want = std::string("metadata.labels[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: "
                                       "\"-x\": ") +
                           kSubdomain},
        CreateCase{.name = "prebuilt_annotation_wins",
                   .labels = "kueue.x-k8s.io/prebuilt-workload-name: -x",
                   .annotations = "kueue.x-k8s.io/prebuilt-workload-name: good"},
        CreateCase{.name = "max_exec_time_text",
                   .labels = "kueue.x-k8s.io/max-exec-time-seconds: 5m",
                   .want = kMaxExec + "Invalid value: \"5m\": strconv.Atoi: parsing \"5m\": invalid syntax"},
        CreateCase{.name = "max_exec_time_huge",
                   .labels = "kueue.x-k8s.io/max-exec-time-seconds: '99999999999999999999'",
                   .want = kMaxExec + "Invalid value: \"99999999999999999999\": strconv.Atoi: parsing "
                                      "\"99999999999999999999\": value out of range"},
        CreateCase{.name = "max_exec_time_negative",
                   .labels = "kueue.x-k8s.io/max-exec-time-seconds: '-1'",
                   .want = kMaxExec + "Invalid value: -1: should be greater than 0"},
        CreateCase{.name = "gates_empty_entry",
                   .annotations = "kueue.x-k8s.io/admission-gated-by: 'a.io/x,,b.io/y'",
                   .want = kGates + "Invalid value: \"a.io/x,,b.io/y\": cannot contain empty gate names"},
        CreateCase{.name = "gates_twice",
                   .annotations = "kueue.x-k8s.io/admission-gated-by: 'a.io/x,a.io/x'",
                   .want = kGates + "Invalid value: \"a.io/x,a.io/x\": duplicate gate name: a.io/x"},
        CreateCase{.name = "gates_without_domain",
                   .annotations = "kueue.x-k8s.io/admission-gated-by: x",
                   .want = kGates + "Invalid value: \"x\": must be a domain-prefixed path (such as \"acme.io/foo\")"},
        CreateCase{.name = "min_parallelism", .annotations = "kueue.x-k8s.io/job-min-parallelism: '3'"},
        CreateCase{.name = "min_parallelism_is_all",
                   .annotations = "kueue.x-k8s.io/job-min-parallelism: '4'",
                   .want = kMin + "Invalid value: 4: should be between 0 and 3"},
        CreateCase{.name = "min_parallelism_zero",
                   .annotations = "kueue.x-k8s.io/job-min-parallelism: '0'",
                   .want = kMin + "Invalid value: 0: should be between 0 and 3"},
        CreateCase{.name = "min_parallelism_text",
                   .annotations = "kueue.x-k8s.io/job-min-parallelism: all",
                   .want = kMin + "Invalid value: \"all\": strconv.Atoi: parsing \"all\": invalid syntax"},
        CreateCase{.name = "completions_follow",
                   .annotations = "kueue.x-k8s.io/job-completions-equal-parallelism: 'true'",
                   .spec = "parallelism: 4, completions: 4, completionMode: Indexed"},
        CreateCase{.name = "completions_follow_needs_indexed",
                   .annotations = "kueue.x-k8s.io/job-completions-equal-parallelism: 'true'",
                   .want = "spec.completionMode: Invalid value: \"NonIndexed\": should not be enabled for NonIndexed "
                           "jobs"},
        CreateCase{.name = "completions_follow_needs_equal",
                   .annotations = "kueue.x-k8s.io/job-completions-equal-parallelism: '1'",
                   .spec = "parallelism: 4, completions: 5, completionMode: Indexed",
                   .want = "spec.completions: Invalid value: 5: should be equal to parallelism when "
                           "kueue.x-k8s.io/job-completions-equal-parallelism annotation is true"},
        CreateCase{.name = "completions_follow_text",
                   .annotations = "kueue.x-k8s.io/job-completions-equal-parallelism: 'yes'",
                   .want = kFollow + "Invalid value: \"yes\": strconv.ParseBool: parsing \"yes\": invalid syntax"}),
    [](const auto& row) { return row.param.name; });

struct State {
  bool suspend = false;
  std::string labels{};
  std::string annotations{};
  int parallelism = 4;
};

struct UpdateCase {
  std::string name{};
  State old{};
  State now{};
  bool default_queue = false;
  std::string want{};
};

Json job_of(const State& state) {
  return from_yaml("{metadata: {namespace: team, labels: {" + state.labels + "}, annotations: {" + state.annotations +
                   "}}, spec: {suspend: " + (state.suspend ? "true" : "false") +
                   ", parallelism: " + std::to_string(state.parallelism) + "}}");
}

class UpdateJob : public ::testing::TestWithParam<UpdateCase> {};

TEST_P(UpdateJob, GivesTheseErrors) {
  const UpdateCase& c = GetParam();
  JobOptions options;
  options.default_local_queue = c.default_queue;
  const Json old = job_of(c.old);
  const auto got = validate_job(job_of(c.now), &old, a_view(), options);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(to_string(*got), c.want);
}

constexpr char kQueueQ[] = "kueue.x-k8s.io/queue-name: q";
constexpr char kQueueR[] = "kueue.x-k8s.io/queue-name: r";
constexpr char kClassP[] = "kueue.x-k8s.io/priority-class: p";
constexpr char kClassR[] = "kueue.x-k8s.io/priority-class: r";
constexpr char kMinTwo[] = "kueue.x-k8s.io/job-min-parallelism: '2'";

INSTANTIATE_TEST_SUITE_P(
    Labels, UpdateJob,
    ::testing::Values(
        UpdateCase{.name = "queue_while_running",
                   .old = {.labels = kQueueQ},
                   .now = {.labels = kQueueR},
                   .want = "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"r\": field is immutable"},
        UpdateCase{.name = "queue_while_suspended",
                   .old = {.suspend = true, .labels = kQueueQ},
                   .now = {.suspend = true, .labels = kQueueR}},
        UpdateCase{.name = "queue_while_it_is_being_suspended",
                   .old = {.labels = kQueueQ},
                   .now = {.suspend = true, .labels = kQueueR}},
        UpdateCase{.name = "queue_removed_while_running",
                   .old = {.labels = kQueueQ},
                   .want = "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"\": field is immutable"},
        UpdateCase{.name = "queue_removed", .old = {.suspend = true, .labels = kQueueQ}, .now = {.suspend = true}},
        UpdateCase{.name = "queue_removed_where_there_is_a_default",
                   .old = {.suspend = true, .labels = kQueueQ},
                   .now = {.suspend = true},
                   .default_queue = true,
                   .want = "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"\": queue-name must not be "
                           "empty in namespace with default queue"},
        UpdateCase{.name = "prebuilt_while_running",
                   .old = {.annotations = "kueue.x-k8s.io/prebuilt-workload-name: a"},
                   .now = {.annotations = "kueue.x-k8s.io/prebuilt-workload-name: b"},
                   .want = "metadata.annotations[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: \"b\": field "
                           "is immutable"},
        UpdateCase{.name = "prebuilt_moves_from_label_to_annotation",
                   .old = {.labels = "kueue.x-k8s.io/prebuilt-workload-name: a"},
                   .now = {.annotations = "kueue.x-k8s.io/prebuilt-workload-name: a"}},
        UpdateCase{.name = "max_exec_time_while_being_started",
                   .old = {.suspend = true, .labels = "kueue.x-k8s.io/max-exec-time-seconds: '5'"},
                   .now = {.labels = "kueue.x-k8s.io/max-exec-time-seconds: '6'"},
                   .want = kMaxExec + "Invalid value: \"6\": field is immutable"},
        UpdateCase{.name = "max_exec_time_while_suspended",
                   .old = {.suspend = true, .labels = "kueue.x-k8s.io/max-exec-time-seconds: '5'"},
                   .now = {.suspend = true, .labels = "kueue.x-k8s.io/max-exec-time-seconds: '6'"}},
        UpdateCase{.name = "class_added_while_running",
                   .now = {.labels = kClassP},
                   .want = "metadata.labels[kueue.x-k8s.io/priority-class]: Invalid value: \"p\": "
                           "WorkloadPriorityClass cannot be added to a non-suspended workload"},
        UpdateCase{.name = "class_added_while_suspended",
                   .old = {.suspend = true},
                   .now = {.suspend = true, .labels = kClassP}},
        UpdateCase{.name = "class_removed",
                   .old = {.suspend = true, .labels = kClassP},
                   .now = {.suspend = true},
                   .want = "metadata.labels[kueue.x-k8s.io/priority-class]: Invalid value: \"\": "
                           "WorkloadPriorityClass cannot be removed from a workload"},
        UpdateCase{.name = "class_changed_while_running", .old = {.labels = kClassP}, .now = {.labels = kClassR}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Annotations, UpdateJob,
    ::testing::Values(
        UpdateCase{.name = "elastic",
                   .old = {.suspend = true},
                   .now = {.suspend = true, .annotations = "kueue.x-k8s.io/elastic-job: 'true'"},
                   .want = "metadata.annotations[kueue.x-k8s.io/elastic-job]: Invalid value: \"true\": field is "
                           "immutable"},
        UpdateCase{.name = "gate_added",
                   .now = {.annotations = "kueue.x-k8s.io/admission-gated-by: a.io/x"},
                   .want = kGates + "Forbidden: cannot add admission gate after creation"},
        UpdateCase{.name = "gate_replaced",
                   .old = {.annotations = "kueue.x-k8s.io/admission-gated-by: a.io/x"},
                   .now = {.annotations = "kueue.x-k8s.io/admission-gated-by: a.io/y"},
                   .want = kGates + "Forbidden: can only remove gates, not add new ones"},
        UpdateCase{.name = "gate_removed", .old = {.annotations = "kueue.x-k8s.io/admission-gated-by: a.io/x"}},
        UpdateCase{.name = "gates_reordered",
                   .old = {.annotations = "kueue.x-k8s.io/admission-gated-by: 'a.io/x,a.io/y'"},
                   .now = {.annotations = "kueue.x-k8s.io/admission-gated-by: 'a.io/y,a.io/x'"}},
        UpdateCase{.name = "parallelism_while_running_partially",
                   .old = {.annotations = kMinTwo},
                   .now = {.annotations = kMinTwo, .parallelism = 3},
                   .want = "spec.parallelism: Forbidden: cannot change when partial admission is enabled and the job "
                           "is not suspended"},
        UpdateCase{.name = "parallelism_while_being_started",
                   .old = {.suspend = true, .annotations = kMinTwo},
                   .now = {.annotations = kMinTwo, .parallelism = 3}},
        UpdateCase{.name = "parallelism_without_partial_admission", .now = {.parallelism = 3}},
        UpdateCase{.name = "completions_annotation_while_running",
                   .old = {.annotations = "kueue.x-k8s.io/job-completions-equal-parallelism: 'true'"},
                   .now = {.annotations = "kueue.x-k8s.io/job-completions-equal-parallelism: 'false'"},
                   .want = kFollow + "Forbidden: cannot change while the job is not suspended"}),
    [](const auto& row) { return row.param.name; });

TEST(Unconcerned, JobsAreNotChecked) {
  const Json deleting = from_yaml(
      "{metadata: {deletionTimestamp: '2026-01-01T00:00:00Z', labels: {kueue.x-k8s.io/queue-name: '!'}}, spec: {}}");
  JobOptions options;
  EXPECT_EQ(validate_job(deleting, nullptr, a_view(), options)->size(), 0U);
  const Json outside = from_yaml("{metadata: {namespace: kube-system, labels: {kueue.x-k8s.io/queue-name: '!'}}}");
  EXPECT_EQ(validate_job(outside, nullptr, a_view(), options)->size(), 1U);
  options.managed_namespaces = api::LabelSelector{
      .match_expressions = {{.key = "kubernetes.io/metadata.name", .op = "NotIn", .values = {"kube-system"}}}};
  EXPECT_EQ(validate_job(outside, nullptr, a_view(), options)->size(), 0U);
}

}  // namespace
}  // namespace muster::webhook
