// What the reconcilers and the API programs need of Kueue's Configuration, as one plain value. The shell fills it once.
#pragma once

#include "api/config/configuration.h"
#include "api/core/meta.h"
#include "base/time.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::controllers {

// spec/workloads.md §2.5.
struct PodsReadyOptions {
  Duration timeout = std::chrono::minutes(30);
  Duration recovery_timeout = std::chrono::minutes(30);  // 0: a recovery is waited for without end
  std::optional<std::int32_t> backoff_limit{};           // absent: endless
  std::int32_t backoff_base_seconds = 60;
  std::int32_t backoff_max_seconds = 3600;
};

struct ControllerOptions {
  bool manage_jobs_without_queue_name = false;
  std::optional<api::LabelSelector> managed_namespaces{};  // absent: every namespace
  bool batch_jobs = true;                                  // integrations.frameworks: batch/job
  bool pods = false;                                       // integrations.frameworks: pod
  std::vector<std::string> label_keys_to_copy{};
  std::optional<PodsReadyOptions> wait_for_pods_ready{};  // absent: no PodsReady condition, no timeout
  std::optional<Duration> retain_finished{};              // objectRetentionPolicies.workloads.afterFinished
  std::optional<Duration> retain_deactivated{};           // …afterDeactivatedByKueue
  bool fair_sharing = false;                              // statuses show weighted shares
};

// `own_namespace`: where Muster runs; its objects are never managed by default. The gate DisableWaitForPodsReady acts
// as if waitForPodsReady were absent.
ControllerOptions options_from(const api::Configuration& configuration, const std::string& own_namespace);

}  // namespace muster::controllers
