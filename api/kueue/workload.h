// Workload of kueue.x-k8s.io: the hub type (spec/api.md §3.5). Plain values; the model holds decoded Workloads as
// immutable facts. Helper predicates are pure readings of spec and status.
#pragma once

#include "api/core/meta.h"
#include "api/core/pod.h"
#include "base/ids.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::api {

struct PodSet {
  std::string name = "main";
  std::int32_t count = 1;
  std::optional<std::int32_t> min_count{};
  std::string group{};  // topologyRequest.podSetGroupName: podsets of one group get the same flavors
  PodTemplate pod_template{};
  friend bool operator==(const PodSet&, const PodSet&) = default;
};

struct PriorityClassRef {
  std::string group{};  // kueue.x-k8s.io or scheduling.k8s.io
  std::string kind{};
  std::string name{};
  friend bool operator==(const PriorityClassRef&, const PriorityClassRef&) = default;
};

struct PodSetAssignment {
  std::string name = "main";
  std::map<std::string, FlavorName> flavors{};  // by resource
  ResourceAmounts resource_usage{};             // totals of the whole podset
  std::int32_t count = 0;
  friend bool operator==(const PodSetAssignment&, const PodSetAssignment&) = default;
};

struct Admission {
  ClusterQueueName cluster_queue{};
  std::vector<PodSetAssignment> pod_set_assignments{};
  friend bool operator==(const Admission&, const Admission&) = default;
};

struct RequeueState {
  std::int32_t count = 0;
  std::optional<TimePoint> requeue_at{};
  friend bool operator==(const RequeueState&, const RequeueState&) = default;
};

struct ReclaimablePod {
  std::string name{};
  std::int32_t count = 0;
  friend bool operator==(const ReclaimablePod&, const ReclaimablePod&) = default;
};

enum class CheckState { kPending, kReady, kRetry, kRejected };

struct PodSetUpdate {  // what an admission check adds to a podset's pods
  std::string name{};
  StringMap labels{};
  StringMap annotations{};
  StringMap node_selector{};
  std::vector<Toleration> tolerations{};
  friend bool operator==(const PodSetUpdate&, const PodSetUpdate&) = default;
};

struct AdmissionCheckState {
  std::string name{};
  CheckState state = CheckState::kPending;
  TimePoint last_transition_time{};
  std::string message{};
  std::vector<PodSetUpdate> pod_set_updates{};
  std::optional<std::int32_t> requeue_after_seconds{};
  std::optional<std::int32_t> retry_count{};
  friend bool operator==(const AdmissionCheckState&, const AdmissionCheckState&) = default;
};

struct PodSetRequest {  // status.resourceRequests[]
  std::string name{};
  ResourceAmounts resources{};
  friend bool operator==(const PodSetRequest&, const PodSetRequest&) = default;
};

struct EvictionStat {  // status.schedulingStats.evictions[]
  std::string reason{};
  std::string underlying_cause{};
  std::int32_t count = 0;
  friend bool operator==(const EvictionStat&, const EvictionStat&) = default;
};

struct WorkloadStatus {
  Conditions conditions{};
  std::optional<Admission> admission{};
  std::optional<RequeueState> requeue_state{};
  std::vector<ReclaimablePod> reclaimable_pods{};
  std::vector<AdmissionCheckState> admission_checks{};
  std::vector<PodSetRequest> resource_requests{};
  std::vector<EvictionStat> evictions{};
  std::optional<std::int32_t> accumulated_past_execution_seconds{};
  friend bool operator==(const WorkloadStatus&, const WorkloadStatus&) = default;
};

struct Workload {
  ObjectMeta meta{};
  LocalQueueName queue_name{};
  std::vector<PodSet> pod_sets{};
  std::optional<PriorityClassRef> priority_class_ref{};
  std::optional<std::int32_t> priority{};
  bool active = true;
  std::optional<std::int32_t> maximum_execution_seconds{};
  WorkloadStatus status{};
  friend bool operator==(const Workload&, const Workload&) = default;
};

// Condition types and their readings.
inline constexpr std::string_view kQuotaReserved = "QuotaReserved";
inline constexpr std::string_view kAdmitted = "Admitted";
inline constexpr std::string_view kEvicted = "Evicted";
inline constexpr std::string_view kPreempted = "Preempted";
inline constexpr std::string_view kRequeued = "Requeued";
inline constexpr std::string_view kFinished = "Finished";
inline constexpr std::string_view kPodsReady = "PodsReady";
inline constexpr std::string_view kDeactivationTarget = "DeactivationTarget";

bool has_quota_reservation(const Workload& workload);
bool is_admitted(const Workload& workload);
bool is_evicted(const Workload& workload);
bool is_finished(const Workload& workload);
// Non-empty value of the admission-gated-by annotation, or null.
const std::string* admission_gate(const Workload& workload);
// spec/admission.md §1.3.
bool is_queueable(const Workload& workload);
// §1.10: Requeued is not False and requeueAt is unset or past.
bool backoff_expired(const Workload& workload, TimePoint now);
// §1.2, with the timestamp policy `Eviction`.
TimePoint queue_order_time(const Workload& workload);
// The same for a status that is assumed and not yet in the object.
TimePoint queue_order_time(const ObjectMeta& meta, const Conditions& conditions);
std::int64_t effective_priority(const Workload& workload);

}  // namespace muster::api
