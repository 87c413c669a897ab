#include "api/codec/decode.h"
#include "api/codec/encode.h"
#include "api/testing/builders.h"
#include "controllers/testing/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::controllers {
namespace {

using namespace api::testing;  // NOLINT(google-build-using-namespace): builders read like manifests
using framework::Kind;
using ::testing::ElementsAre;
using testing::Exchange;
using testing::Json;
using testing::lost;
using testing::ok;
using testing::Played;
using testing::refused;
using testing::run;

const framework::ObjectRef kWorkload{.kind = Kind::kWorkload, .key = {"ns", "w"}, .uid = Uid("ns/w")};
const framework::ObjectRef kPod{.kind = Kind::kPod, .key = {"ns", "p"}, .uid = Uid("pu")};
const std::string kPath = "/apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/w";
const std::string kApply = "PATCH " + kPath + "/status?fieldManager=kueue-admission&force=true";

api::Workload pending(const std::string& version) {
  return a_workload("ns", "w").request("cpu", "1").resource_version(version);
}

api::Workload admitted(const std::string& version) {
  return a_workload("ns", "w").request("cpu", "1").resource_version(version).admitted("cq", "f");
}

framework::PatchWorkloadStatus status_effect() {
  return {.workload = kWorkload, .resource_version = "1", .status = admitted("1").status};
}

TEST(StatusProgram, OneApply) {
  const Played got = run(status_effect(), {{kApply, ok(api::encode(admitted("2")))}});
  ASSERT_TRUE(got.done());
  EXPECT_EQ(got.requests[0].content_type, "application/apply-patch+yaml");
  EXPECT_EQ(got.bodies[0]["metadata"],
            Json::parse(R"({"name":"w","namespace":"ns","uid":"ns/w","resourceVersion":"1"})"));
  EXPECT_EQ(got.bodies[0]["apiVersion"], "kueue.x-k8s.io/v1beta2");
  EXPECT_EQ(got.bodies[0]["status"], api::encode(admitted("1").status));
  EXPECT_EQ(std::get<framework::ProgramDone>(got.end).workload->meta.resource_version, "2");
}

struct StatusCase {
  std::string name{};
  std::vector<Exchange> script{};
  bool done = false;
  std::string version{};  // of the Workload handed back; empty: none
};

class StatusAnswers : public ::testing::TestWithParam<StatusCase> {};

TEST_P(StatusAnswers, AreFollowedUp) {
  const Played got = run(status_effect(), GetParam().script);
  ASSERT_EQ(got.done(), GetParam().done);
  const auto workload = got.done() ? std::get<framework::ProgramDone>(got.end).workload
                                   : std::get<framework::ProgramFailed>(got.end).workload;
  EXPECT_EQ(workload == nullptr ? "" : workload->meta.resource_version, GetParam().version);
}

const Exchange kReadPending1{"GET " + kPath, ok(api::encode(pending("1")))};
const Exchange kReadPending9{"GET " + kPath, ok(api::encode(pending("9")))};
const Exchange kReadAdmitted{"GET " + kPath, ok(api::encode(admitted("2")))};

INSTANTIATE_TEST_SUITE_P(
    Table, StatusAnswers,
    ::testing::Values(
        StatusCase{.name = "conflict", .script = {{kApply, refused(409)}, kReadPending9}, .version = "9"},
        StatusCase{.name = "conflict_with_our_own_lost_write",
                   .script = {{kApply, refused(409)}, kReadAdmitted},
                   .done = true,
                   .version = "2"},
        StatusCase{
            .name = "lost_and_written", .script = {{kApply, lost()}, kReadAdmitted}, .done = true, .version = "2"},
        StatusCase{.name = "lost_and_not_written",
                   .script = {{kApply, lost()}, kReadPending1, {kApply, ok(api::encode(admitted("2")))}},
                   .done = true,
                   .version = "2"},
        StatusCase{.name = "lost_three_times",
                   .script = {{kApply, lost()},
                              kReadPending1,
                              {kApply, refused(500)},
                              kReadPending1,
                              {kApply, lost()},
                              kReadPending1},
                   .version = "1"},
        StatusCase{.name = "refused_for_good", .script = {{kApply, refused(422)}, kReadPending1}, .version = "1"},
        StatusCase{.name = "gone", .script = {{kApply, refused(404)}, {"GET " + kPath, refused(404)}}},
        StatusCase{
            .name = "unreadable_until_it_can_be_read",
            .script = {{kApply, lost()}, {"GET " + kPath, lost()}, {"GET " + kPath, refused(503)}, kReadAdmitted},
            .done = true,
            .version = "2"}),
    [](const auto& row) { return row.param.name; });

const std::string kBinding = "POST /api/v1/namespaces/ns/pods/p/binding";
const std::string kReadPod = "GET /api/v1/namespaces/ns/pods/p";

Json pod_on(const std::string& node, const std::string& uid = "pu") {
  Json pod = {{"metadata", {{"name", "p"}, {"namespace", "ns"}, {"uid", uid}}}, {"spec", Json::object()}};
  if (!node.empty()) {
    pod["spec"]["nodeName"] = node;
  }
  return pod;
}

struct BindCase {
  std::string name{};
  std::vector<Exchange> script{};
  std::optional<ErrorCode> error{};
};

class BindAnswers : public ::testing::TestWithParam<BindCase> {};

TEST_P(BindAnswers, AreFollowedUp) {
  const Played got = run(framework::BindPod{.pod = kPod, .node = NodeName("n1")}, GetParam().script);
  ASSERT_EQ(got.done(), !GetParam().error.has_value());
  if (GetParam().error) {
    EXPECT_EQ(got.error(), *GetParam().error);
  }
  EXPECT_EQ(got.bodies[0], Json::parse(R"({"apiVersion":"v1","kind":"Binding","target":{"kind":"Node","name":"n1"},
    "metadata":{"namespace":"ns","name":"p","uid":"pu"}})"));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BindAnswers,
    ::testing::Values(
        BindCase{.name = "bound", .script = {{kBinding, ok(Json::object(), 201)}}},
        BindCase{.name = "our_lost_answer", .script = {{kBinding, refused(409)}, {kReadPod, ok(pod_on("n1"))}}},
        BindCase{.name = "bound_elsewhere",
                 .script = {{kBinding, refused(409)}, {kReadPod, ok(pod_on("n2"))}},
                 .error = ErrorCode::kConflict},
        BindCase{.name = "gated_or_terminating",
                 .script = {{kBinding, refused(409)}, {kReadPod, ok(pod_on(""))}},
                 .error = ErrorCode::kConflict},
        BindCase{.name = "recreated",
                 .script = {{kBinding, refused(409)}, {kReadPod, ok(pod_on("n1", "other"))}},
                 .error = ErrorCode::kNotFound},
        BindCase{.name = "gone", .script = {{kBinding, refused(404)}}, .error = ErrorCode::kNotFound},
        BindCase{.name = "forbidden", .script = {{kBinding, refused(403)}}, .error = ErrorCode::kForbidden},
        BindCase{.name = "server_error_then_bound",
                 .script = {{kBinding, refused(500)}, {kReadPod, ok(pod_on(""))}, {kBinding, ok(Json::object(), 201)}}},
        BindCase{.name = "lost_and_bound", .script = {{kBinding, lost()}, {kReadPod, ok(pod_on("n1"))}}}),
    [](const auto& row) { return row.param.name; });

TEST(BindProgram, TellsThatThePodIsScheduled) {
  const Played got =
      run(framework::BindPod{.pod = kPod, .node = NodeName("n1")}, {{kBinding, ok(Json::object(), 201)}});
  const auto& events = std::get<framework::ProgramDone>(got.end).events;
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].note, "Successfully assigned ns/p to n1");
}

