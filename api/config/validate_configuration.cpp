#include "api/config/sections.h"
#include "api/validation/names.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace muster::api {
namespace {

constexpr std::array<std::string_view, 18> kFrameworks = {"batch/job",
                                                          "kubeflow.org/mpijob",
                                                          "ray.io/rayjob",
                                                          "ray.io/rayservice",
                                                          "ray.io/raycluster",
                                                          "jobset.x-k8s.io/jobset",
                                                          "kubeflow.org/paddlejob",
                                                          "kubeflow.org/pytorchjob",
                                                          "kubeflow.org/tfjob",
                                                          "kubeflow.org/xgboostjob",
                                                          "kubeflow.org/jaxjob",
                                                          "trainer.kubeflow.org/trainjob",
                                                          "workload.codeflare.dev/appwrapper",
                                                          "sparkoperator.k8s.io/sparkapplication",
                                                          "pod",
                                                          "deployment",
                                                          "statefulset",
                                                          "leaderworkerset.x-k8s.io/leaderworkerset"};
constexpr std::string_view kIncrementalDispatcher = "kueue.x-k8s.io/multikueue-dispatcher-incremental";
constexpr std::size_t kMaxCustomLabels = 20;
constexpr std::size_t kMaxMappings = 16;
constexpr std::size_t kMaxDeviceClasses = 8;

void check_not_negative(FieldErrors& errors, const std::string& path, std::int64_t value, const std::string& printed) {
  if (value < 0) {
    errors.push_back(invalid_value(path, printed, kNotNegative));
  }
}

void check_duration(FieldErrors& errors, const std::string& path, const std::optional<Duration>& duration) {
  if (duration) {
    check_not_negative(errors, path, duration->count(), format_duration(*duration));
  }
}

FieldErrors check_namespaces(const Configuration& config) {
  const std::string path = "managedJobsNamespaceSelector";
  if (!config.managed_jobs_namespace_selector) {
    return {};
  }
  FieldErrors errors = validate_label_selector(*config.managed_jobs_namespace_selector, path);
  const std::string own = config.ns.empty() ? "kueue-system" : config.ns;
  for (const std::string& ns : {std::string("kube-system"), own}) {
    if (matches(*config.managed_jobs_namespace_selector, {{"kubernetes.io/metadata.name", ns}})) {
      errors.push_back({.path = path, .text = "Invalid value: should not match the \"" + ns + "\" namespace"});
    }
  }
  return errors;
}

bool is_metric_name(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
  });
}

FieldErrors check_tracked_values(const CustomLabel& label, const std::string& path) {
  FieldErrors errors;
  const std::size_t count = label.tracked_values.size();
  if (label.source_kind == "Workload") {
    if (count == 0) {
      errors.push_back(required_value(path, "must not be empty when sourceKind is 'Workload'"));
    } else if (count > 12) {
      errors.push_back(invalid_value(path, count, "must not be greater than 12 when sourceKind is 'Workload'"));
    }
  } else if (count > 16) {
    errors.push_back(too_many(path, count, 16));
  }
  if (std::set(label.tracked_values.begin(), label.tracked_values.end()).size() != count) {
    errors.push_back(invalid_value(path, label.tracked_values, "must not contain duplicates"));
  }
  return errors;
}

FieldErrors check_custom_label(const CustomLabel& label, const std::string& path) {
  FieldErrors errors;
  if (!is_metric_name(label.name)) {
    errors.push_back(invalid_value(at(path, "name"), label.name, "must match ^[a-zA-Z][a-zA-Z0-9_]*$"));
  }
  if (!label.source_label_key.empty() && !label.source_annotation_key.empty()) {
    errors.push_back(invalid_value(path, label.name, "sourceLabelKey and sourceAnnotationKey are mutually exclusive"));
  }
  if (!label.source_label_key.empty()) {
    append(errors, validate_label_key(label.source_label_key, at(path, "sourceLabelKey")));
  } else if (!label.source_annotation_key.empty()) {
    append(errors, validate_label_key(label.source_annotation_key, at(path, "sourceAnnotationKey")));
  }
  static constexpr std::array<std::string_view, 4> kKinds = {"Cohort", "LocalQueue", "ClusterQueue", "Workload"};
  if (std::find(kKinds.begin(), kKinds.end(), label.source_kind) == kKinds.end()) {
    errors.push_back(
        invalid_value(at(path, "sourceKind"), label.source_kind, "unknown source kind: " + label.source_kind));
  }
  append(errors, check_tracked_values(label, at(path, "trackedValues")));
  return errors;
}

