// Admission from the body of a review to the body of the answer.
#include "webhook/admission.h"

#include "api/codec/yaml.h"
#include "webhook/review.h"

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

std::string a_review(const std::string& request) {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":)" + from_yaml(request).dump() + "}";
}

Options everything_on() {
  Options options;
  options.pods = true;
  return options;
}

Json answer_to(const std::string& path, const std::string& request, const Options& options = everything_on()) {
  const auto body = review(path, a_review(request), PublishedView{}, options);
  EXPECT_TRUE(body.ok()) << to_string(body.error());
  return body.ok() ? Json::parse(*body) : Json{};
}

constexpr char kJobReview[] =
    "{uid: u-1, operation: CREATE, namespace: team, object: {kind: Job, metadata: {generateName: a-, labels: "
    "{kueue.x-k8s.io/queue-name: q}}, spec: {template: {}}}}";

TEST(Review, PatchesAJob) {
  const Json got = answer_to("/mutate-batch-v1-job", kJobReview);
  EXPECT_EQ(got["apiVersion"], "admission.k8s.io/v1");
  EXPECT_EQ(got["kind"], "AdmissionReview");
  const Json& response = got["response"];
  EXPECT_EQ(response["uid"], "u-1");
  EXPECT_EQ(response["allowed"], true);
  EXPECT_EQ(response["patchType"], "JSONPatch");
  EXPECT_EQ(response["patch"], encode_base64(R"([{"op":"add","path":"/spec/suspend","value":true}])"));
  EXPECT_FALSE(response.contains("status"));
}

TEST(Review, AnUnchangedObjectNeedsNoPatch) {
  const Json response = answer_to("/mutate-batch-v1-job",
                                  "{uid: u, operation: CREATE, namespace: team, object: {kind: Job, metadata: {name: "
                                  "a}, spec: {}}}")["response"];
  EXPECT_EQ(response, from_yaml("{uid: u, allowed: true}"));
}

struct AnswerCase {
  std::string name{};
  std::string path{};
  std::string request{};
  std::string want{};  // the response
};

class AnswerTo : public ::testing::TestWithParam<AnswerCase> {};

TEST_P(AnswerTo, IsExact) {
  const AnswerCase& c = GetParam();
  EXPECT_EQ(answer_to(c.path, c.request)["response"], from_yaml(c.want));
}

INSTANTIATE_TEST_SUITE_P(
    Table, AnswerTo,
    ::testing::Values(
        AnswerCase{.name = "denied_with_one_error",
                   .path = "/validate-batch-v1-job",
                   .request = "{uid: u, operation: CREATE, object: {kind: Job, metadata: {labels: "
                              "{kueue.x-k8s.io/max-exec-time-seconds: '0'}}}}",
                   .want = "{uid: u, allowed: false, status: {code: 403, reason: Forbidden, message: "
                           "'metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: 0: should be "
                           "greater than 0'}}"},
        AnswerCase{.name = "delete_is_allowed",
                   .path = "/validate-batch-v1-job",
                   .request = "{uid: u, operation: DELETE, oldObject: {kind: Job}}",
                   .want = "{uid: u, allowed: true}"},
        AnswerCase{.name = "wrong_kind",
                   .path = "/validate-batch-v1-job",
                   .request = "{uid: u, operation: CREATE, object: {kind: Pod, metadata: {}}}",
                   .want = "{uid: u, allowed: false, status: {code: 400, reason: BadRequest, message: 'kind: must be "
                           "\"Job\" at /validate-batch-v1-job'}}"},
        AnswerCase{.name = "wrong_shape",
                   .path = "/mutate-batch-v1-job",
                   .request = "{uid: u, operation: CREATE, object: {kind: Job, metadata: {labels: 3}}}",
                   .want = "{uid: u, allowed: false, status: {code: 400, reason: BadRequest, message: "
                           "'metadata.labels: must be an object'}}"},
        AnswerCase{.name = "warning",
                   .path = "/validate--v1-pod",
                   .request = "{uid: u, operation: CREATE, object: {kind: Pod, metadata: {labels: "
                              "{kueue.x-k8s.io/managed: 'true'}, ownerReferences: [{apiVersion: batch/v1, kind: Job, "
                              "name: j, uid: v, controller: true}]}, spec: {}}}",
                   .want = "{uid: u, allowed: true, warnings: ['the owner of this pod is admitted as a whole; the "
                           "label kueue.x-k8s.io/managed=true has no use on the pod']}"},
        AnswerCase{.name = "kind_without_rules",
                   .path = "/mutate-jobset-x-k8s-io-v1alpha2-jobset",
                   .request = "{uid: u, operation: CREATE, object: {kind: JobSet}}",
                   .want = "{uid: u, allowed: true}"},
        AnswerCase{.name = "deployment_update",
                   .path = "/validate-apps-v1-deployment",
                   .request = "{uid: u, operation: UPDATE, object: {}, oldObject: {}}",
                   .want = "{uid: u, allowed: true}"},
        AnswerCase{.name = "cohort_refused",
                   .path = "/validate-kueue-x-k8s-io-v1beta2-cohort",
                   .request = "{uid: u, operation: CREATE, object: {apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, "
                              "metadata: {name: c}, spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: "
                              "f, resources: [{name: cpu, nominalQuota: '1', borrowingLimit: '1'}]}]}]}}}",
                   .want = "{uid: u, allowed: false, status: {code: 403, reason: Forbidden, message: "
                           "'spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: Invalid value: \"1\": must "
                           "be nil when parent is empty'}}"}),
    [](const auto& row) { return row.param.name; });

