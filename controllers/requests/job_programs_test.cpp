#include "api/constants.h"
#include "controllers/requests/json_edit.h"
#include "controllers/testing/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::controllers {
namespace {

using framework::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Json;
using testing::lost;
using testing::ok;
using testing::Played;
using testing::refused;
using testing::run;

const framework::ObjectRef kJob{.kind = Kind::kJob, .key = {"ns", "j"}, .uid = Uid("ju")};
const framework::ObjectRef kWorkload{.kind = Kind::kWorkload, .key = {"ns", "w"}, .uid = Uid("wu")};
const framework::ObjectRef kPod{.kind = Kind::kPod, .key = {"ns", "p"}, .uid = Uid("pu")};
const std::string kJobPath = "/apis/batch/v1/namespaces/ns/jobs/j";
const std::string kWorkloadPath = "/apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/w";

Json job(bool suspend, const std::string& version = "1") {
  return Json::parse(R"({"metadata":{"name":"j","namespace":"ns","uid":"ju"},
    "spec":{"parallelism":2,"template":{"metadata":{"labels":{"job-name":"j","app":"a"}},
      "spec":{"containers":[{"name":"c","image":"i","env":[{"name":"A","value":"1"},{"name":"B"},{"name":"A","value":"2"}]}],
              "tolerations":[{"key":"mine","operator":"Exists"}]}}},"status":{}})")
      .patch(Json::array({{{"op", "add"}, {"path", "/spec/suspend"}, {"value", suspend}},
                          {{"op", "add"}, {"path", "/metadata/resourceVersion"}, {"value", version}}}));
}

Json workload(const std::string& version = "5") {
  return Json::parse(R"({"metadata":{"name":"w","namespace":"ns","uid":"wu"},
    "spec":{"queueName":"lq","podSets":[{"name":"main","count":2,"template":{"metadata":{"labels":{"app":"a"}},
      "spec":{"containers":[],"tolerations":[{"key":"mine","operator":"Exists"}]}}}]}})")
      .patch(Json::array({{{"op", "add"}, {"path", "/metadata/resourceVersion"}, {"value", version}}}));
}

framework::EmitEvent event(const std::string& reason) {
  return {.regarding = kJob, .reason = reason};
}

framework::StartJob start_effect() {
  return {.job = kJob,
          .pod_sets = {{.name = "main",
                        .count = 2,
                        .labels = {{"kueue.x-k8s.io/podset", "main"}},
                        .node_selector = {{"pool", "batch"}},
                        .tolerations = {{.key = "spot", .op = "Exists"}, {.key = "mine", .op = "Exists"}}}},
          .event = event("Started")};
}

TEST(StartJobProgram, OnePatchWithPreconditions) {
  const Played got =
      run(start_effect(), {{"GET " + kJobPath, ok(job(true))}, {"PATCH " + kJobPath, ok(job(false, "2"))}});
  ASSERT_TRUE(got.done());
  EXPECT_EQ(got.bodies[1],
            Json::parse(R"({"metadata":{"uid":"ju","resourceVersion":"1"},
    "spec":{"suspend":false,"template":{"metadata":{"annotations":{},"labels":{"kueue.x-k8s.io/podset":"main"}},
      "spec":{"nodeSelector":{"pool":"batch"},"tolerations":[{"key":"mine","operator":"Exists"},
      {"key":"spot","operator":"Exists"}]}}}})")
                .patch(Json::array({{{"op", "remove"}, {"path", "/spec/template/metadata/annotations"}}})));
  EXPECT_EQ(got.requests[1].content_type, "application/merge-patch+json");
  EXPECT_THAT(got.events(), ElementsAre("Started"));
}

TEST(StartJobProgram, RunsAlready) {
  const Played got = run(start_effect(), {{"GET " + kJobPath, ok(job(false))}});
  EXPECT_TRUE(got.done());
  EXPECT_THAT(got.events(), IsEmpty());
}

