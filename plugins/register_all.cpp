#include "plugins/register_all.h"

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
  registry.add<PrioritySort>().add<FlavorAssigner>().add<Gang>().add<Preemption>();
  registry.add<NodeUnschedulable>().add<RequestedNodeName>().add<TaintToleration>().add<NodeAffinity>();
  registry.add<NodePorts>().add<NodeResourcesFit>();
}

const std::vector<std::string>& default_plugins() {
  static const std::vector<std::string> kOrder = [] {
    std::vector<std::string> names;
    for (const std::string_view name :
         {PrioritySort::kName, NodeUnschedulable::kName, RequestedNodeName::kName, TaintToleration::kName,
          NodeAffinity::kName, NodePorts::kName, NodeResourcesFit::kName, FlavorAssigner::kName, Gang::kName,
          Preemption::kName}) {
      names.emplace_back(name);
    }
    return names;
  }();
  return kOrder;
}

}  // namespace muster::plugins
