// ResourceFlavor, ClusterQueue, Cohort, LocalQueue, WorkloadPriorityClass of kueue.x-k8s.io: the hub types, into which
// every served version decodes (spec/api.md §3). Plain values; lists keep the order of the manifest.
#pragma once

#include "api/core/meta.h"
#include "api/core/pod.h"
#include "base/arith.h"
#include "base/ids.h"
#include "base/nano.h"
#include "base/time.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace muster::api {

struct ResourceFlavor {
  ObjectMeta meta{};
  StringMap node_labels{};
  std::vector<Taint> node_taints{};
  std::vector<Toleration> tolerations{};
  std::string topology_name{};
  friend bool operator==(const ResourceFlavor&, const ResourceFlavor&) = default;
};

struct ResourceQuota {
  std::string resource{};
  Amount nominal = 0;
  std::optional<Amount> borrowing_limit{};
  std::optional<Amount> lending_limit{};
  friend bool operator==(const ResourceQuota&, const ResourceQuota&) = default;
};

struct FlavorQuotas {
  FlavorName name{};
  std::vector<ResourceQuota> resources{};
  friend bool operator==(const FlavorQuotas&, const FlavorQuotas&) = default;
};

struct ResourceGroup {
  std::vector<std::string> covered_resources{};
  std::vector<FlavorQuotas> flavors{};
  friend bool operator==(const ResourceGroup&, const ResourceGroup&) = default;
};

enum class QueueingStrategy { kBestEffortFifo, kStrictFifo };
enum class StopPolicy { kNone, kHold, kHoldAndDrain };
enum class FungibilityPolicy { kMayStopSearch, kTryNextFlavor };
enum class FungibilityPreference { kBorrowingOverPreemption, kPreemptionOverBorrowing };
enum class WithinClusterQueuePolicy { kNever, kLowerPriority, kLowerOrNewerEqualPriority };
enum class ReclaimPolicy { kNever, kLowerPriority, kAny };
enum class BorrowWithinCohortPolicy { kNever, kLowerPriority };

struct FlavorFungibility {
  FungibilityPolicy when_can_borrow = FungibilityPolicy::kMayStopSearch;
  FungibilityPolicy when_can_preempt = FungibilityPolicy::kTryNextFlavor;
  FungibilityPreference preference = FungibilityPreference::kBorrowingOverPreemption;
  friend bool operator==(const FlavorFungibility&, const FlavorFungibility&) = default;
};

struct Preemption {
  WithinClusterQueuePolicy within_cluster_queue = WithinClusterQueuePolicy::kNever;
  ReclaimPolicy reclaim_within_cohort = ReclaimPolicy::kNever;
  BorrowWithinCohortPolicy borrow_within_cohort = BorrowWithinCohortPolicy::kNever;
  std::optional<std::int32_t> borrow_max_priority_threshold{};
  friend bool operator==(const Preemption&, const Preemption&) = default;
};

struct AdmissionCheckRule {
  std::string name{};
  std::vector<FlavorName> on_flavors{};  // empty: every flavor
  friend bool operator==(const AdmissionCheckRule&, const AdmissionCheckRule&) = default;
};

struct FlavorUsage {  // one flavor of a status' flavorsUsage / flavorsReservation

  struct Resource {
    std::string name{};
    Amount total = 0;
    Amount borrowed = 0;  // ClusterQueue only
    friend bool operator==(const Resource&, const Resource&) = default;
  };

  FlavorName name{};
  std::vector<Resource> resources{};
  friend bool operator==(const FlavorUsage&, const FlavorUsage&) = default;
};

struct ClusterQueueStatus {
  Conditions conditions{};
  std::vector<FlavorUsage> flavors_reservation{};
  std::vector<FlavorUsage> flavors_usage{};
  std::int32_t pending_workloads = 0;
  std::int32_t reserving_workloads = 0;
  std::int32_t admitted_workloads = 0;
  std::optional<std::int64_t> weighted_share{};  // fairSharing.weightedShare; absent where fair sharing is off
  friend bool operator==(const ClusterQueueStatus&, const ClusterQueueStatus&) = default;
};

struct ClusterQueue {
  ObjectMeta meta{};
  std::vector<ResourceGroup> resource_groups{};
  CohortName cohort{};  // empty: none
  QueueingStrategy queueing_strategy = QueueingStrategy::kBestEffortFifo;
  std::optional<LabelSelector> namespace_selector{};  // absent matches no namespace
  FlavorFungibility flavor_fungibility{};
  Preemption preemption{};
  std::vector<AdmissionCheckRule> admission_checks{};
  StopPolicy stop_policy = StopPolicy::kNone;
  std::optional<Amount> fair_weight_nano{};  // fairSharing.weight in billionths; absent: 1
  bool usage_based_fair_sharing = false;      // admissionScope.admissionMode
  ClusterQueueStatus status{};
  friend bool operator==(const ClusterQueue&, const ClusterQueue&) = default;
};

struct CohortStatus {
  std::optional<std::int64_t> weighted_share{};  // fairSharing.weightedShare
  friend bool operator==(const CohortStatus&, const CohortStatus&) = default;
};

struct Cohort {
  ObjectMeta meta{};
  CohortName parent{};
  std::vector<ResourceGroup> resource_groups{};
  std::optional<Amount> fair_weight_nano{};
  CohortStatus status{};
  friend bool operator==(const Cohort&, const Cohort&) = default;
};

struct AdmissionFairSharingStatus {
  std::map<std::string, Nano> consumed_resources{};
  TimePoint last_update{};
  friend bool operator==(const AdmissionFairSharingStatus&, const AdmissionFairSharingStatus&) = default;
};

struct LocalQueueStatus {
  Conditions conditions{};
  std::vector<FlavorUsage> flavors_reservation{};
  std::vector<FlavorUsage> flavors_usage{};
  std::int32_t pending_workloads = 0;
  std::int32_t reserving_workloads = 0;
  std::int32_t admitted_workloads = 0;
  std::optional<AdmissionFairSharingStatus> admission_fair_sharing{};  // absent where it does not apply
  friend bool operator==(const LocalQueueStatus&, const LocalQueueStatus&) = default;
};

struct LocalQueue {
  ObjectMeta meta{};
  ClusterQueueName cluster_queue{};
  StopPolicy stop_policy = StopPolicy::kNone;
  std::optional<Amount> fair_weight_nano{};
  LocalQueueStatus status{};
  friend bool operator==(const LocalQueue&, const LocalQueue&) = default;
};

struct WorkloadPriorityClass {
  ObjectMeta meta{};
  std::int32_t value = 0;
  friend bool operator==(const WorkloadPriorityClass&, const WorkloadPriorityClass&) = default;
};

}  // namespace muster::api