TEST(Defaulting, QueuesAndFlavorsGetTheFinalizer) {
  for (const std::string kind : {"ClusterQueue", "ResourceFlavor"}) {
    const std::string path = kind == "ClusterQueue" ? "/mutate-kueue-x-k8s-io-v1beta2-clusterqueue"
                                                    : "/mutate-kueue-x-k8s-io-v1beta2-resourceflavor";
    const Json response =
        answer_to(path, "{uid: u, operation: CREATE, object: {kind: " + kind + ", metadata: {name: x}}}")["response"];
    EXPECT_EQ(response["patch"], encode_base64(R"([{"op":"add","path":"/metadata/finalizers","value":)"
                                               R"(["kueue.x-k8s.io/resource-in-use"]}])"));
  }
}

TEST(Defaulting, WorkloadLosesMinCountOnlyWithoutPartialAdmission) {
  const std::string path = "/mutate-kueue-x-k8s-io-v1beta2-workload";
  const std::string request =
      "{uid: u, operation: CREATE, object: {kind: Workload, metadata: {name: w}, spec: {podSets: [{name: main, count: "
      "3, minCount: 1}]}}}";
  EXPECT_FALSE(answer_to(path, request)["response"].contains("patch"));
  Options options = everything_on();
  options.partial_admission = false;
  EXPECT_EQ(answer_to(path, request, options)["response"]["patch"],
            encode_base64(R"([{"op":"remove","path":"/spec/podSets/0/minCount"}])"));
}

TEST(DisabledFrameworks, TouchNothing) {
  Options off;
  off.batch_jobs = false;
  off.pods = false;
  EXPECT_EQ(answer_to("/mutate-batch-v1-job", kJobReview, off)["response"], from_yaml("{uid: u-1, allowed: true}"));
  const std::string pod =
      "{uid: u, operation: CREATE, object: {kind: Pod, metadata: {labels: {kueue.x-k8s.io/queue-name: '!'}}, spec: "
      "{}}}";
  EXPECT_EQ(answer_to("/mutate--v1-pod", pod, off)["response"], from_yaml("{uid: u, allowed: true}"));
  EXPECT_EQ(answer_to("/validate--v1-pod", pod, off)["response"], from_yaml("{uid: u, allowed: true}"));
}

struct BadCase {
  std::string name{};
  std::string body{};
  ErrorCode code = ErrorCode::kInvalid;
  std::string want{};  // beginning of the message
};

class BadReview : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadReview, NamesTheField) {
  const BadCase& c = GetParam();
  const auto got = review("/mutate-batch-v1-job", c.body, PublishedView{}, Options{});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, c.code);
  EXPECT_EQ(to_string(got.error()).substr(0, c.want.size()), c.want);
}

std::string deep(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadReview,
    ::testing::Values(
        BadCase{.name = "empty", .want = "JSON: "},
        BadCase{.name = "yaml", .body = "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\n", .want = "JSON: "},
        BadCase{.name = "cut_off", .body = R"({"apiVersion":"admission.k8s.io/v1",)", .want = "JSON: "},
        BadCase{.name = "list", .body = "[]", .want = "apiVersion: must be \"admission.k8s.io/v1\""},
        BadCase{.name = "v1beta1",
                .body = R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview"})",
                .want = "apiVersion: must be \"admission.k8s.io/v1\""},
        BadCase{.name = "kind",
                .body = R"({"apiVersion":"admission.k8s.io/v1","kind":"Review"})",
                .want = "kind: must be \"AdmissionReview\""},
        BadCase{.name = "no_request",
                .body = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})",
                .want = "request: must be an object"},
        BadCase{.name = "no_uid",
                .body = a_review("{operation: CREATE}"),
                .want = "request.uid: must be a string that is not empty"},
        BadCase{.name = "uid_number",
                .body = a_review("{uid: 7, operation: CREATE}"),
                .want = "request.uid: must be a string that is not empty"},
        BadCase{.name = "operation",
                .body = a_review("{uid: u, operation: create}"),
                .want = "request.operation: must be CREATE, UPDATE, DELETE or CONNECT"},
        BadCase{.name = "no_object",
                .body = a_review("{uid: u, operation: CREATE}"),
                .want = "request.object: must be set"},
        BadCase{.name = "object_text",
                .body = a_review("{uid: u, operation: CREATE, object: text}"),
                .want = "request.object: must be an object"},
        BadCase{.name = "no_old_object",
                .body = a_review("{uid: u, operation: UPDATE, object: {}}"),
                .want = "request.oldObject: must be set"},
        BadCase{.name = "too_deep", .body = deep(129), .code = ErrorCode::kTooLarge, .want = "JSON nested deeper"},
        BadCase{.name = "too_long",
                .body = std::string((7U << 20) + 1, ' '),
                .code = ErrorCode::kTooLarge,
                .want = "JSON longer than"}),
    [](const auto& row) { return row.param.name; });

TEST(Paths, UnknownOnesAreNotFound) {
  for (const char* path : {"/", "", "/mutate-batch-v1-jobs", "/mutate-", "/convert", "/mutate-batch-v1-job/"}) {
    const auto got = review(path, "{}", PublishedView{}, Options{});
    ASSERT_FALSE(got.ok()) << path;
    EXPECT_EQ(got.error().code, ErrorCode::kNotFound) << path;
  }
}

TEST(Base64, PadsAsTheStandardSays) {
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(encode_base64("f"), "Zg==");
  EXPECT_EQ(encode_base64("fo"), "Zm8=");
  EXPECT_EQ(encode_base64("foo"), "Zm9v");
  EXPECT_EQ(encode_base64(std::string("\xff\x00\xfe", 3)), "/wD+");
}

}  // namespace
}  // namespace muster::webhook
