#include "cmd/settings.h"

#include "base/quantity.h"

#include <utility>

namespace muster::cmd {

namespace {

framework::Transformations transformations(const api::ResourcesConfig& resources) {
  framework::Transformations rules;
  for (const api::ResourceTransformation& from : resources.transformations) {
    framework::Transformation rule{.keeps_input = from.strategy == api::TransformationStrategy::kRetain,
                                   .multiply_by = from.multiply_by};
    for (const auto& [resource, quantity] : from.outputs) {
      rule.outputs.emplace(resource, parse_wide_nano(quantity).value());  // checked when it was parsed
    }
    rules.emplace(from.input, std::move(rule));
  }
  return rules;
}

}  // namespace

framework::CoreOptions core_options(const api::Configuration& configuration) {
  const framework::PluginDeps deps = plugin_deps(configuration);
  framework::CoreOptions options{
      .totals = {.exclude_prefixes = configuration.resources.exclude_resource_prefixes,
                 .transformations = transformations(configuration.resources),
                 .partial_admission = deps.feature("PartialAdmission", true)},
      .cycle = {.keep_progress_when_skipped = deps.feature("FlavorFungibilityPreserveScanProgress", true),
                .recompute_on_overlap = deps.feature("RecomputeAssignmentUponPreemptionTargetsOverlap", true)}};
  if (configuration.admission_fair_sharing && deps.feature("AdmissionFairSharing", true)) {
    options.admission_fair_sharing = framework::usage_rules(*configuration.admission_fair_sharing);
  }
  return options;
}

framework::PluginDeps plugin_deps(const api::Configuration& configuration) {
  return {.feature_gates = configuration.feature_gates,
          .fair_sharing = configuration.fair_sharing,
          .ignore_undeclared_resources =
              configuration.resources.quota_check_strategy == api::QuotaCheckStrategy::kIgnoreUndeclared};
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