FieldErrors check_metrics(const MetricsConfig& metrics) {
  FieldErrors errors;
  const std::string path = "metrics.customLabels";
  if (metrics.custom_labels.size() > kMaxCustomLabels) {
    errors.push_back(too_many(path, metrics.custom_labels.size(), kMaxCustomLabels));
  }
  if (metrics.local_queue_selector) {
    append(errors,
           validate_label_selector(*metrics.local_queue_selector, "metrics.localQueueMetrics.localQueueSelector"));
  }
  std::set<std::string> names;
  std::map<std::string, std::size_t> per_kind;
  for (std::size_t i = 0; i < metrics.custom_labels.size(); ++i) {
    const CustomLabel& label = metrics.custom_labels[i];
    append(errors, check_custom_label(label, at(path, i)));
    if (!names.insert(label.name).second) {
      errors.push_back(duplicate_value(at(at(path, i), "name"), label.name));
    }
    ++per_kind[label.source_kind];
  }
  for (const auto& [kind, count] : per_kind) {
    const std::size_t max = kind == "Workload" ? 2 : 6;
    if (count > max) {
      errors.push_back(invalid_value(path, count,
                                     "too many custom labels for source kind " + kind + ": found " +
                                         std::to_string(count) + ", expected <= " + std::to_string(max)));
    }
  }
  return errors;
}

FieldErrors check_tls(const TlsConfig& tls) {
  FieldErrors errors;
  if (!tls.min_version.empty() && tls.min_version != "VersionTLS12" && tls.min_version != "VersionTLS13") {
    errors.push_back(invalid_value("tls.minVersion", tls.min_version,
                                   "invalid minVersion. Please use VersionTLS12 or VersionTLS13"));
  }
  if (tls.min_version == "VersionTLS13" && !tls.cipher_suites.empty()) {
    errors.push_back(invalid_value("tls.cipherSuites", tls.cipher_suites,
                                   "may not be specified when `minVersion` is 'VersionTLS13'"));
  }
  return errors;
}

FieldErrors check_certificates(const CertificateConfig& certificates) {
  FieldErrors errors;
  if (!certificates.enable) {
    return errors;
  }
  for (const std::string& problem : dns_label_1035_problems(certificates.webhook_service_name)) {
    errors.push_back(
        invalid_value("internalCertManagement.webhookServiceName", certificates.webhook_service_name, problem));
  }
  for (const std::string& problem : dns_subdomain_problems(certificates.webhook_secret_name)) {
    errors.push_back(
        invalid_value("internalCertManagement.webhookSecretName", certificates.webhook_secret_name, problem));
  }
  return errors;
}

FieldErrors check_pods_ready(const WaitForPodsReadyConfig& wait) {
  FieldErrors errors;
  check_duration(errors, "waitForPodsReady.timeout", wait.timeout);
  check_duration(errors, "waitForPodsReady.recoveryTimeout", wait.recovery_timeout);
  const std::string path = "waitForPodsReady.requeuingStrategy";
  const auto check_count = [&](std::string_view field, std::int32_t value) {
    if (value < 0) {
      errors.push_back(invalid_value(at(path, field), value, kNotNegative));
    }
  };
  check_count("backoffLimitCount", wait.backoff_limit_count.value_or(0));
  check_count("backoffBaseSeconds", wait.backoff_base_seconds);
  check_count("backoffMaxSeconds", wait.backoff_max_seconds);
  return errors;
}

// `Kind.version.group.com`
bool is_kind_version_group(const std::string& name) {
  const std::size_t first = name.find('.');
  const std::size_t second = first == std::string::npos ? first : name.find('.', first + 1);
  return first != 0 && second != std::string::npos && second > first + 1 && second + 1 < name.size();
}

