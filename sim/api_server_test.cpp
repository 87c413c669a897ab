#include "sim/api_server.h"

#include "controllers/requests/json_edit.h"
#include "sim/submission.h"

#include <nlohmann/json.hpp>

namespace muster::sim {
namespace {

using api::Json;
using controllers::text_at;
using framework::ApiReply;

constexpr const char* kPods = "/api/v1/namespaces/a/pods";
constexpr const char* kPod = "/api/v1/namespaces/a/pods/p";
constexpr const char* kJob = "/apis/batch/v1/namespaces/a/jobs/j";
constexpr const char* kMerge = "application/merge-patch+json";

class ApiServerTest : public ::testing::Test, public ChangeListener {
 protected:
  ApiServerTest() {
    server.listen(*this);
    EXPECT_TRUE(server.create(kind_of("Namespace"), {{"metadata", {{"name", "a"}}}}).ok());
  }

  void on_change(const Change& change) override {
    const char* what = change.before == nullptr ? "+" : change.after == nullptr ? "-" : "~";
    log.push_back(what + std::string(change.kind->name) + " " + change.key.name);
  }

  ApiReply send(std::string method, std::string path, const Json& body = {}, std::string type = "application/json") {
    return server.handle({.method = std::move(method),
                          .path = std::move(path),
                          .content_type = std::move(type),
                          .body = body.is_null() ? std::string() : body.dump()});
  }

  Json body(const ApiReply& reply) { return *api::parse_json(reply.body); }

  Json stored(const char* path) { return body(send("GET", path)); }

  void make_job(Json spec = {{"suspend", true}, {"template", {{"spec", {{"restartPolicy", "Never"}}}}}}) {
    const Json job = {{"metadata", {{"name", "j"}}}, {"spec", std::move(spec)}};
    ASSERT_EQ(send("POST", "/apis/batch/v1/namespaces/a/jobs", job).status, 201);
  }

  void make_pod(const Json& metadata = {{"name", "p"}}) {
    ASSERT_EQ(send("POST", kPods, {{"metadata", metadata}}).status, 201);
  }

  ApiReply bind(const std::string& node, const std::string& uid = {}) {
    return send("POST", std::string(kPod) + "/binding",
                {{"metadata", {{"uid", uid}}}, {"target", {{"kind", "Node"}, {"name", node}}}});
  }