TEST(StartJobProgram, ReadsAgainAfterConflictAndLostAnswer) {
  const Played got = run(start_effect(), {{"GET " + kJobPath, ok(job(true))},
                                          {"PATCH " + kJobPath, refused(409)},
                                          {"GET " + kJobPath, ok(job(true, "2"))},
                                          {"PATCH " + kJobPath, lost()},
                                          {"GET " + kJobPath, ok(job(false, "3"))}});
  EXPECT_TRUE(got.done());
  EXPECT_EQ(got.bodies[3]["metadata"]["resourceVersion"], "2");
}

TEST(StartJobProgram, GivesUpOnEndlessConflicts) {
  std::vector<testing::Exchange> script;
  for (int i = 0; i < 8; ++i) {
    script.push_back({"GET " + kJobPath, ok(job(true))});
    script.push_back({"PATCH " + kJobPath, refused(409)});
  }
  script.push_back({"GET " + kJobPath, ok(job(true))});
  EXPECT_EQ(run(start_effect(), script).error(), ErrorCode::kConflict);
}

// The last attempt may have been a repetition of one that was carried out.
TEST(StartJobProgram, LooksBeforeItGivesUp) {
  std::vector<testing::Exchange> script;
  for (int i = 0; i < 8; ++i) {
    script.push_back({"GET " + kJobPath, ok(job(true))});
    script.push_back({"PATCH " + kJobPath, refused(409)});
  }
  script.push_back({"GET " + kJobPath, ok(job(false))});
  EXPECT_TRUE(run(start_effect(), script).done());
}

TEST(StartJobProgram, Failures) {
  Json other = job(true);
  other["metadata"]["uid"] = "other";
  Json clash = job(true);
  clash["spec"]["template"]["spec"]["nodeSelector"] = {{"pool", "mine"}};
  EXPECT_EQ(run(start_effect(), {{"GET " + kJobPath, refused(404)}}).error(), ErrorCode::kNotFound);
  EXPECT_EQ(run(start_effect(), {{"GET " + kJobPath, ok(other)}}).error(), ErrorCode::kNotFound);
  EXPECT_EQ(run(start_effect(), {{"GET " + kJobPath, ok(clash)}}).error(), ErrorCode::kInvalid);
  EXPECT_EQ(run(start_effect(), {{"GET " + kJobPath, ok(job(true))},
                                 {"PATCH " + kJobPath, refused(422)},
                                 {"GET " + kJobPath, ok(job(true))}})
                .error(),
            ErrorCode::kInvalid);
}

Json running_job() {
  Json running = job(false);
  running["status"] = {{"startTime", "2026-01-01T00:00:00Z"}, {"active", 2}};
  Json& pod_template = running["spec"]["template"];
  pod_template["metadata"]["labels"]["kueue.x-k8s.io/podset"] = "main";
  pod_template["metadata"]["annotations"] = {{"kueue.x-k8s.io/workload", "w"}};
  pod_template["spec"]["nodeSelector"] = {{"pool", "batch"}};
  pod_template["spec"]["tolerations"].push_back({{"key", "spot"}, {"operator", "Exists"}});
  return running;
}

Json stopped_job() {
  Json stopped = running_job();
  stopped["spec"]["suspend"] = true;
  stopped["metadata"]["annotations"] = {{"kueue.x-k8s.io/stopping", "true"}};
  stopped["status"]["active"] = 0;
  stopped["status"]["conditions"] = Json::array({{{"type", "Suspended"}, {"status", "True"}}});
  return stopped;
}

framework::StopJob stop_effect() {
  return {.job = kJob, .workload = kWorkload, .reason = "WorkloadEvicted", .message = "m", .event = event("Stopped")};
}

TEST(StopJobProgram, SuspendsAndLeavesTheRestForLater) {
  Json suspended = running_job();
  suspended["spec"]["suspend"] = true;
  suspended["metadata"]["annotations"] = {{"kueue.x-k8s.io/stopping", "true"}};
  const Played got = run(stop_effect(), {{"GET " + kWorkloadPath, ok(workload())},
                                         {"GET " + kJobPath, ok(running_job())},
                                         {"PATCH " + kJobPath, ok(suspended)}});
  ASSERT_TRUE(got.done());
  EXPECT_EQ(got.bodies[2], Json::parse(R"({"metadata":{"uid":"ju","resourceVersion":"1",
    "annotations":{"kueue.x-k8s.io/stopping":"true"}},"spec":{"suspend":true}})"));
  EXPECT_THAT(got.events(), ElementsAre("Stopped"));
}

