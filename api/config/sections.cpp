#include "api/config/sections.h"

#include "api/codec/parts.h"

#include <nlohmann/json.hpp>

namespace muster::api {
namespace {

constexpr EnumNames<RequeueTimestamp, 2> kTimestampNames = {
    {{RequeueTimestamp::kCreation, "Creation"}, {RequeueTimestamp::kEviction, "Eviction"}}};
constexpr EnumNames<TransformationStrategy, 2> kTransformationNames = {
    {{TransformationStrategy::kRetain, "Retain"}, {TransformationStrategy::kReplace, "Replace"}}};
constexpr EnumNames<QuotaCheckStrategy, 2> kQuotaCheckNames = {
    {{QuotaCheckStrategy::kBlockUndeclared, "BlockUndeclared"},
     {QuotaCheckStrategy::kIgnoreUndeclared, "IgnoreUndeclared"}}};

// A string that is defaulted when absent and when empty.
std::string text_or(const Reader& reader, std::string_view key, const std::string& fallback) {
  const std::string value = reader.text(key);
  return value.empty() ? fallback : value;
}

std::optional<double> number_of(const Reader& reader, std::string_view key) {
  const Json* member = reader.raw(key);
  if (member == nullptr) {
    return std::nullopt;
  }
  if (!member->is_number()) {
    reader.fail(key, "expected a number");
    return std::nullopt;
  }
  return member->get<double>();
}

CustomLabel read_custom_label(const Reader& label) {
  label.allow_only({"name", "sourceLabelKey", "sourceAnnotationKey", "sourceKind", "trackedValues"});
  return {.name = label.text("name"),
          .source_label_key = label.text("sourceLabelKey"),
          .source_annotation_key = label.text("sourceAnnotationKey"),
          .source_kind = text_or(label, "sourceKind", "ClusterQueue"),
          .tracked_values = label.strings("trackedValues")};
}

ResourceTransformation read_transformation(const Reader& rule) {
  rule.allow_only({"input", "strategy", "multiplyBy", "outputs"});
  ResourceTransformation result{
      .input = rule.text("input"),
      .strategy = rule.one_of("strategy", kTransformationNames, TransformationStrategy::kRetain),
      .multiply_by = rule.text("multiplyBy")};
  const Reader outputs = rule.child("outputs");
  if (outputs.present()) {
    for (const auto& entry : outputs.value()->items()) {
      outputs.maybe_nano(entry.key());  // reports a malformed quantity
      result.outputs.emplace(entry.key(), outputs.maybe_quantity(entry.key()).value_or("0"));
    }
  }
  return result;
}

DeviceClassMapping read_device_mapping(const Reader& mapping) {
  mapping.allow_only({"name", "deviceClassNames", "sources"});
  mapping.list("sources", [](const Reader& source) {
    source.allow_only({"counter", "capacity"});
    return 0;
  });
  return {.name = mapping.text("name"), .device_class_names = mapping.strings("deviceClassNames")};
}

}  // namespace

std::optional<LabelSelector> read_strict_selector(const Reader& parent, std::string_view key) {
  const Reader selector = parent.child(key);
  if (!selector.present()) {
    return std::nullopt;
  }
  selector.allow_only({"matchLabels", "matchExpressions"});
  selector.list("matchExpressions", [](const Reader& requirement) {
    requirement.allow_only({"key", "operator", "values"});
    return 0;
  });
  return read_label_selector(selector);
}

std::map<std::string, std::int32_t> read_int32_map(const Reader& parent, std::string_view key) {
  std::map<std::string, std::int32_t> map;
  const Reader object = parent.child(key);
  if (object.present()) {
    for (const auto& entry : object.value()->items()) {
      map.emplace(entry.key(), object.int32(entry.key()));
    }
  }
  return map;
}

std::map<std::string, double> read_number_map(const Reader& parent, std::string_view key) {
  std::map<std::string, double> map;
  const Reader object = parent.child(key);
  if (object.present()) {
    for (const auto& entry : object.value()->items()) {
      map.emplace(entry.key(), number_of(object, entry.key()).value_or(0));
    }
  }
  return map;
}

WebhookConfig read_webhook(const Reader& root) {
  const Reader webhook = root.child("webhook");
  webhook.allow_only({"port", "host", "certDir"});
  const WebhookConfig defaults;
  return {.port = webhook.int32("port", defaults.port),
          .host = webhook.text("host"),
          .cert_dir = text_or(webhook, "certDir", defaults.cert_dir)};
}

LeaderElectionConfig read_leader_election(const Reader& root) {
  const Reader election = root.child("leaderElection");
  election.allow_only({"leaderElect", "leaseDuration", "renewDeadline", "retryPeriod", "resourceLock", "resourceName",
                       "resourceNamespace"});
  const LeaderElectionConfig defaults;
  return {.leader_elect = election.boolean("leaderElect", defaults.leader_elect),
          .lease_duration = election.maybe_duration("leaseDuration").value_or(defaults.lease_duration),
          .renew_deadline = election.maybe_duration("renewDeadline").value_or(defaults.renew_deadline),
          .retry_period = election.maybe_duration("retryPeriod").value_or(defaults.retry_period),
          .resource_lock = text_or(election, "resourceLock", defaults.resource_lock),
          .resource_name = text_or(election, "resourceName", defaults.resource_name),
          .resource_namespace = election.text("resourceNamespace")};
}

MetricsConfig read_metrics(const Reader& root) {
  const Reader metrics = root.child("metrics");
  metrics.allow_only({"bindAddress", "enableClusterQueueResources", "localQueueMetrics", "customLabels"});
  const Reader local = metrics.child("localQueueMetrics");
  local.allow_only({"enable", "localQueueSelector"});
  const MetricsConfig defaults;
  return {.bind_address = text_or(metrics, "bindAddress", defaults.bind_address),
          .enable_cluster_queue_resources = metrics.boolean("enableClusterQueueResources"),
          .local_queue_metrics = local.present() ? local.boolean("enable") : defaults.local_queue_metrics,
          .local_queue_selector = read_strict_selector(local, "localQueueSelector"),
          .custom_labels = metrics.list("customLabels", read_custom_label)};
}

HealthConfig read_health(const Reader& root) {
  const Reader health = root.child("health");
  health.allow_only({"healthProbeBindAddress", "readinessEndpointName", "livenessEndpointName"});
  const HealthConfig defaults;
  return {.bind_address = text_or(health, "healthProbeBindAddress", defaults.bind_address),
          .readiness_endpoint = text_or(health, "readinessEndpointName", defaults.readiness_endpoint),
          .liveness_endpoint = text_or(health, "livenessEndpointName", defaults.liveness_endpoint)};
}

TlsConfig read_tls(const Reader& root) {
  const Reader tls = root.child("tls");
  tls.allow_only({"minVersion", "cipherSuites", "curvePreferences"});
  TlsConfig result{.min_version = tls.text("minVersion"), .cipher_suites = tls.strings("cipherSuites")};
  const Json* curves = tls.raw("curvePreferences");
  for (std::size_t i = 0; curves != nullptr && curves->is_array() && i < curves->size(); ++i) {
    const Json& id = (*curves)[i];
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0 || id.get<std::int64_t>() > 0xffff) {
      tls.fail("curvePreferences[" + std::to_string(i) + "]", "invalid curve preferences");
      break;
    }
    result.curve_preferences.push_back(id.get<std::int32_t>());
  }
  return result;
}