  ApiServer server{kStartOfTime};
  std::vector<std::string> log{};
};

TEST_F(ApiServerTest, GivesWhatItWasGivenWithItsOwnMetadata) {
  make_job();
  const Json job = stored(kJob);
  EXPECT_EQ(text_at(job, {"metadata", "creationTimestamp"}), "2026-01-01T00:00:00Z");
  EXPECT_EQ(job["metadata"]["generation"], 1);
  EXPECT_FALSE(text_at(job, {"metadata", "uid"}).empty());
  EXPECT_EQ(job["spec"]["parallelism"], 1);
  EXPECT_EQ(job["spec"]["completions"], 1);
  EXPECT_EQ(text_at(job, {"spec", "template", "metadata", "labels", "batch.kubernetes.io/job-name"}), "j");
}

TEST_F(ApiServerTest, RefusesWhatExistsAndWhatHasNoNamespace) {
  make_pod();
  const ApiReply again = send("POST", kPods, {{"metadata", {{"name", "p"}}}});
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(body(again)["reason"], "AlreadyExists");
  EXPECT_EQ(send("POST", "/api/v1/namespaces/b/pods", {{"metadata", {{"name", "p"}}}}).status, 404);
  EXPECT_EQ(send("GET", "/api/v1/namespaces/a/pods/q").status, 404);
  EXPECT_EQ(send("GET", "/apis/example.com/v1/things/q").status, 404);
  EXPECT_EQ(send("POST", kPods, {{"metadata", {{"labels", Json::object()}}}}).status, 422);
}

TEST_F(ApiServerTest, HoldsPreconditions) {
  make_job();
  const std::string version = text_at(stored(kJob), {"metadata", "resourceVersion"});
  const Json patch = {{"metadata", {{"resourceVersion", version}, {"labels", {{"x", "1"}}}}}};
  EXPECT_EQ(send("PATCH", kJob, patch, kMerge).status, 200);
  const ApiReply stale = send("PATCH", kJob, patch, kMerge);
  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(body(stale)["reason"], "Conflict");
  EXPECT_EQ(send("PATCH", kJob, {{"metadata", {{"uid", "other"}}}}, kMerge).status, 409);
  EXPECT_EQ(send("DELETE", kJob, {{"preconditions", {{"uid", "other"}}}}).status, 409);
  EXPECT_EQ(send("DELETE", kJob).status, 200);
  EXPECT_EQ(send("GET", kJob).status, 404);
}

TEST_F(ApiServerTest, CountsGenerationsOfTheSpecAloneAndDropsNoOps) {
  make_job();
  EXPECT_EQ(send("PATCH", kJob, {{"spec", {{"parallelism", 2}}}, {"status", {{"active", 9}}}}, kMerge).status, 200);
  Json job = stored(kJob);
  EXPECT_EQ(job["metadata"]["generation"], 2);
  EXPECT_FALSE(job.contains("status")) << "a write of the object must not touch its status";
  EXPECT_EQ(send("PATCH", std::string(kJob) + "/status", {{"spec", {{"parallelism", 5}}}, {"status", {{"active", 1}}}},
                 kMerge)
                .status,
            200);
  job = stored(kJob);
  EXPECT_EQ(job["metadata"]["generation"], 2);
  EXPECT_EQ(job["spec"]["parallelism"], 2);
  EXPECT_EQ(job["status"]["active"], 1);
  log.clear();
  EXPECT_EQ(send("PATCH", kJob, {{"spec", {{"parallelism", 2}}}}, kMerge).status, 200);
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(stored(kJob)["metadata"]["resourceVersion"], job["metadata"]["resourceVersion"]);
}

TEST_F(ApiServerTest, KeepsTemplatesOfJobsThatRun) {
  make_job();
  const Json nodes = {{"spec", {{"template", {{"spec", {{"nodeSelector", {{"a", "b"}}}}}}}}}};
  EXPECT_EQ(send("PATCH", kJob, nodes, kMerge).status, 422) << "no Suspended condition yet";
  const Json suspended = {{"status", {{"conditions", {{{"type", "Suspended"}, {"status", "True"}}}}}}};
  EXPECT_EQ(send("PATCH", std::string(kJob) + "/status", suspended, kMerge).status, 200);
  EXPECT_EQ(send("PATCH", kJob, nodes, kMerge).status, 200);
  EXPECT_EQ(send("PATCH", kJob, {{"spec", {{"suspend", false}}}}, kMerge).status, 200);
  EXPECT_EQ(send("PATCH", kJob, {{"spec", {{"template", {{"spec", {{"nodeSelector", nullptr}}}}}}}}, kMerge).status,
            422);
}

TEST_F(ApiServerTest, BindsAPodOnce) {
  make_pod();
  EXPECT_EQ(bind("n", "other").status, 409);
  EXPECT_EQ(bind("n", text_at(stored(kPod), {"metadata", "uid"})).status, 201);
  EXPECT_EQ(bind("m").status, 409);
  EXPECT_EQ(text_at(stored(kPod), {"spec", "nodeName"}), "n");
}

TEST_F(ApiServerTest, DeletesAPodOnANodeWhenItsKubeletAgrees) {
  make_pod();
  ASSERT_EQ(bind("n").status, 201);
  EXPECT_EQ(send("DELETE", kPod).status, 200);
  EXPECT_FALSE(text_at(stored(kPod), {"metadata", "deletionTimestamp"}).empty());
  EXPECT_TRUE(server.remove(kind_of("Pod"), {"a", "p"}, Grace::kForce).ok());
  EXPECT_EQ(send("GET", kPod).status, 404);
  make_pod();
  EXPECT_EQ(send("DELETE", kPod).status, 200);
  EXPECT_EQ(send("GET", kPod).status, 404);
}

TEST_F(ApiServerTest, FinalizersHoldWhatIsDeleted) {
  make_pod({{"name", "p"}, {"finalizers", {"x/y"}}});
  EXPECT_EQ(send("DELETE", kPod).status, 200);
  EXPECT_EQ(send("GET", kPod).status, 200);
  EXPECT_EQ(send("PATCH", kPod, {{"metadata", {{"finalizers", Json::array()}}}}, kMerge).status, 200);
  EXPECT_EQ(send("GET", kPod).status, 404);
}

TEST_F(ApiServerTest, DependentsGoWithTheirOwner) {
  make_job();
  const std::string uid = text_at(stored(kJob), {"metadata", "uid"});
  make_pod({{"name", "p"}, {"ownerReferences", {{{"kind", "Job"}, {"name", "j"}, {"uid", uid}}}}});
  EXPECT_EQ(server.owned_by(uid, kind_of("Pod")), std::vector<ObjectKey>({{"a", "p"}}));
  log.clear();
  EXPECT_EQ(send("DELETE", kJob).status, 200);
  EXPECT_EQ(log, std::vector<std::string>({"-Job j", "-Pod p"}));
}

TEST_F(ApiServerTest, AppliesAWholeStatus) {
  const Json workload = {{"metadata", {{"name", "w"}}}, {"spec", {{"podSets", Json::array()}}}};
  const std::string path = "/apis/kueue.x-k8s.io/v1beta2/namespaces/a/workloads";
  ASSERT_EQ(send("POST", path, workload).status, 201);
  const Json first = {{"status", {{"conditions", {{{"type", "A"}}}}, {"admission", {{"clusterQueue", "q"}}}}}};
  const Json second = {{"status", {{"conditions", {{{"type", "B"}}}}}}};
  const std::string status = path + "/w/status?fieldManager=kueue-admission&force=true";
  EXPECT_EQ(send("PATCH", status, first, "application/apply-patch+yaml").status, 200);
  const ApiReply reply = send("PATCH", status, second, "application/apply-patch+yaml");
  EXPECT_EQ(body(reply)["status"], second["status"]);
}

TEST_F(ApiServerTest, MergesConditionsByTypeInAStrategicPatch) {
  make_pod();
  const std::string status = std::string(kPod) + "/status";
  const auto patch = [&](const char* type, const char* value) {
    return send("PATCH", status, {{"status", {{"conditions", {{{"type", type}, {"status", value}}}}}}},
                "application/strategic-merge-patch+json");
  };
  EXPECT_EQ(patch("A", "True").status, 200);
  EXPECT_EQ(patch("B", "True").status, 200);
  EXPECT_EQ(patch("A", "False").status, 200);
  EXPECT_EQ(stored(kPod)["status"]["conditions"],
            Json({{{"type", "A"}, {"status", "False"}}, {{"type", "B"}, {"status", "True"}}}));
}

TEST_F(ApiServerTest, JsonPatchesApplyOrFailWhole) {
  make_pod();
  const char* type = "application/json-patch+json";
  EXPECT_EQ(send("PATCH", kPod, {{{"op", "test"}, {"path", "/metadata/name"}, {"value", "q"}}}, type).status, 422);
  EXPECT_EQ(send("PATCH", kPod, {{{"op", "add"}, {"path", "/metadata/labels"}, {"value", {{"x", "y"}}}}}, type).status,
            200);
  EXPECT_EQ(text_at(stored(kPod), {"metadata", "labels", "x"}), "y");
}

TEST_F(ApiServerTest, ListsANamespace) {
  make_pod();
  const Json list = body(send("GET", kPods));
  EXPECT_EQ(list["kind"], "PodList");
  ASSERT_EQ(list["items"].size(), 1U);
  EXPECT_EQ(text_at(list["items"][0], {"metadata", "name"}), "p");
}

}  // namespace
}  // namespace muster::sim