TEST(StopJobProgram, ClearsTheStartTimeThenRestoresTheTemplate) {
  Json cleared = stopped_job();
  cleared["status"].erase("startTime");
  const Played got = run(stop_effect(), {{"GET " + kWorkloadPath, ok(workload())},
                                         {"GET " + kJobPath, ok(stopped_job())},
                                         {"PATCH " + kJobPath + "/status", ok(cleared)},
                                         {"PATCH " + kJobPath, ok(job(true, "9"))}});
  ASSERT_TRUE(got.done());
  EXPECT_EQ(got.bodies[2]["status"], Json({{"startTime", nullptr}}));
  EXPECT_EQ(got.bodies[3]["spec"], Json::parse(R"({"template":{"metadata":{"labels":{"kueue.x-k8s.io/podset":null},
    "annotations":{"kueue.x-k8s.io/workload":null}},
    "spec":{"nodeSelector":null,"tolerations":[{"key":"mine","operator":"Exists"}]}}})"));
  EXPECT_EQ(got.bodies[3]["metadata"]["annotations"], Json({{"kueue.x-k8s.io/stopping", nullptr}}));
  EXPECT_THAT(got.events(), IsEmpty());  // told when it was suspended
}

TEST(StopJobProgram, WithoutWorkloadOnlySuspends) {
  framework::StopJob effect = stop_effect();
  effect.workload.reset();
  const Played got = run(effect, {{"GET " + kJobPath, ok(running_job())}, {"PATCH " + kJobPath, ok(job(true))}});
  ASSERT_TRUE(got.done());
  EXPECT_EQ(got.bodies[1]["metadata"].count("annotations"), 0u);
}

TEST(StopJobProgram, WorkloadGoneDropsWhatWasInjected) {
  Json cleared = stopped_job();
  cleared["status"].erase("startTime");
  const Played got = run(stop_effect(), {{"GET " + kWorkloadPath, refused(404)},
                                         {"GET " + kJobPath, ok(cleared)},
                                         {"PATCH " + kJobPath, ok(job(true, "9"))}});
  ASSERT_TRUE(got.done());
  EXPECT_EQ(got.bodies[2]["spec"]["template"]["metadata"]["labels"], Json({{"kueue.x-k8s.io/podset", nullptr}}));
}

TEST(StopJobProgram, JobGoneIsStopped) {
  EXPECT_TRUE(run(stop_effect(), {{"GET " + kWorkloadPath, ok(workload())}, {"GET " + kJobPath, refused(404)}}).done());
}

TEST(UngatePodProgram, RemovesOnlyItsGate) {
  const std::string path = "/api/v1/namespaces/ns/pods/p";
  const Json pod = Json::parse(R"({"metadata":{"name":"p","namespace":"ns","uid":"pu","resourceVersion":"1"},
    "spec":{"schedulingGates":[{"name":"kueue.x-k8s.io/admission"},{"name":"x"}]}})");
  const framework::UngatePod effect{
      .pod = kPod, .gate = api::kAdmissionSchedulingGate, .info = {.name = "main", .node_selector = {{"pool", "a"}}}};
  const Played got = run(effect, {{"GET " + path, ok(pod)}, {"PATCH " + path, ok(pod)}});
  ASSERT_TRUE(got.done());
  EXPECT_EQ(got.bodies[1]["spec"], Json::parse(R"({"nodeSelector":{"pool":"a"},"schedulingGates":[{"name":"x"}]})"));
}