TEST(QueueStatusPrograms, WholeStatusWithUid) {
  const framework::ObjectRef queue{.kind = Kind::kClusterQueue, .key = {"", "cq"}, .uid = Uid("qu")};
  const std::string path = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/cq/status";
  const framework::PatchClusterQueueStatus effect{.queue = queue, .status = {.pending_workloads = 2}};
  const Played got = run(effect, {{"PATCH " + path, ok(Json::object())}});
  ASSERT_TRUE(got.done());
  EXPECT_EQ(got.bodies[0]["metadata"], Json({{"uid", "qu"}}));
  EXPECT_EQ(got.bodies[0]["status"]["pendingWorkloads"], 2);
  EXPECT_TRUE(got.bodies[0]["status"].contains("flavorsUsage"));
  EXPECT_TRUE(run(effect, {{"PATCH " + path, refused(404)}}).done());
  EXPECT_EQ(run(effect, {{"PATCH " + path, refused(409)}}).error(), ErrorCode::kConflict);
}

TEST(DeleteProgram, OnlyThatObject) {
  const framework::DeleteObject effect{.object = kPod, .event = framework::EmitEvent{.reason = "Stopped"}};
  const std::string request = "DELETE /api/v1/namespaces/ns/pods/p";
  const Played got = run(effect, {{request, ok(Json::object())}});
  EXPECT_EQ(got.bodies[0]["preconditions"], Json({{"uid", "pu"}}));
  EXPECT_EQ(got.bodies[0]["propagationPolicy"], "Background");
  EXPECT_THAT(got.events(), ElementsAre("Stopped"));
  EXPECT_THAT(run(effect, {{request, refused(404)}}).events(), ::testing::IsEmpty());
  EXPECT_TRUE(run(effect, {{request, refused(409)}}).done());
  EXPECT_EQ(run(effect, {{request, refused(403)}}).error(), ErrorCode::kForbidden);
}

TEST(PodConditionProgram, StrategicMergeOfOneCondition) {
  const framework::PatchPodCondition effect{
      .pod = kPod, .condition = a_condition("TerminationTarget", api::ConditionStatus::kTrue, "NotAdmitted")};
  const Played got = run(effect, {{"PATCH /api/v1/namespaces/ns/pods/p/status", ok(Json::object())}});
  EXPECT_EQ(got.requests[0].content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(got.bodies[0]["metadata"]["uid"], "pu");
  EXPECT_EQ(got.bodies[0]["status"]["conditions"][0]["type"], "TerminationTarget");
}

TEST(EventProgram, NameFollowsFromContentAndTime) {
  framework::EmitEvent event{.regarding = kWorkload, .reason = "QuotaReserved", .action = "QuotaReserved", .note = "n"};
  const std::string request = "POST /apis/events.k8s.io/v1/namespaces/ns/events";
  const Json first = run(event, {{request, ok(Json::object(), 201)}}).bodies[0];
  const Json again = run(event, {{request, refused(409)}}).bodies[0];
  event.note = std::string(2000, 'x');
  const Json other = run(event, {{request, ok(Json::object(), 201)}}).bodies[0];
  EXPECT_EQ(first, again);
  EXPECT_NE(first["metadata"]["name"], other["metadata"]["name"]);
  EXPECT_EQ(other["note"].get<std::string>().size(), 1024u);
  EXPECT_EQ(first["reportingController"], "kueue-admission");
  EXPECT_EQ(first["reportingInstance"], "muster-test");
  EXPECT_EQ(first["eventTime"], "2023-11-14T22:13:20.000000Z");
  EXPECT_EQ(first["regarding"]["uid"], "ns/w");
  EXPECT_EQ(first["type"], "Normal");
}

}  // namespace
}  // namespace muster::controllers
