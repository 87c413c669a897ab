#include "controllers/options.h"

#include <algorithm>

namespace muster::controllers {
namespace {

bool enables(const api::Configuration& configuration, const std::string& framework) {
  const auto& frameworks = configuration.integrations.frameworks;
  return std::find(frameworks.begin(), frameworks.end(), framework) != frameworks.end();
}

std::optional<PodsReadyOptions> pods_ready_options(const api::Configuration& configuration) {
  const auto gate = configuration.feature_gates.find("DisableWaitForPodsReady");
  const bool disabled = gate != configuration.feature_gates.end() && gate->second;
  if (disabled || !configuration.wait_for_pods_ready) {
    return std::nullopt;
  }
  const api::WaitForPodsReadyConfig& config = *configuration.wait_for_pods_ready;
  return PodsReadyOptions{.timeout = config.timeout,
                          .recovery_timeout = config.recovery_timeout,
                          .backoff_limit = config.backoff_limit_count,
                          .backoff_base_seconds = config.backoff_base_seconds,
                          .backoff_max_seconds = config.backoff_max_seconds};
}

}  // namespace

ControllerOptions options_from(const api::Configuration& configuration, const std::string& own_namespace) {
  return {.manage_jobs_without_queue_name = configuration.manage_jobs_without_queue_name,
          .managed_namespaces = api::managed_namespaces(configuration, own_namespace),
          .batch_jobs = enables(configuration, "batch/job"),
          .pods = enables(configuration, "pod"),
          .label_keys_to_copy = configuration.integrations.label_keys_to_copy,
          .wait_for_pods_ready = pods_ready_options(configuration),
          .retain_finished = configuration.retention.after_finished,
          .retain_deactivated = configuration.retention.after_deactivated_by_kueue,
          .fair_sharing = configuration.fair_sharing.has_value()};
}

}  // namespace muster::controllers
