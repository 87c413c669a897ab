#include "controllers/jobs/pods_ready.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace muster::controllers {
namespace {

constexpr std::string_view kWaitForStart = "WaitForStart";
constexpr std::string_view kStarted = "Started";
constexpr std::string_view kWaitForRecovery = "WaitForRecovery";
constexpr std::string_view kRecovered = "Recovered";

struct Says {
  api::ConditionStatus status{};
  std::string_view reason{};
  std::string_view message{};
};

constexpr Says kNotStarted{api::ConditionStatus::kFalse, kWaitForStart, "Not all pods are ready or succeeded"};

Says pods_ready_now(const api::Condition* before, bool pods_ready) {
  constexpr std::string_view kReadyMessage = "All pods reached readiness and the workload is running";
  const bool recovering = before != nullptr && (before->reason == kWaitForRecovery || before->reason == kRecovered);
  if (pods_ready) {
    return {api::ConditionStatus::kTrue, recovering ? kRecovered : kStarted, kReadyMessage};
  }
  const bool was_ready = before != nullptr && before->status == api::ConditionStatus::kTrue;
  if (was_ready || (before != nullptr && before->reason == kWaitForRecovery)) {
    return {api::ConditionStatus::kFalse, kWaitForRecovery, "At least one pod has failed, waiting for recovery"};
  }
  return kNotStarted;
}

std::int32_t reclaimed(const std::vector<api::ReclaimablePod>& pods, const std::string& name) {
  const auto found =
      std::find_if(pods.begin(), pods.end(), [&name](const api::ReclaimablePod& pod) { return pod.name == name; });
  return found == pods.end() ? 0 : found->count;
}

}  // namespace

std::vector<api::ReclaimablePod> reclaimable_pods(const api::Workload& workload, const api::WorkloadStatus& status,
                                                  const std::vector<api::ReclaimablePod>& reported) {
  const bool reserved = api::is_true(status.conditions, api::kQuotaReserved);
  std::vector<api::ReclaimablePod> result;
  for (const api::PodSet& pod_set : workload.pod_sets) {
    std::int32_t count = std::min(reclaimed(reported, pod_set.name), pod_set.count);
    if (reserved) {
      count = std::max(count, reclaimed(status.reclaimable_pods, pod_set.name));
    }
    const bool listed = reserved && std::any_of(status.reclaimable_pods.begin(), status.reclaimable_pods.end(),
                                                [&](const auto& pod) { return pod.name == pod_set.name; });
    if (count > 0 || listed) {
      result.push_back({.name = pod_set.name, .count = count});
    }
  }
  return result;
}

void report_pods_ready(api::WorkloadStatus& status, bool pods_ready, const framework::Stamp& stamp) {
  const api::Condition* before = api::find_condition(status.conditions, api::kPodsReady);
  const bool admitted = api::is_true(status.conditions, api::kAdmitted);
  if (!admitted && before == nullptr) {
    return;
  }
  const Says says = admitted ? pods_ready_now(before, pods_ready) : kNotStarted;
  api::set_condition(status.conditions, {.type = std::string(api::kPodsReady),
                                         .status = says.status,
                                         .reason = std::string(says.reason),
                                         .message = std::string(says.message),
                                         .last_transition_time = to_seconds(stamp.now),
                                         .observed_generation = stamp.generation});
}

}  // namespace muster::controllers
