// The manager's configuration file: Kueue's `config.kueue.x-k8s.io/v1beta2` Configuration, field for field
// (spec/api.md §9.1), with its defaults. Read once at start, a plain value afterwards. Fields of features that Muster
// does not have yet are checked and kept. Muster's own additions stand under the top-level key `muster`.
#pragma once

#include "api/core/meta.h"
#include "base/result.h"
#include "base/time.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::api {

struct WebhookConfig {
  std::int32_t port = 9443;
  std::string host{};
  std::string cert_dir = "/tmp/k8s-webhook-server/serving-certs";
};

struct LeaderElectionConfig {
  bool leader_elect = true;
  Duration lease_duration{15'000};
  Duration renew_deadline{10'000};
  Duration retry_period{2'000};
  std::string resource_lock = "leases";
  std::string resource_name = "c1f6bfd2.kueue.x-k8s.io";
  std::string resource_namespace{};
};

struct CustomLabel {
  std::string name{};
  std::string source_label_key{};
  std::string source_annotation_key{};
  std::string source_kind = "ClusterQueue";
  std::vector<std::string> tracked_values{};
};

struct MetricsConfig {
  std::string bind_address = ":8443";  // "0" switches the endpoint off
  bool enable_cluster_queue_resources = false;
  bool local_queue_metrics = true;
  std::optional<LabelSelector> local_queue_selector{};  // absent: all
  std::vector<CustomLabel> custom_labels{};
};

struct HealthConfig {
  std::string bind_address = ":8081";
  std::string readiness_endpoint = "readyz";
  std::string liveness_endpoint = "healthz";
};

struct TlsConfig {
  std::string min_version{};  // empty: VersionTLS12
  std::vector<std::string> cipher_suites{};
  std::vector<std::int32_t> curve_preferences{};
};

struct CertificateConfig {
  bool enable = true;
  std::string webhook_service_name = "kueue-webhook-service";
  std::string webhook_secret_name = "kueue-webhook-server-cert";
};

enum class RequeueTimestamp { kEviction, kCreation };

struct WaitForPodsReadyConfig {
  Duration timeout{30 * 60'000};
  bool block_admission = false;
  Duration recovery_timeout{30 * 60'000};  // zero switches it off
  RequeueTimestamp timestamp = RequeueTimestamp::kEviction;
  std::optional<std::int32_t> backoff_limit_count{};  // absent: endless
  std::int32_t backoff_base_seconds = 60;
  std::int32_t backoff_max_seconds = 3600;
};

struct ClientConnectionConfig {
  double qps = 300;  // negative: unlimited
  std::int32_t burst = 500;
};

struct IntegrationsConfig {
  std::vector<std::string> frameworks = {"batch/job"};
  std::vector<std::string> external_frameworks{};  // Kind.version.group
  std::vector<std::string> label_keys_to_copy{};
};

struct MultiKueueConfig {
  Duration gc_interval{60'000};
  std::string origin = "multikueue";
  Duration worker_lost_timeout{15 * 60'000};
  std::string dispatcher_name = "kueue.x-k8s.io/multikueue-dispatcher-all-at-once";
  std::vector<std::string> external_frameworks{};
  std::int32_t incremental_step_size = 3;
};

struct FairSharingConfig {
  std::vector<std::string> preemption_strategies{};
};

struct AdmissionFairSharingConfig {
  Duration usage_half_life_time{};
  Duration usage_sampling_interval{5 * 60'000};
  std::map<std::string, double> resource_weights{};  // 1 where not listed
};

enum class TransformationStrategy { kRetain, kReplace };

struct ResourceTransformation {
  std::string input{};
  TransformationStrategy strategy = TransformationStrategy::kRetain;
  std::string multiply_by{};
  std::map<std::string, std::string> outputs{};  // resource -> quantity, checked
};

struct DeviceClassMapping {
  std::string name{};
  std::vector<std::string> device_class_names{};
};

enum class QuotaCheckStrategy { kBlockUndeclared, kIgnoreUndeclared };

struct ResourcesConfig {
  QuotaCheckStrategy quota_check_strategy = QuotaCheckStrategy::kBlockUndeclared;
  std::vector<std::string> exclude_resource_prefixes{};
  std::vector<ResourceTransformation> transformations{};
  std::vector<DeviceClassMapping> device_class_mappings{};
};

struct VisibilityConfig {
  std::string bind_address{};  // empty: every interface
  std::int32_t bind_port = 8082;
};

struct RetentionConfig {
  std::optional<Duration> after_finished{};  // absent: never deleted
  std::optional<Duration> after_deactivated_by_kueue{};
};

// Ours: what Kueue switches with means of its own.
struct MusterConfig {
  bool default_local_queue = false;  // jobs without a queue label use the LocalQueue `default` of their namespace
};

struct Configuration {
  std::string ns{};  // empty: the pod's own namespace, else kueue-system
  bool manage_jobs_without_queue_name = false;
  std::optional<LabelSelector> managed_jobs_namespace_selector{};  // absent: all but kube-system and the manager's own
  WebhookConfig webhook{};
  LeaderElectionConfig leader_election{};
  MetricsConfig metrics{};
  HealthConfig health{};
  std::string pprof_bind_address{};
  std::map<std::string, std::int32_t> group_kind_concurrency{};
  std::optional<std::int64_t> cache_sync_timeout_ns{};
  TlsConfig tls{};
  CertificateConfig internal_cert_management{};
  std::optional<WaitForPodsReadyConfig> wait_for_pods_ready = WaitForPodsReadyConfig{};
  ClientConnectionConfig client_connection{};
  IntegrationsConfig integrations{};
  MultiKueueConfig multi_kueue{};
  std::optional<FairSharingConfig> fair_sharing{};                     // present: on
  std::optional<AdmissionFairSharingConfig> admission_fair_sharing{};  // present: on
  ResourcesConfig resources{};
  std::map<std::string, bool> feature_gates{};
  RetentionConfig retention{};
  VisibilityConfig visibility{};
  MusterConfig muster{};
};

// Strict: an unknown or duplicate field, a wrong apiVersion or kind, more than one document, or a value that Kueue
// refuses is an error with the field's path. An empty text gives the defaults.
Result<Configuration> parse_configuration(std::string_view yaml);

// The selector in force: the given one, or every namespace but kube-system and `own_namespace`.
LabelSelector managed_namespaces(const Configuration& configuration, const std::string& own_namespace);

}  // namespace muster::api
