#include "api/config/configuration.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

const std::string kHead = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";

Configuration parsed(const std::string& body) {
  Result<Configuration> config = parse_configuration(kHead + body);
  EXPECT_TRUE(config.ok()) << (config.ok() ? "" : to_string(config.error()));
  return config.value_or({});
}

TEST(Configuration, HasKueuesDefaults) {
  for (const Configuration& config :
       {parsed(""), parse_configuration("").value(), parse_configuration("# x").value()}) {
    EXPECT_FALSE(config.manage_jobs_without_queue_name);
    EXPECT_EQ(config.webhook.port, 9443);
    EXPECT_EQ(config.metrics.bind_address, ":8443");
    EXPECT_TRUE(config.metrics.local_queue_metrics);
    EXPECT_EQ(config.health.bind_address, ":8081");
    EXPECT_EQ(config.leader_election.lease_duration, Duration{15'000});
    EXPECT_EQ(config.integrations.frameworks, std::vector<std::string>{"batch/job"});
    ASSERT_TRUE(config.wait_for_pods_ready.has_value());
    EXPECT_EQ(config.wait_for_pods_ready->timeout, Duration{1'800'000});
    EXPECT_EQ(config.wait_for_pods_ready->recovery_timeout, Duration{1'800'000});
    EXPECT_FALSE(config.fair_sharing.has_value());
    EXPECT_EQ(config.client_connection.burst, 500);
    EXPECT_EQ(config.visibility.bind_port, 8082);
    EXPECT_FALSE(config.muster.default_local_queue);
  }
}

TEST(Configuration, ReadsAFile) {
  const Configuration config = parsed(R"(
namespace: batch
manageJobsWithoutQueueName: true
managedJobsNamespaceSelector: {matchLabels: {managed: "true"}}
metrics: {bindAddress: ":9000", localQueueMetrics: {}}
controller: {groupKindConcurrency: {Job.batch: 5}, cacheSyncTimeout: 120000000000}
waitForPodsReady: {timeout: 5m, recoveryTimeout: 0s, requeuingStrategy: {timestamp: Creation, backoffLimitCount: 3}}
clientConnection: {qps: 50.5, burst: 100}
integrations: {frameworks: [batch/job, pod], externalFrameworks: [Foo.v1.example.com]}
fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]}
admissionFairSharing: {usageHalfLifeTime: 10m, resourceWeights: {cpu: 2.5}}
resources:
  excludeResourcePrefixes: [internal/]
  transformations: [{input: a/b, strategy: Replace, outputs: {c/d: "1.5"}}]
featureGates: {PartialAdmission: false}
objectRetentionPolicies: {workloads: {afterFinished: 0s}}
muster: {defaultLocalQueue: true}
)");
  EXPECT_EQ(config.ns, "batch");
  EXPECT_TRUE(config.manage_jobs_without_queue_name);
  EXPECT_EQ(config.metrics.bind_address, ":9000");
  EXPECT_FALSE(config.metrics.local_queue_metrics);  // false inside a given object
  EXPECT_EQ(config.group_kind_concurrency.at("Job.batch"), 5);
  EXPECT_EQ(config.cache_sync_timeout_ns, 120'000'000'000);
  EXPECT_EQ(config.wait_for_pods_ready->timeout, Duration{300'000});
  EXPECT_EQ(config.wait_for_pods_ready->recovery_timeout, Duration{0});
  EXPECT_EQ(config.wait_for_pods_ready->timestamp, RequeueTimestamp::kCreation);
  EXPECT_EQ(config.wait_for_pods_ready->backoff_limit_count, 3);
  EXPECT_DOUBLE_EQ(config.client_connection.qps, 50.5);
  EXPECT_EQ(config.fair_sharing->preemption_strategies.size(), 2u);
  EXPECT_DOUBLE_EQ(config.admission_fair_sharing->resource_weights.at("cpu"), 2.5);
  EXPECT_EQ(config.admission_fair_sharing->usage_sampling_interval, Duration{300'000});
  EXPECT_EQ(config.resources.transformations[0].outputs.at("c/d"), "1.5");
  EXPECT_FALSE(config.feature_gates.at("PartialAdmission"));
  EXPECT_EQ(config.retention.after_finished, Duration{0});
  EXPECT_EQ(config.retention.after_deactivated_by_kueue, std::nullopt);
  EXPECT_TRUE(config.muster.default_local_queue);
}

TEST(Configuration, RecoveryTimeoutFollowsTheTimeout) {
  EXPECT_EQ(parsed("waitForPodsReady: {timeout: 7m}").wait_for_pods_ready->recovery_timeout, Duration{420'000});
  EXPECT_EQ(parsed("waitForPodsReady: {timeout: 0s}").wait_for_pods_ready->timeout, Duration{1'800'000});
}

TEST(Configuration, GateSwitchesPodsReadyOff) {
  EXPECT_FALSE(parsed("featureGates: {DisableWaitForPodsReady: true}").wait_for_pods_ready.has_value());
}

TEST(Configuration, ManagesAllButTheSystemsNamespaces) {
  const LabelSelector selector = managed_namespaces(Configuration{}, "muster-system");
  const auto managed = [&selector](const std::string& ns) {
    return matches(selector, {{"kubernetes.io/metadata.name", ns}});
  };
  EXPECT_TRUE(managed("team-a"));
  EXPECT_FALSE(managed("kube-system"));
  EXPECT_FALSE(managed("muster-system"));
}

struct Refusal {
  std::string name{};
  std::string body{};
  std::string want{};  // the whole error, or its beginning when it ends in …
};

class RefusedConfiguration : public ::testing::TestWithParam<Refusal> {};

void expect_error(const Result<Configuration>& config, const std::string& want) {
  ASSERT_FALSE(config.ok());
  const std::string text = to_string(config.error());
  if (want.ends_with("…")) {
    EXPECT_EQ(text.substr(0, want.size() - 3), want.substr(0, want.size() - 3));
  } else {
    EXPECT_EQ(text, want);
  }
}

TEST_P(RefusedConfiguration, NamesTheField) {
  expect_error(parse_configuration(kHead + GetParam().body), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Strict, RefusedConfiguration,
    ::testing::Values(
        Refusal{"unknown", "nameSpace: x", "nameSpace: unknown field"},
        Refusal{"unknown_nested", "webhook: {prot: 1}", "webhook.prot: unknown field"},
        Refusal{"unknown_deep", "waitForPodsReady: {requeuingStrategy: {limit: 1}}",
                "waitForPodsReady.requeuingStrategy.limit: unknown field"},
        Refusal{"unknown_in_list", "metrics: {customLabels: [{name: a, key: b}]}",
                "metrics.customLabels[0].key: unknown field"},
        Refusal{"unknown_own", "muster: {defaultLocalqueue: true}", "muster.defaultLocalqueue: unknown field"},
        Refusal{"v1beta1_field", "waitForPodsReady: {enable: true}", "waitForPodsReady.enable: unknown field"},
        Refusal{"duplicate", "namespace: a\nnamespace: b", "line 4: key \"namespace\" already set in map"},
        Refusal{"two_documents", "---\n" + kHead, "a configuration file holds one document, found 2"},
        Refusal{"wrong_type", "manageJobsWithoutQueueName: maybe",
                "manageJobsWithoutQueueName: expected a boolean, found string"},
        Refusal{"quoted_boolean", "manageJobsWithoutQueueName: 'true'",
                "manageJobsWithoutQueueName: expected a boolean, found string"},
        Refusal{"bad_duration", "waitForPodsReady: {timeout: 5}",
                "waitForPodsReady.timeout: expected a string, found number"},
        Refusal{"bad_unit", "waitForPodsReady: {timeout: 5d}", "waitForPodsReady.timeout: invalid duration \"5d\""}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Values, RefusedConfiguration,
    ::testing::Values(
        Refusal{"kube_system", "managedJobsNamespaceSelector: {}",
                "[managedJobsNamespaceSelector: Invalid value: should not match the \"kube-system\" namespace, …"},
        Refusal{"negative_timeout", "waitForPodsReady: {timeout: -1s}",
                "[waitForPodsReady.timeout: Invalid value: \"-1s\": must be greater than or equal to 0, …"},
        Refusal{
            "negative_backoff", "waitForPodsReady: {requeuingStrategy: {backoffBaseSeconds: -1}}",
            "waitForPodsReady.requeuingStrategy.backoffBaseSeconds: Invalid value: -1: must be greater than or equal "
            "to 0"},
        Refusal{"timestamp", "waitForPodsReady: {requeuingStrategy: {timestamp: Now}}",
                "waitForPodsReady.requeuingStrategy.timestamp: Unsupported value: \"Now\": supported values: "
                "\"Creation\", \"Eviction\""},
        Refusal{"framework", "integrations: {frameworks: [batch/jobs]}",
                "integrations.frameworks[0]: Unsupported value: \"batch/jobs\": supported values: \"batch/job\", …"},
        Refusal{"framework_twice", "integrations: {frameworks: [pod, pod]}",
                "integrations.frameworks[1]: Duplicate value: \"pod\""},
        Refusal{"external", "integrations: {externalFrameworks: [Foo]}",
                "integrations.externalFrameworks[0]: Invalid value: \"Foo\": must be format, 'Kind.version.group.com'"},
        Refusal{"strategies_missing", "fairSharing: {}",
                "fairSharing.preemptionStrategies: Required value: must be specified"},
        Refusal{"strategies_order",
                "fairSharing: {preemptionStrategies: [LessThanInitialShare, LessThanOrEqualToFinalShare]}",
                "fairSharing.preemptionStrategies: Unsupported value: …"},
        Refusal{"sampling", "admissionFairSharing: {usageSamplingInterval: 0s}",
                "admissionFairSharing.usageSamplingInterval: Invalid value: \"0s\": must be greater than 0"},
        Refusal{
            "quota_check", "resources: {quotaCheckStrategy: IgnoreUndeclared, excludeResourcePrefixes: [a]}",
            "resources.excludeResourcePrefixes: Invalid value: [\"a\"]: excludeResourcePrefixes is not allowed when "
            "quotaCheckStrategy is IgnoreUndeclared"},
        Refusal{"transformation_twice", "resources: {transformations: [{input: a}, {input: a}]}",
                "resources.transformations[1].input: Duplicate value: \"a\""},
        Refusal{"output_quantity", "resources: {transformations: [{input: a, outputs: {b: 1x}}]}",
                "resources.transformations[0].outputs.b: quantities must match …"},
        Refusal{"tls", "tls: {minVersion: VersionTLS11}",
                "tls.minVersion: Invalid value: \"VersionTLS11\": invalid minVersion. Please use VersionTLS12 or "
                "VersionTLS13"},
        Refusal{"ciphers", "tls: {minVersion: VersionTLS13, cipherSuites: [X]}",
                "tls.cipherSuites: Invalid value: [\"X\"]: may not be specified when `minVersion` is 'VersionTLS13'"},
        Refusal{"service_name", "internalCertManagement: {webhookServiceName: 1a}",
                "internalCertManagement.webhookServiceName: Invalid value: \"1a\": a DNS-1035 label …"},
        Refusal{"visibility_port", "visibilityServer: {bindPort: 0}",
                "visibilityServer.bindPort: Invalid value: 0: must be a valid port number (1-65535)"},
        Refusal{"visibility_address", "visibilityServer: {bindAddress: localhost}",
                "visibilityServer.bindAddress: Invalid value: \"localhost\": must be a valid IP address"},
        Refusal{
            "step_size_elsewhere", "multiKueue: {incrementalDispatcherConfig: {stepSize: 2}}",
            "multiKueue.incrementalDispatcherConfig: Invalid value: {\"stepSize\":2}: incrementalDispatcherConfig is "
            "only valid when dispatcherName is set to the incremental dispatcher"},
        Refusal{
            "retention", "objectRetentionPolicies: {workloads: {afterFinished: -5s}}",
            "objectRetentionPolicies.workloads.afterFinished: Invalid value: \"-5s\": must be greater than or equal "
            "to 0"},
        Refusal{"custom_label", "metrics: {customLabels: [{name: 1a, sourceLabelKey: team}]}",
                "metrics.customLabels[0].name: Invalid value: \"1a\": must match ^[a-zA-Z][a-zA-Z0-9_]*$"}),
    [](const auto& row) { return row.param.name; });

TEST(RefusedConfiguration, OfAnotherTypeOrVersion) {
  expect_error(parse_configuration("kind: Configuration"), "apiVersion: must be config.kueue.x-k8s.io/v1beta2, …");
  expect_error(parse_configuration("apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration"),
               "apiVersion: v1beta1 is not read: write apiVersion config.kueue.x-k8s.io/v1beta2");
  expect_error(parse_configuration("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Config"),
               "kind: must be Configuration");
  expect_error(parse_configuration("[]"), "a Configuration must be a map");
  expect_error(parse_configuration("just text"), "a Configuration must be a map");
}

}  // namespace
}  // namespace muster::api
