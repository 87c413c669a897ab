#include "cmd/settings.h"

#include <algorithm>

namespace muster::cmd {

namespace {

bool enabled(const api::Configuration& configuration, const std::string& framework) {
  const auto& list = configuration.integrations.frameworks;
  return std::find(list.begin(), list.end(), framework) != list.end();
}

}  // namespace

framework::CoreOptions core_options(const api::Configuration& configuration) {
  return {.totals = {.exclude_prefixes = configuration.resources.exclude_resource_prefixes}};
}

framework::PluginDeps plugin_deps(const api::Configuration& configuration) {
  return {.feature_gates = configuration.feature_gates,
          .ignore_undeclared_resources =
              configuration.resources.quota_check_strategy == api::QuotaCheckStrategy::kIgnoreUndeclared};
}

controllers::ControllerOptions controller_options(const api::Configuration& configuration,
                                                  const std::string& own_namespace) {
  controllers::ControllerOptions options{
      .manage_jobs_without_queue_name = configuration.manage_jobs_without_queue_name,
      .managed_namespaces = api::managed_namespaces(configuration, own_namespace),
      .batch_jobs = enabled(configuration, "batch/job"),
      .pods = enabled(configuration, "pod"),
      .label_keys_to_copy = configuration.integrations.label_keys_to_copy,
      .retain_finished = configuration.retention.after_finished,
      .retain_deactivated = configuration.retention.after_deactivated_by_kueue};
  const auto gate = configuration.feature_gates.find("DisableWaitForPodsReady");
  const bool disabled = gate != configuration.feature_gates.end() && gate->second;
  if (configuration.wait_for_pods_ready && !disabled) {
    const api::WaitForPodsReadyConfig& from = *configuration.wait_for_pods_ready;
    options.wait_for_pods_ready = controllers::PodsReadyOptions{.timeout = from.timeout,
                                                                .recovery_timeout = from.recovery_timeout,
                                                                .backoff_limit = from.backoff_limit_count,
                                                                .backoff_base_seconds = from.backoff_base_seconds,
                                                                .backoff_max_seconds = from.backoff_max_seconds};
  }
  return options;
}

client::ExecutorOptions executor_options(const api::Configuration& configuration) {
  const double qps = configuration.client_connection.qps;
  client::ExecutorOptions options;
  options.rate = {.per_second = qps < 0 ? 1e9 : qps, .burst = static_cast<double>(configuration.client_connection.burst)};
  return options;
}

client::LeaseOptions lease_options(const api::Configuration& configuration, const std::string& own_namespace,
                                   std::string identity) {
  const api::LeaderElectionConfig& from = configuration.leader_election;
  return {.ns = from.resource_namespace.empty() ? own_namespace : from.resource_namespace,
          .name = from.resource_name,
          .identity = std::move(identity),
          .lease_duration = from.lease_duration,
          .renew_deadline = from.renew_deadline,
          .retry_period = from.retry_period};
}

std::vector<std::string> unsupported(const api::Configuration& configuration) {
  std::vector<std::string> notes;
  for (const std::string& framework : configuration.integrations.frameworks) {
    if (framework != "batch/job" && framework != "pod") {
      notes.push_back("integrations.frameworks: \"" + framework + "\" is not supported yet and is ignored");
    }
  }
  if (configuration.fair_sharing) {
    notes.emplace_back("fairSharing is not supported yet: the classical order applies");
  }
  if (configuration.admission_fair_sharing) {
    notes.emplace_back("admissionFairSharing is not supported yet and is ignored");
  }
  if (!configuration.resources.transformations.empty()) {
    notes.emplace_back("resources.transformations are not supported yet and are ignored");
  }
  if (configuration.wait_for_pods_ready && configuration.wait_for_pods_ready->block_admission) {
    notes.emplace_back("waitForPodsReady.blockAdmission is not supported yet and is ignored");
  }
  if (!configuration.tls.min_version.empty() || !configuration.tls.cipher_suites.empty() ||
      !configuration.tls.curve_preferences.empty()) {
    notes.emplace_back("tls: minVersion, cipherSuites and curvePreferences are not supported yet: TLS 1.2 and later, OpenSSL's defaults");
  }
  return notes;
}

}  // namespace muster::cmd
