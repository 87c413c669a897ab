// The plan of an admitted gang as it should be now (spec/placement.md §5.8): bound pods stay where they are, open slots
// stay where their node still takes them, and what is missing is placed anew inside the same reservation. Serves a lost
// node, pods that ask for more than their template did, and a restart, where no slot is known.
// Leaves the transaction as it found it.
#pragma once

#include "framework/points.h"
#include "plugins/gang/gang_pods.h"
#include "plugins/gang/placer.h"
#include "plugins/gang/pod_set.h"

#include <vector>

namespace muster::plugins::gang {

struct Repaired {
  framework::PlacementPlan plan{};  // bound pods and open slots
  framework::PlacementPlan open{};  // slots for pods that are not bound; empty podsets left out
};

class Repair {
 public:
  Repair(framework::Transaction& transaction, const framework::NodePlugins& plugins, PlacementPolicy policy)
      : transaction_(transaction), plugins_(plugins), policy_(policy) {}

  // An Error says why there is no place for what is missing. `pods` belong to `pod_sets`, in order.
  Result<Repaired> run(const framework::WorkloadState& state, const std::vector<GangPodSet>& pod_sets,
                       const std::vector<PodSetPods>& pods) const;

 private:
  using Slots = std::map<NodeName, std::int32_t>;

  Slots still_good(const GangPodSet& pod_set, const framework::PlacementPlan& open, std::int32_t at_most) const;

  framework::Transaction& transaction_;
  const framework::NodePlugins& plugins_;
  PlacementPolicy policy_;
};

// Judges the gang by the pods that wait rather than by its templates: admission webhooks may have changed them. Without
// such pods the footprint stays the one that the plan was made for.
void adopt_pods(std::vector<GangPodSet>& pod_sets, const std::vector<PodSetPods>& pods,
                const framework::PlacementPlan& plan);

}  // namespace muster::plugins::gang
