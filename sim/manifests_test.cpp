#include "sim/manifests.h"

#include "api/codec/decode.h"
#include "controllers/requests/json_edit.h"
#include "sim/trace_csv.h"

#include <ostream>

namespace muster::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kQueueHead = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q}\n";

struct BadCase {
  std::string name{};
  std::string yaml{};
  std::string error{};

  friend std::ostream& operator<<(std::ostream& out, const BadCase& row) { return out << row.name; }
};

class BadManifest : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadManifest, IsAnErrorThatNamesFileDocumentAndField) {
  Manifests out;
  const Status status = read_manifests("# nothing\n---\n" + GetParam().yaml, "x.yaml", out);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(to_string(status.error()), HasSubstr(GetParam().error));
  EXPECT_THAT(to_string(status.error()), HasSubstr("x.yaml"));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadManifest,
    ::testing::Values(
        BadCase{.name = "no_kind", .yaml = "apiVersion: v1\n", .error = "document 1: kind: Required value"},
        BadCase{.name = "no_name", .yaml = "apiVersion: v1\nkind: Node\n", .error = "metadata.name: Required value"},
        BadCase{.name = "unknown_field",
                .yaml = std::string(kQueueHead) + "spec: {resourceGroups: [{flavours: []}]}\n",
                .error = "spec.resourceGroups[0].flavours: unknown field"},
        BadCase{.name = "wrong_type",
                .yaml = std::string(kQueueHead) + "spec: {cohortName: [a]}\n",
                .error = "spec.cohortName"},
        BadCase{.name = "wrong_quantity",
                .yaml = std::string(kQueueHead) +
                        "spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: "
                        "[{name: cpu, nominalQuota: many}]}]}]}\n",
                .error = "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota"},
        BadCase{.name = "refused_by_validation",
                .yaml = std::string(kQueueHead) +
                        "spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: "
                        "[{name: cpu, nominalQuota: -1}]}]}]}\n",
                .error = "nominalQuota"},
        BadCase{.name = "bad_time",
                .yaml = "apiVersion: v1\nkind: Node\nmetadata: {name: node, annotations: {muster.x-k8s.io/submit-time: "
                        "soon}}\n",
                .error = "metadata.annotations[muster.x-k8s.io/submit-time]"},
        BadCase{.name = "no_yaml", .yaml = "a: [", .error = "x.yaml"}),
    [](const auto& row) { return row.param.name; });

TEST(Manifests, LeaveOutUnknownKindsWithAWarning) {
  Manifests out;
  ASSERT_TRUE(read_manifests("apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\n", "x.yaml", out).ok());
  EXPECT_THAT(out.submissions, IsEmpty());
  EXPECT_THAT(out.warnings, ElementsAre("x.yaml, document 1: Thing of example.com/v1 is not simulated, left out"));
}

TEST(Manifests, TakeListsApartAndGiveTimesAndNamespaces) {
  Manifests out;
  const char* yaml = R"(
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Node, metadata: {name: node}}
  - {apiVersion: batch/v1, kind: Job, metadata: {name: job, annotations: {muster.x-k8s.io/submit-time: 1m30s}}}
)";
  ASSERT_TRUE(read_manifests(yaml, "x.yaml", out).ok());
  ASSERT_EQ(out.submissions.size(), 2U);
  EXPECT_EQ(out.submissions[1].at, std::chrono::seconds(90));
  EXPECT_EQ(controllers::text_at(out.submissions[1].object, {"metadata", "namespace"}), "default");
}

constexpr const char* kTitles =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time,scheduled_time\n";

TEST(Trace, MakesAJobOfEachRow) {
  Manifests out;
  ASSERT_TRUE(read_trace(std::string(kTitles) + "p-0,2000,1024,2,500,A|B,10,100,40\n", {}, out).ok());
  ASSERT_EQ(out.submissions.size(), 4U) << "flavor, two queues, job";
  const Submission& submitted = out.submissions[3];
  EXPECT_EQ(submitted.at, std::chrono::seconds(10));
  const auto job = api::decode<api::Job>(submitted.object);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->meta.annotations.at("muster.x-k8s.io/run-time"), "60s") << "from the time it was scheduled";
  EXPECT_EQ(api::pod_requests(job->pod_template.spec),
            (api::ResourceAmounts{{"alibabacloud.com/gpu-milli", 1000}, {"cpu", 2000}, {"memory", 1024LL << 20}}));
  ASSERT_TRUE(job->pod_template.spec.node_affinity.required.has_value());
  EXPECT_THAT(job->pod_template.spec.node_affinity.required->front().match_expressions.front().values,
              ElementsAre("A", "B"));
}

TEST(Trace, MakesGangsOfEqualConsecutiveRows) {
  Manifests out;
  const std::string rows = "a,1,1,0,0,,0,10,0\nb,1,1,0,0,,5,25,5\nc,1,1,0,0,,6,7,6\nd,2,1,0,0,,7,9,7\n";
  ASSERT_TRUE(read_trace(kTitles + rows, {.gang_size = 2}, out).ok());
  ASSERT_EQ(out.submissions.size(), 6U);
  const auto gang = api::decode<api::Job>(out.submissions[3].object);
  EXPECT_EQ(gang->parallelism, 2);
  EXPECT_EQ(out.submissions[3].at, std::chrono::seconds(5));
  EXPECT_EQ(gang->meta.annotations.at("muster.x-k8s.io/run-time"), "20s");
}

TEST(Trace, NamesTheLineOfAnError) {
  Manifests out;
  const Status bad = read_trace(std::string(kTitles) + "a,x,1,0,0,,0,10,0\n", {}, out);
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(to_string(bad.error()), HasSubstr("line 2: cpu_milli: not a count: \"x\""));
  EXPECT_FALSE(read_trace("name,cpu_milli\n", {}, out).ok());
}

}  // namespace
}  // namespace muster::sim
