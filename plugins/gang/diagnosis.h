// Why a gang has no place, in kube-scheduler's words (spec/placement.md §6.2), and whether someone's leaving would
// help.
#pragma once

#include "framework/points.h"
#include "plugins/gang/placer.h"
#include "plugins/gang/pod_set.h"

#include <string>
#include <vector>

namespace muster::plugins::gang {

struct Diagnosis {
  std::size_t pod_set = 0;  // the podset that lacks most pods
  std::string message{};
  std::string lacking_resource{};  // what most of the nodes are short of; empty when it is not a resource
  bool preemption_helps = false;   // a suitable node is full, and not with this gang alone
};

// With the pods that do fit on their nodes, asks every node why it takes no more. `placement` is incomplete.
Diagnosis diagnose(const ObjectKey& workload, const std::vector<GangPodSet>& pod_sets, const Placement& placement,
                   framework::Transaction& transaction, const framework::NodePlugins& plugins);

}  // namespace muster::plugins::gang
