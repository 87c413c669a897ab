// The transitions of a Workload's status: each moves a status from one consistent state to the next, as Kueue's clients
// read them (spec/api.md §6.1, spec/admission.md §4.7). Shared by the scheduling cycle and the reconcilers; pure
// values, any thread. A transition that says what is already there changes nothing, so that nothing is written.
#pragma once

#include "api/kueue/workload.h"
#include "base/time.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::framework {

// When, and of which generation of the Workload (`metadata.generation`), a condition speaks.
struct Stamp {
  TimePoint now{};
  std::int64_t generation = 0;
};

inline Stamp stamp_of(const api::Workload& workload, TimePoint now) {
  return {.now = now, .generation = workload.meta.generation};
}

// Reasons of QuotaReserved=False.
inline constexpr std::string_view kPendingEvaluation = "PendingEvaluation";
inline constexpr std::string_view kWaitingForQuota = "WaitingForQuota";
inline constexpr std::string_view kExceedsMaxQuota = "ExceedsMaxQuota";
inline constexpr std::string_view kNoMatchingFlavor = "NoMatchingFlavor";
inline constexpr std::string_view kTopologyPlacementFailed = "TopologyPlacementFailed";
inline constexpr std::string_view kWaitingForPreemptedWorkloads = "WaitingForPreemptedWorkloads";
inline constexpr std::string_view kWaitingForPodsReady = "WaitingForPodsReady";
inline constexpr std::string_view kAdmissionGated = "AdmissionGated";
inline constexpr std::string_view kSuspended = "Suspended";
inline constexpr std::string_view kMisconfigured = "Misconfigured";
inline constexpr std::string_view kOnHold = "OnHold";

// Reasons of Evicted=True. `Deactivated` carries its cause as a suffix: `DeactivatedDueTo<cause>`.
inline constexpr std::string_view kEvictedPreempted = "Preempted";
inline constexpr std::string_view kEvictedPodsReadyTimeout = "PodsReadyTimeout";
inline constexpr std::string_view kEvictedAdmissionCheck = "AdmissionCheck";
inline constexpr std::string_view kEvictedClusterQueueStopped = "ClusterQueueStopped";
inline constexpr std::string_view kEvictedLocalQueueStopped = "LocalQueueStopped";
inline constexpr std::string_view kEvictedNodeFailures = "NodeFailures";
inline constexpr std::string_view kEvictedDeactivated = "Deactivated";

// Causes: why a Workload is deactivated by Muster (reason of DeactivationTarget).
inline constexpr std::string_view kCauseRequeuingLimit = "RequeuingLimitExceeded";
inline constexpr std::string_view kCauseMaximumExecutionTime = "MaximumExecutionTimeExceeded";

// A reservation: `admission` is held, QuotaReserved=True, what was said about an eviction before becomes history.
// `resource_requests` go: they are shown only while pending. Does not touch Admitted: see sync_admitted.
void set_quota_reserved(api::WorkloadStatus& status, api::Admission admission, const Stamp& stamp);

// Admitted follows from the reservation and the checks' states. Written only where QuotaReserved or Admitted exists.
// The seconds of an admission that ends here are added to accumulated_past_execution_seconds.
void sync_admitted(api::WorkloadStatus& status, const Stamp& stamp);

// Why a Workload without reservation waits.
struct Pending {
  std::string_view reason{};
  std::string message{};
  std::vector<api::PodSetRequest> resource_requests{};  // empty: what is there stays
};

// Pending: no admission, QuotaReserved=False, Admitted synced. Also drops a reservation.
void set_pending(api::WorkloadStatus& status, Pending pending, const Stamp& stamp);

// The reservation ends; the requests shown stay as they are.
void unset_reservation(api::WorkloadStatus& status, std::string_view reason, std::string message, const Stamp& stamp);

struct Eviction {
  std::string_view reason{};  // base reason, `Deactivated`
  std::string cause{};        // underlying cause, may be empty
  std::string message{};
};

// The condition reason and the suffix of the event `EvictedDueTo<…>`.
std::string eviction_reason(const Eviction& eviction);

// Evicted=True; checks go back to Pending; DeactivationTarget is spent when the eviction is a deactivation; the
// eviction is counted in schedulingStats. The reservation stays until the job is inactive: see release_evicted.
void set_evicted(api::WorkloadStatus& status, const Eviction& eviction, const Stamp& stamp);

// Preempted=True beside Evicted; `reason` is `InClusterQueue`, `InCohortReclamation`, … Carries no generation.
void set_preempted(api::WorkloadStatus& status, std::string_view reason, std::string message, TimePoint now);

enum class Requeue : std::uint8_t {
  kAtOnce,  // as the eviction's reason allows: Preempted and NodeFailures queue again, the others wait for their cure
  kNever,   // nothing will queue it again: the object that owned it is gone (single pods)
};

// The job of an evicted Workload is inactive: `Requeued` is set and the reservation ends, with the eviction's message.
// Nothing happens unless the Workload is evicted.
void release_evicted(api::WorkloadStatus& status, Requeue requeue, const Stamp& stamp);

void set_requeued(api::WorkloadStatus& status, std::string_view reason, std::string message, const Stamp& stamp);

// Asks for the deactivation of the Workload; the workload reconciler answers with spec.active=false.
void set_deactivation_target(api::WorkloadStatus& status, std::string_view cause, std::string message,
                             const Stamp& stamp);

// Terminal; whatever else the status says stays.
void set_finished(api::WorkloadStatus& status, std::string_view reason, std::string message, const Stamp& stamp);

}  // namespace muster::framework
