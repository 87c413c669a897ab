// What is queued and what is decided for it, as values that plugins exchange through the framework.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/kueue/workload.h"
#include "base/ids.h"
#include "base/time.h"
#include "framework/model/node_table.h"
#include "framework/model/quota_tree.h"

namespace muster::framework {

// One podset of a workload as quota sees it (spec/admission.md §2.2).
struct PodSetTotals {
  std::string name{};
  std::int32_t count = 0;           // after reclaim
  api::ResourceAmounts requests{};  // of all `count` pods, filtered and transformed for quota
  PodFootprint per_pod{};           // one pod on a node: the template's own requests and host ports
  const api::PodTemplate* pod_template = nullptr;  // borrowed from WorkloadInfo::object
};

// Workloads with equal class ids get equal answers from the scheduler (§1.8).
using ClassId = std::uint64_t;

struct WorkloadInfo {
  ObjectKey key{};
  std::shared_ptr<const api::Workload> object{};
  ClusterQueueName cluster_queue{};
  std::vector<PodSetTotals> pod_sets{};
  std::int64_t priority = 0;
  TimePoint queue_time{};
  ClassId class_id = 0;

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
};

// Someone who has to go for a preemptor, with the reason of Preempted (`InClusterQueue`, `InCohortReclamation`, …).
struct Victim {
  ObjectKey workload{};
  Uid uid{};
  std::string reason{};
  friend bool operator==(const Victim&, const Victim&) = default;
};

}  // namespace muster::framework