TEST(ChangeFinalizerProgram, AddsAndRemovesOnce) {
  Json with = workload();
  with["metadata"]["finalizers"] = {"other", "f"};
  framework::ChangeFinalizer effect{
      .object = kWorkload, .finalizer = "f", .change = framework::FinalizerChange::kRemove};
  Played got = run(effect, {{"GET " + kWorkloadPath, ok(with)}, {"PATCH " + kWorkloadPath, ok(workload("6"))}});
  ASSERT_TRUE(got.done());
  EXPECT_EQ(got.bodies[1]["metadata"]["finalizers"], Json({"other"}));
  EXPECT_TRUE(run(effect, {{"GET " + kWorkloadPath, ok(workload())}}).done());
  EXPECT_TRUE(run(effect, {{"GET " + kWorkloadPath, refused(404)}}).done());
  effect.change = framework::FinalizerChange::kAdd;
  got = run(effect, {{"GET " + kWorkloadPath, ok(workload())}, {"PATCH " + kWorkloadPath, ok(with)}});
  EXPECT_EQ(got.bodies[1]["metadata"]["finalizers"], Json({"f"}));
}

TEST(PatchSpecProgram, OnlyNamedFields) {
  const framework::PatchWorkloadSpec effect{.workload = kWorkload, .active = false, .admission_gated_by = "g"};
  const Played got =
      run(effect, {{"GET " + kWorkloadPath, ok(workload())}, {"PATCH " + kWorkloadPath, ok(workload("6"))}});
  ASSERT_TRUE(got.done());
  EXPECT_EQ(got.bodies[1]["spec"], Json({{"active", false}}));
  EXPECT_EQ(got.bodies[1]["metadata"]["annotations"], Json({{"kueue.x-k8s.io/admission-gated-by", "g"}}));
}

TEST(AdoptProgram, MakesTheJobTheController) {
  const framework::AdoptWorkload effect{.workload = kWorkload, .job = kJob};
  const Played got = run(effect, {{"GET " + kJobPath, ok(job(true))},
                                  {"GET " + kWorkloadPath, ok(workload())},
                                  {"PATCH " + kWorkloadPath, ok(workload("6"))}});
  ASSERT_TRUE(got.done());
  const Json& owner = got.bodies[2]["metadata"]["ownerReferences"][0];
  EXPECT_EQ(owner["uid"], "ju");
  EXPECT_EQ(owner["controller"], true);
  EXPECT_EQ(got.bodies[2]["metadata"]["labels"]["kueue.x-k8s.io/job-uid"], "ju");
}

TEST(AdoptProgram, TakesNothingFromAnotherController) {
  Json owned = workload();
  owned["metadata"]["ownerReferences"] = Json::array({{{"uid", "other"}, {"controller", true}}});
  const framework::AdoptWorkload effect{.workload = kWorkload, .job = kJob};
  EXPECT_EQ(run(effect, {{"GET " + kJobPath, ok(job(true))}, {"GET " + kWorkloadPath, ok(owned)}}).error(),
            ErrorCode::kConflict);
}