FieldErrors check_integrations(const IntegrationsConfig& integrations) {
  FieldErrors errors;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < integrations.frameworks.size(); ++i) {
    const std::string& name = integrations.frameworks[i];
    const std::string path = at("integrations.frameworks", i);
    if (std::find(kFrameworks.begin(), kFrameworks.end(), name) == kFrameworks.end()) {
      errors.push_back(not_supported(path, name, {kFrameworks.begin(), kFrameworks.end()}));
    } else if (!seen.insert(name).second) {
      errors.push_back(duplicate_value(path, name));
    }
  }
  for (std::size_t i = 0; i < integrations.external_frameworks.size(); ++i) {
    const std::string& name = integrations.external_frameworks[i];
    const std::string path = at("integrations.externalFrameworks", i);
    if (!is_kind_version_group(name)) {
      errors.push_back(invalid_value(path, name, "must be format, 'Kind.version.group.com'"));
    } else if (!seen.insert(name).second) {
      errors.push_back(duplicate_value(path, name));
    }
  }
  return errors;
}

FieldErrors check_multi_kueue(const MultiKueueConfig& multi, const Json& document) {
  FieldErrors errors;
  check_duration(errors, "multiKueue.gcInterval", multi.gc_interval);
  check_duration(errors, "multiKueue.workerLostTimeout", multi.worker_lost_timeout);
  for (const std::string& problem : label_value_problems(multi.origin)) {
    errors.push_back(invalid_value("multiKueue.origin", multi.origin, problem));
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < multi.external_frameworks.size(); ++i) {
    const std::string& name = multi.external_frameworks[i];
    const std::string path = at("multiKueue.externalFrameworks", i) + ".name";
    if (!is_kind_version_group(name)) {
      errors.push_back(invalid_value(path, name, "must be in 'kind.version.group' format"));
    } else if (!seen.insert(name).second) {
      errors.push_back(duplicate_value(path, name));
    }
  }
  const std::string path = "multiKueue.incrementalDispatcherConfig";
  const Json::json_pointer pointer("/multiKueue/incrementalDispatcherConfig");
  if (document.contains(pointer) && multi.dispatcher_name != kIncrementalDispatcher) {
    errors.push_back(invalid_value(path, document.at(pointer),
                                   "incrementalDispatcherConfig is only valid when dispatcherName is set to the "
                                   "incremental dispatcher"));
  }
  if (multi.incremental_step_size < 1) {
    errors.push_back(
        invalid_value(at(path, "stepSize"), multi.incremental_step_size, "must be greater than or equal to 1"));
  }
  return errors;
}

FieldErrors check_sharing(const Configuration& config) {
  FieldErrors errors;
  if (config.fair_sharing) {
    const std::vector<std::string>& given = config.fair_sharing->preemption_strategies;
    const std::string final_share = "LessThanOrEqualToFinalShare";
    const std::string initial_share = "LessThanInitialShare";
    const std::string path = "fairSharing.preemptionStrategies";
    if (given.empty()) {
      errors.push_back(required_value(path, "must be specified"));
    } else if (given != std::vector{final_share} && given != std::vector{initial_share} &&
               given != std::vector{final_share, initial_share}) {
      errors.push_back(not_supported(path, given, {final_share, initial_share, final_share + "," + initial_share}));
    }
  }
  if (config.admission_fair_sharing) {
    const AdmissionFairSharingConfig& sharing = *config.admission_fair_sharing;
    check_duration(errors, "admissionFairSharing.usageHalfLifeTime", sharing.usage_half_life_time);
    if (sharing.usage_sampling_interval <= Duration{0}) {
      errors.push_back(invalid_value("admissionFairSharing.usageSamplingInterval",
                                     format_duration(sharing.usage_sampling_interval), "must be greater than 0"));
    }
    for (const auto& [resource, weight] : sharing.resource_weights) {
      if (weight < 0) {
        errors.push_back(invalid_value(at_key("admissionFairSharing.resourceWeights", resource), weight, kNotNegative));
      }
    }
  }
  return errors;
}

