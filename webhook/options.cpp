#include "webhook/options.h"

#include <algorithm>

namespace muster::webhook {
namespace {

bool gate(const api::Configuration& configuration, const char* name, bool fallback) {
  const auto found = configuration.feature_gates.find(name);
  return found == configuration.feature_gates.end() ? fallback : found->second;
}

}  // namespace

bool has_framework(const api::Configuration& configuration, std::string_view name) {
  const auto& enabled = configuration.integrations.frameworks;
  return std::find(enabled.begin(), enabled.end(), name) != enabled.end();
}

Options options_from(const api::Configuration& configuration, const std::string& own_namespace) {
  const auto on = [&](const char* name, bool fallback) { return gate(configuration, name, fallback); };
  const api::ValidationGates defaults;
  return {.batch_jobs = has_framework(configuration, "batch/job"),
          .pods = has_framework(configuration, "pod"),
          .partial_admission = on("PartialAdmission", true),
          .jobs = {.manage_jobs_without_queue_name = configuration.manage_jobs_without_queue_name,
                   .managed_namespaces = api::managed_namespaces(configuration, own_namespace),
                   .default_local_queue = configuration.muster.default_local_queue,
                   .default_priority_class = on("WorkloadPriorityClassDefaulting", true),
                   .admission_gated_by = on("AdmissionGatedBy", true)},
          .gates = {
              .concurrent_admission = on("ConcurrentAdmission", defaults.concurrent_admission),
              .reject_updates_with_invalid_on_flavors =
                  on("RejectUpdatesToCQWithInvalidOnFlavors", defaults.reject_updates_with_invalid_on_flavors),
              .pod_set_metadata = on("WorkloadValidationForPodSetMetadata", defaults.pod_set_metadata),
              .resources_not_negative = on("WorkloadValidateResourcesAreNonNegative", defaults.resources_not_negative),
              .slice_size = on("TASValidateWorkloadSliceSize", defaults.slice_size),
              .admission_gated_by = on("AdmissionGatedBy", defaults.admission_gated_by),
              .priority_boost = on("PriorityBoost", defaults.priority_boost),
              .elastic_jobs = on("ElasticJobsViaWorkloadSlices", defaults.elastic_jobs),
              .topology_aware_scheduling = on("TopologyAwareScheduling", defaults.topology_aware_scheduling)}};
}

}  // namespace muster::webhook