TEST(RewriteProgram, TakesThePodSetsOfTheJob) {
  const framework::RewriteWorkload effect{
      .workload = kWorkload, .job = kJob, .priority = 4, .event = event("UpdatedWorkload")};
  const Played got = run(effect, {{"GET " + kJobPath, ok(job(true))},
                                  {"GET " + kWorkloadPath, ok(workload())},
                                  {"PATCH " + kWorkloadPath, ok(workload("6"))}});
  ASSERT_TRUE(got.done());
  EXPECT_EQ(got.bodies[2]["spec"]["priority"], 4);
  EXPECT_EQ(got.bodies[2]["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["image"], "i");
  EXPECT_THAT(got.events(), ElementsAre("UpdatedWorkload"));
}

TEST(RewriteProgram, NeverOfAReservedWorkload) {
  Json reserved = workload();
  reserved["status"]["conditions"] = Json::array({{{"type", "QuotaReserved"}, {"status", "True"}}});
  const framework::RewriteWorkload effect{.workload = kWorkload, .job = kJob};
  EXPECT_EQ(run(effect, {{"GET " + kJobPath, ok(job(true))}, {"GET " + kWorkloadPath, ok(reserved)}}).error(),
            ErrorCode::kConflict);
}

const std::string kWorkloads = "/apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads";

framework::CreateWorkload create_effect() {
  return {.job = kJob, .name = "w", .priority = 7, .event = event("CreatedWorkload")};
}

Json owned_workload() {
  Json owned = workload();
  owned["metadata"]["ownerReferences"] =
      Json::array({{{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", "j"}, {"uid", "ju"}, {"controller", true}}});
  return owned;
}

TEST(CreateProgram, BuildsTheWorkloadFromTheJob) {
  Json labelled = job(true);
  labelled["metadata"]["labels"] = {{"kueue.x-k8s.io/queue-name", "lq"},
                                    {"kueue.x-k8s.io/max-exec-time-seconds", "60"},
                                    {"team", "t"},
                                    {"other", "o"}};
  const Played got =
      run(create_effect(), {{"GET " + kJobPath, ok(labelled)}, {"POST " + kWorkloads, ok(owned_workload(), 201)}});
  ASSERT_TRUE(got.done());
  const Json& body = got.bodies[1];
  EXPECT_EQ(body["metadata"],
            Json::parse(R"({"name":"w","namespace":"ns","finalizers":["kueue.x-k8s.io/resource-in-use"],
    "labels":{"kueue.x-k8s.io/job-uid":"ju","team":"t"},"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job",
    "name":"j","uid":"ju","controller":true,"blockOwnerDeletion":true}]})"));
  EXPECT_EQ(body["spec"]["queueName"], "lq");
  EXPECT_EQ(body["spec"]["maximumExecutionTimeSeconds"], 60);
  EXPECT_EQ(body["spec"]["priority"], 7);
  const Json& pod_set = body["spec"]["podSets"][0];
  EXPECT_EQ(pod_set["count"], 2);
  EXPECT_EQ(pod_set["template"]["metadata"]["labels"], Json({{"app", "a"}}));
  // workloads_10_40: the first place, the last value.
  EXPECT_EQ(pod_set["template"]["spec"]["containers"][0]["env"],
            Json::parse(R"([{"name":"A","value":"2"},{"name":"B"}])"));
  EXPECT_THAT(got.events(), ElementsAre("CreatedWorkload"));
}

TEST(CreateProgram, workloads_10_03_LongUidsAreNoLabels) {
  framework::CreateWorkload effect = create_effect();
  effect.job.uid = Uid(std::string(64, 'u'));
  Json long_uid = job(true);
  long_uid["metadata"]["uid"] = std::string(64, 'u');
  const Played got =
      run(effect, {{"GET " + kJobPath, ok(long_uid)}, {"POST " + kWorkloads, ok(owned_workload(), 201)}});
  EXPECT_EQ(got.bodies[1]["metadata"]["labels"].count("kueue.x-k8s.io/job-uid"), 0u);
}

TEST(CreateProgram, ExistingWorkload) {
  const auto exists = refused(409, "exists", "AlreadyExists");
  EXPECT_TRUE(run(create_effect(), {{"GET " + kJobPath, ok(job(true))},
                                    {"POST " + kWorkloads, exists},
                                    {"GET " + kWorkloadPath, ok(owned_workload())}})
                  .done());
  EXPECT_EQ(run(create_effect(), {{"GET " + kJobPath, ok(job(true))},
                                  {"POST " + kWorkloads, exists},
                                  {"GET " + kWorkloadPath, ok(workload())}})
                .error(),
            ErrorCode::kAlreadyExists);
}

TEST(CreateProgram, LostAnswerIsLookedUp) {
  EXPECT_TRUE(run(create_effect(), {{"GET " + kJobPath, ok(job(true))},
                                    {"POST " + kWorkloads, lost()},
                                    {"GET " + kWorkloadPath, refused(404)},
                                    {"POST " + kWorkloads, ok(owned_workload(), 201)}})
                  .done());
}

TEST(JsonEdit, MergeDiffUndoesItself) {
  const Json before = Json::parse(R"({"a":1,"b":{"c":[1,2],"d":{"e":null}},"f":"x"})");
  const Json after = Json::parse(R"({"a":2,"b":{"c":[1],"d":{}},"g":{"h":true}})");
  Json patched = before;
  patched.merge_patch(merge_diff(before, after));
  patched["b"]["d"].erase("e");
  EXPECT_EQ(patched, after);
  EXPECT_EQ(merge_diff(after, after), Json::object());
}

}  // namespace
}  // namespace muster::controllers