FieldErrors check_device_mapping(const DeviceClassMapping& mapping, const std::string& path) {
  FieldErrors errors = validate_label_key(mapping.name, at(path, "name"));
  const std::string classes = at(path, "deviceClassNames");
  if (mapping.device_class_names.empty()) {
    errors.push_back(required_value(classes, "at least one device class name is required"));
  } else if (mapping.device_class_names.size() > kMaxDeviceClasses) {
    errors.push_back(too_many(classes, mapping.device_class_names.size(), kMaxDeviceClasses));
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < mapping.device_class_names.size(); ++i) {
    append(errors, validate_label_key(mapping.device_class_names[i], at(classes, i)));
    if (!seen.insert(mapping.device_class_names[i]).second) {
      errors.push_back(duplicate_value(at(classes, i), mapping.device_class_names[i]));
    }
  }
  return errors;
}

FieldErrors check_resources(const ResourcesConfig& resources) {
  FieldErrors errors;
  if (resources.quota_check_strategy == QuotaCheckStrategy::kIgnoreUndeclared &&
      !resources.exclude_resource_prefixes.empty()) {
    errors.push_back(
        invalid_value("resources.excludeResourcePrefixes", resources.exclude_resource_prefixes,
                      "excludeResourcePrefixes is not allowed when quotaCheckStrategy is IgnoreUndeclared"));
  }
  std::set<std::string> inputs;
  for (std::size_t i = 0; i < resources.transformations.size(); ++i) {
    if (!inputs.insert(resources.transformations[i].input).second) {
      errors.push_back(
          duplicate_value(at(at("resources.transformations", i), "input"), resources.transformations[i].input));
    }
  }
  const std::string mappings = "resources.deviceClassMappings";
  if (resources.device_class_mappings.size() > kMaxMappings) {
    errors.push_back(too_many(mappings, resources.device_class_mappings.size(), kMaxMappings));
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < resources.device_class_mappings.size(); ++i) {
    const DeviceClassMapping& mapping = resources.device_class_mappings[i];
    append(errors, check_device_mapping(mapping, at(mappings, i)));
    if (!names.insert(mapping.name).second) {
      errors.push_back(duplicate_value(at(at(mappings, i), "name"), mapping.name));
    }
  }
  return errors;
}

bool is_ip_address(const std::string& text) {
  const bool v6 = text.find(':') != std::string::npos;
  const std::string_view allowed = v6 ? "0123456789abcdefABCDEF:." : "0123456789.";
  const bool chars_ok = text.find_first_not_of(allowed) == std::string::npos;
  if (v6 || !chars_ok) {
    return chars_ok && std::count(text.begin(), text.end(), ':') >= 2;
  }
  int parts = 0;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find('.', start), text.size());
    const std::string part = text.substr(start, end - start);
    if (part.empty() || part.size() > 3 || std::stoi(part) > 255 || (part.size() > 1 && part[0] == '0')) {
      return false;
    }
    ++parts;
    start = end + 1;
  }
  return parts == 4;
}

FieldErrors check_visibility(const VisibilityConfig& visibility) {
  FieldErrors errors;
  if (!visibility.bind_address.empty() && !is_ip_address(visibility.bind_address)) {
    errors.push_back(
        invalid_value("visibilityServer.bindAddress", visibility.bind_address, "must be a valid IP address"));
  }
  if (visibility.bind_port < 1 || visibility.bind_port > 65535) {
    errors.push_back(
        invalid_value("visibilityServer.bindPort", visibility.bind_port, "must be a valid port number (1-65535)"));
  }
  return errors;
}

}  // namespace

FieldErrors validate_configuration(const Configuration& config, const Json& document) {
  FieldErrors errors = check_namespaces(config);
  append(errors, check_metrics(config.metrics));
  append(errors, check_tls(config.tls));
  append(errors, check_certificates(config.internal_cert_management));
  if (config.wait_for_pods_ready) {
    append(errors, check_pods_ready(*config.wait_for_pods_ready));
  }
  append(errors, check_integrations(config.integrations));
  append(errors, check_multi_kueue(config.multi_kueue, document));
  append(errors, check_sharing(config));
  append(errors, check_resources(config.resources));
  check_duration(errors, "objectRetentionPolicies.workloads.afterFinished", config.retention.after_finished);
  check_duration(errors, "objectRetentionPolicies.workloads.afterDeactivatedByKueue",
                 config.retention.after_deactivated_by_kueue);
  append(errors, check_visibility(config.visibility));
  return errors;
}

}  // namespace muster::api
