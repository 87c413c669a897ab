// What is queued and what is decided for it, as values that plugins exchange through the framework.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/kueue/workload.h"
#include "base/ids.h"
#include "base/nano.h"
#include "base/time.h"
#include "framework/model/node_table.h"
#include "framework/model/quota_tree.h"

namespace muster::framework {

// One podset of a workload as quota sees it (spec/admission.md §2.2).
struct PodSetTotals {
  std::string name{};
  std::int32_t count = 0;           // after reclaim
  std::int32_t min_count = 0;       // it may be admitted with as few; `count` when it may not
  std::string group{};              // podsets of one group get the same flavors; empty: alone
  api::ResourceAmounts requests{};  // of all `count` pods, filtered and transformed for quota
  PodFootprint per_pod{};           // one pod on a node: the template's own requests and host ports
  const api::PodTemplate* pod_template = nullptr;  // borrowed from WorkloadInfo::object
};

// Workloads with equal class ids get equal answers from the scheduler (§1.8).
using ClassId = std::uint64_t;

// How far the flavors of each resource group were looked at before the scan stopped (§3.4).
struct ScanProgress {
  static constexpr int kExhausted = -1;  // the last flavor was tried

  std::map<std::pair<std::string, std::string>, int> tried{};  // (podset, resource) -> index of its last flavor
  std::uint64_t epoch = 0;  // of the queue: whatever may cure a rejection ends it

  bool pending() const {
    return std::any_of(tried.begin(), tried.end(), [](const auto& entry) { return entry.second != kExhausted; });
  }
  int next(const std::string& pod_set, const std::string& resource) const {
    const auto it = tried.find({pod_set, resource});
    return it == tried.end() ? 0 : it->second + 1;
  }
  friend bool operator==(const ScanProgress&, const ScanProgress&) = default;
};

struct WorkloadInfo {
  ObjectKey key{};
  std::shared_ptr<const api::Workload> object{};
  ClusterQueueName cluster_queue{};
  std::vector<PodSetTotals> pod_sets{};
  std::int64_t priority = 0;
  TimePoint queue_time{};
  ClassId class_id = 0;
  std::shared_ptr<const ScanProgress> progress{};  // of its own last attempt, never of its class; null: from the start
  // The place of its LocalQueue where admission fair sharing applies, else null: compared before anything else. Those of
  // one class share it. Borrowed from the model's LocalQueueUsage; changes while the Workload waits.
  const Wide* queue_place = nullptr;

  const Uid& uid() const { return object->meta.uid; }
};

// Worst to best.
enum class FitMode : std::uint8_t { kNoFit, kPreempt, kFit };

struct FlavorChoice {
  FlavorName flavor{};
  FitMode mode = FitMode::kNoFit;
  int borrow_level = 0;
  friend bool operator==(const FlavorChoice&, const FlavorChoice&) = default;
};

struct PodSetChoice {
  std::string name{};
  std::int32_t count = 0;
  std::map<std::string, FlavorChoice> flavors{};  // by resource
  api::ResourceAmounts requests{};                // of the resources that got a flavor, plus `pods` where covered
  std::vector<std::string> reasons{};             // why flavors were passed over or do not fit
  friend bool operator==(const PodSetChoice&, const PodSetChoice&) = default;
};

struct NodeSlots {
  NodeName node{};
  std::int32_t count = 0;
  friend bool operator==(const NodeSlots&, const NodeSlots&) = default;
};

// Where the pods of one podset go. Nodes in name order, counts positive.
struct PodSetPlan {
  std::string name{};
  PodFootprint per_pod{};
  std::vector<NodeSlots> slots{};
  friend bool operator==(const PodSetPlan&, const PodSetPlan&) = default;
};

// Empty for a workload whose pods another scheduler binds.
using PlacementPlan = std::vector<PodSetPlan>;

// A flavor ruled out for a podset by a later Filter plugin (a gang that cannot be placed there); the flavor assigner
// treats it as NoFit with this reason and tries the next one.
struct FlavorExclusion {
  std::string pod_set{};
  FlavorName flavor{};
  std::string reason{};   // condition reason class, `TopologyPlacementFailed`
  std::string message{};
  bool preemption_helps = false;  // nodes are lacking, not unsuitable: victims on them would help
  friend bool operator==(const FlavorExclusion&, const FlavorExclusion&) = default;
};

// The proposal that Filter plugins build and judge.
struct Assignment {
  std::vector<PodSetChoice> pod_sets{};
  FitMode mode = FitMode::kNoFit;
  int borrow_level = 0;
  Usage usage{};                   // what admission would charge
  std::vector<FlavorResource> needs_preemption{};  // chosen in mode Preempt
  PlacementPlan plan{};
  bool wants_nodes = false;        // a podset names our scheduler: without a plan there is no admission
  bool nodes_need_preemption = false;  // quota fits, nodes do not until victims leave
  std::string reason{};            // granular NoFit reason (§3.9)
  std::string message{};
  ScanProgress progress{};
  std::string flavors_considered{};  // of an assignment that fits: what was passed over, for people
};

// Someone who has to go for a preemptor, with the reason of Preempted (`InClusterQueue`, `InCohortReclamation`, …).
struct Victim {
  ObjectKey workload{};
  Uid uid{};
  std::string reason{};
  friend bool operator==(const Victim&, const Victim&) = default;
};

}  // namespace muster::framework
