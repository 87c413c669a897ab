#include "plugins/register_all.h"

#include "plugins/fair_preemption/fair_preemption.h"
#include "plugins/fair_sharing/fair_sharing.h"
#include "plugins/flavor_assigner/flavor_assigner.h"
#include "plugins/gang/gang.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resources_fit/node_resources_fit.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/preemption/preemption.h"
#include "plugins/priority_sort/priority_sort.h"
#include "plugins/taint_toleration/taint_toleration.h"

namespace muster::plugins {

void register_all(framework::Registry& registry) {
  registry.add<PrioritySort>().add<FairSharing>().add<FlavorAssigner>().add<Gang>();
  registry.add<Preemption>().add<FairPreemption>();
  registry.add<NodeUnschedulable>().add<RequestedNodeName>().add<TaintToleration>().add<NodeAffinity>();
  registry.add<NodePorts>().add<NodeResourcesFit>();
}

std::vector<std::string> default_plugins(const framework::PluginDeps& deps) {
  const bool fair = deps.fair_sharing.has_value();
  std::vector<std::string> names;
  for (const std::string_view name :
       {fair ? FairSharing::kName : PrioritySort::kName, NodeUnschedulable::kName, RequestedNodeName::kName,
        TaintToleration::kName, NodeAffinity::kName, NodePorts::kName, NodeResourcesFit::kName, FlavorAssigner::kName,
        Gang::kName, fair ? FairPreemption::kName : Preemption::kName}) {
    names.emplace_back(name);
  }
  return names;
}

}  // namespace muster::plugins