CertificateConfig read_certificates(const Reader& root) {
  const Reader certificates = root.child("internalCertManagement");
  certificates.allow_only({"enable", "webhookServiceName", "webhookSecretName"});
  const CertificateConfig defaults;
  return {.enable = certificates.boolean("enable", defaults.enable),
          .webhook_service_name = text_or(certificates, "webhookServiceName", defaults.webhook_service_name),
          .webhook_secret_name = text_or(certificates, "webhookSecretName", defaults.webhook_secret_name)};
}

std::optional<WaitForPodsReadyConfig> read_wait_for_pods_ready(const Reader& root) {
  const Reader wait = root.child("waitForPodsReady");
  wait.allow_only({"timeout", "blockAdmission", "recoveryTimeout", "requeuingStrategy"});
  const Reader requeuing = wait.child("requeuingStrategy");
  requeuing.allow_only({"timestamp", "backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds"});
  const WaitForPodsReadyConfig defaults;
  Duration timeout = wait.maybe_duration("timeout").value_or(defaults.timeout);
  if (timeout == Duration{0}) {
    timeout = defaults.timeout;
  }
  return WaitForPodsReadyConfig{
      .timeout = timeout,
      .block_admission = wait.boolean("blockAdmission"),
      .recovery_timeout = wait.maybe_duration("recoveryTimeout").value_or(timeout),
      .timestamp = requeuing.one_of("timestamp", kTimestampNames, defaults.timestamp),
      .backoff_limit_count = requeuing.maybe_int32("backoffLimitCount"),
      .backoff_base_seconds = requeuing.int32("backoffBaseSeconds", defaults.backoff_base_seconds),
      .backoff_max_seconds = requeuing.int32("backoffMaxSeconds", defaults.backoff_max_seconds)};
}

ClientConnectionConfig read_client_connection(const Reader& root) {
  const Reader connection = root.child("clientConnection");
  connection.allow_only({"qps", "burst"});
  const ClientConnectionConfig defaults;
  return {.qps = number_of(connection, "qps").value_or(defaults.qps),
          .burst = connection.int32("burst", defaults.burst)};
}

