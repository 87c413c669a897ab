// The commands that need no cluster, as a user calls them: arguments in, output and exit code out.
#include "cmd/muster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace muster::cmd {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr const char* kManifests = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: default, resources: [{name: cpu, nominalQuota: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: queue, namespace: default}
spec: {clusterQueue: team}
---
apiVersion: v1
kind: Node
metadata: {name: node}
status: {allocatable: {cpu: 4, pods: 110}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: first, labels: {kueue.x-k8s.io/queue-name: queue}}
spec:
  parallelism: 3
  template: {spec: {restartPolicy: Never, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: second, labels: {kueue.x-k8s.io/queue-name: queue}, annotations: {muster.x-k8s.io/submit-time: 5s}}
spec:
  parallelism: 1
  template: {spec: {restartPolicy: Never, containers: [{name: c, resources: {requests: {cpu: 2}}}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: free}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
)";

struct Called {
  int code = 0;
  std::string out{};
  std::string err{};
};

class OfflineCommands : public ::testing::Test {
 protected:
  OfflineCommands()
      : folder_(std::filesystem::temp_directory_path() / ("muster-commands-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    std::ofstream(file("all.yaml")) << kManifests;
  }

  ~OfflineCommands() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  static Called muster(std::vector<std::string> args) {
    args.insert(args.begin(), "muster");
    std::vector<char*> argv;
    for (std::string& arg : args) {
      argv.push_back(arg.data());
    }
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    Called run{.code = run_program(argv)};
    std::fflush(stdout);
    run.out = ::testing::internal::GetCapturedStdout();
    run.err = ::testing::internal::GetCapturedStderr();
    return run;
  }

 private:
  static int run_program(std::vector<char*>& argv) { return muster::run(static_cast<int>(argv.size()), argv.data()); }

  std::filesystem::path folder_;
};

TEST_F(OfflineCommands, ExplainSaysWhatIsMissingAndWhoHoldsIt) {
  const Called run = muster({"explain", "job/second", "-f", file("all.yaml")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Pending, WaitingForQuota"));
  EXPECT_THAT(run.out, HasSubstr("insufficient unused quota for cpu in flavor default, 1 more needed"));
  EXPECT_THAT(run.out, HasSubstr("3 default/job-first-"));
  EXPECT_THAT(run.out, HasSubstr("0 of 1 in ClusterQueue team (0 is next)"));
  EXPECT_THAT(run.out, HasSubstr("quota is released or raised in ClusterQueue team"));
}

TEST_F(OfflineCommands, ExplainAsJson) {
  const Called run = muster({"explain", "second", "-f", file("all.yaml"), "-o", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["state"], "Pending");
  const Json flavor = json["flavors"][0];
  EXPECT_EQ(flavor["requested"], "2");
  EXPECT_EQ(flavor["available"], "1");
  EXPECT_EQ(flavor["missing"], "1");
  EXPECT_EQ(flavor["atMost"], "4");
  EXPECT_EQ(flavor["holders"][0]["amount"], "3");
  EXPECT_EQ(json["positionInClusterQueue"]["index"], 0);
  EXPECT_EQ(json["cures"][0]["event"], "Quota");
}

TEST_F(OfflineCommands, ExplainAtAMoment) {
  EXPECT_THAT(muster({"explain", "job/second", "-f", file("all.yaml"), "--at", "10s"}).out, HasSubstr(": Pending"));
  EXPECT_THAT(muster({"explain", "job/second", "-f", file("all.yaml"), "--at", "70s"}).out, HasSubstr(": Admitted"));
  EXPECT_THAT(muster({"explain", "job/second", "-f", file("all.yaml"), "--at", "10m"}).out, HasSubstr(": Finished"));
  EXPECT_THAT(muster({"explain", "job/second", "-f", file("all.yaml"), "--at", "7s", "--default-run-time", "4s"}).out,
              HasSubstr(": Admitted"));
}

TEST_F(OfflineCommands, ExplainAnswersForThatWhichDoesNotWait) {
  const Called admitted = muster({"explain", "jobs/first", "-n", "default", "-f", file("all.yaml")});
  EXPECT_EQ(admitted.code, 0);
  EXPECT_THAT(admitted.out, HasSubstr(": Admitted"));
  const Called gone = muster({"explain", "workload/nobody", "-f", file("all.yaml")});
  EXPECT_EQ(gone.code, 1);
  EXPECT_THAT(gone.err, HasSubstr("there is no Workload default/nobody"));
  const Called unqueued = muster({"explain", "job/free", "-f", file("all.yaml")});
  EXPECT_EQ(unqueued.code, 1);
  EXPECT_THAT(unqueued.err, HasSubstr("Job default/free names no queue (label kueue.x-k8s.io/queue-name)"));
}

TEST_F(OfflineCommands, BadUsageEndsWithTwo) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"explain"},
                                             {"explain", "node/x", "-f", "y"},
                                             {"explain", "a/b/c", "-f", "y"},
                                             {"explain", "job/", "-f", "y"},
                                             {"explain", "x", "--at", "5s"},
                                             {"explain", "x", "-f", "y", "--at", "soon"},
                                             {"explain", "x", "-f", "y", "--record", "z"},
                                             {"explain", "x", "-f", "y", "-o", "xml"},
                                             {"explain", "x", "--holders", "many"},
                                             {"replay"},
                                             {"replay", "x", "--until", "never"},
                                             {"no-such-command"}}) {
    EXPECT_EQ(muster(args).code, 2) << args.front() << " " << args.back();
  }
  EXPECT_EQ(muster({"--help"}).code, 0);
}

TEST_F(OfflineCommands, UnreadableInputIsNamed) {
  const Called missing = muster({"explain", "x", "-f", file("missing.yaml")});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("missing.yaml"));
  EXPECT_EQ(muster({"replay", file("missing.log")}).code, 2);
  EXPECT_EQ(muster({"replay", file("all.yaml")}).code, 2);
}

TEST_F(OfflineCommands, ASimulationIsRecordedReplayedAndExplained) {
  const std::string log = file("run.log");
  ASSERT_EQ(muster({"simulate", "-f", file("all.yaml"), "--record", log, "--seed", "3"}).code, 0);
  const Called same = muster({"replay", log});
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_THAT(same.out, HasSubstr("the same as recorded"));

  const Called shown = muster({"replay", log, "--until", "2", "--show-cycle", "2", "-o", "json"});
  const Json json = Json::parse(shown.out);
  EXPECT_EQ(json["same"], true);
  EXPECT_EQ(json["cycles"], 2);
  ASSERT_FALSE(json["trace"].empty());
  EXPECT_EQ(json["trace"][0]["cycle"], 2);

  const Called explained = muster({"explain", "job/second", "--record", log, "--until", "2"});
  EXPECT_EQ(explained.code, 0) << explained.err;
  EXPECT_THAT(explained.out, HasSubstr("WaitingForQuota"));
}

TEST_F(OfflineCommands, AChangedRecordingIsADifference) {
  const std::string log = file("run.log");
  ASSERT_EQ(muster({"simulate", "-f", file("all.yaml"), "--record", log}).code, 0);
  std::ifstream in(log);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::size_t at = text.find("CreateWorkload Job");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 6, "Delete");
  std::ofstream(log) << text;
  const Called run = muster({"replay", log});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out, HasSubstr("DIFFERENT"));
  EXPECT_THAT(run.out, HasSubstr("recorded: DeleteWorkload Job"));
  EXPECT_THAT(run.out, HasSubstr("replayed: CreateWorkload Job"));
  EXPECT_THAT(run.out, Not(HasSubstr("the same")));
}

}  // namespace
}  // namespace muster::cmd