IntegrationsConfig read_integrations(const Reader& root) {
  const Reader integrations = root.child("integrations");
  integrations.allow_only({"frameworks", "externalFrameworks", "labelKeysToCopy"});
  IntegrationsConfig result{.external_frameworks = integrations.strings("externalFrameworks"),
                            .label_keys_to_copy = integrations.strings("labelKeysToCopy")};
  if (integrations.has("frameworks")) {
    result.frameworks = integrations.strings("frameworks");
  }
  return result;
}

MultiKueueConfig read_multi_kueue(const Reader& root) {
  const Reader multi = root.child("multiKueue");
  multi.allow_only({"gcInterval", "origin", "workerLostTimeout", "dispatcherName", "externalFrameworks",
                    "clusterProfile", "incrementalDispatcherConfig"});
  multi.child("clusterProfile").allow_only({"accessProviders", "credentialsProviders"});
  const Reader incremental = multi.child("incrementalDispatcherConfig");
  incremental.allow_only({"stepSize"});
  const MultiKueueConfig defaults;
  return {.gc_interval = multi.maybe_duration("gcInterval").value_or(defaults.gc_interval),
          .origin = text_or(multi, "origin", defaults.origin),
          .worker_lost_timeout = multi.maybe_duration("workerLostTimeout").value_or(defaults.worker_lost_timeout),
          .dispatcher_name = text_or(multi, "dispatcherName", defaults.dispatcher_name),
          .external_frameworks = multi.list("externalFrameworks",
                                            [](const Reader& framework) {
                                              framework.allow_only({"name"});
                                              return framework.text("name");
                                            }),
          .incremental_step_size = incremental.int32("stepSize", defaults.incremental_step_size)};
}

std::optional<FairSharingConfig> read_fair_sharing(const Reader& root) {
  const Reader sharing = root.child("fairSharing");
  if (!sharing.present()) {
    return std::nullopt;
  }
  sharing.allow_only({"preemptionStrategies"});
  return FairSharingConfig{.preemption_strategies = sharing.strings("preemptionStrategies")};
}

std::optional<AdmissionFairSharingConfig> read_admission_fair_sharing(const Reader& root) {
  const Reader sharing = root.child("admissionFairSharing");
  if (!sharing.present()) {
    return std::nullopt;
  }
  sharing.allow_only({"usageHalfLifeTime", "usageSamplingInterval", "resourceWeights"});
  const AdmissionFairSharingConfig defaults;
  return AdmissionFairSharingConfig{
      .usage_half_life_time = sharing.maybe_duration("usageHalfLifeTime").value_or(defaults.usage_half_life_time),
      .usage_sampling_interval =
          sharing.maybe_duration("usageSamplingInterval").value_or(defaults.usage_sampling_interval),
      .resource_weights = read_number_map(sharing, "resourceWeights")};
}

ResourcesConfig read_resources(const Reader& root) {
  const Reader resources = root.child("resources");
  resources.allow_only({"quotaCheckStrategy", "excludeResourcePrefixes", "transformations", "deviceClassMappings"});
  return {.quota_check_strategy =
              resources.one_of("quotaCheckStrategy", kQuotaCheckNames, QuotaCheckStrategy::kBlockUndeclared),
          .exclude_resource_prefixes = resources.strings("excludeResourcePrefixes"),
          .transformations = resources.list("transformations", read_transformation),
          .device_class_mappings = resources.list("deviceClassMappings", read_device_mapping)};
}

std::map<std::string, bool> read_feature_gates(const Reader& root) {
  std::map<std::string, bool> gates;
  const Reader object = root.child("featureGates");
  if (object.present()) {
    for (const auto& entry : object.value()->items()) {
      gates.emplace(entry.key(), object.boolean(entry.key()));
    }
  }
  return gates;
}

RetentionConfig read_retention(const Reader& root) {
  const Reader policies = root.child("objectRetentionPolicies");
  policies.allow_only({"workloads"});
  const Reader workloads = policies.child("workloads");
  workloads.allow_only({"afterFinished", "afterDeactivatedByKueue"});
  return {.after_finished = workloads.maybe_duration("afterFinished"),
          .after_deactivated_by_kueue = workloads.maybe_duration("afterDeactivatedByKueue")};
}

VisibilityConfig read_visibility(const Reader& root) {
  const Reader server = root.child("visibilityServer");
  server.allow_only({"bindAddress", "bindPort"});
  const VisibilityConfig defaults;
  return {.bind_address = server.text("bindAddress"), .bind_port = server.int32("bindPort", defaults.bind_port)};
}

MusterConfig read_muster(const Reader& root) {
  const Reader own = root.child("muster");
  own.allow_only({"defaultLocalQueue"});
  return {.default_local_queue = own.boolean("defaultLocalQueue")};
}

}  // namespace muster::api
