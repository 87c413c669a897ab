#include "plugins/register_all.h"

#include "plugins/flavor_assigner/flavor_assigner.h"
#include "plugins/preemption/preemption.h"
#include "plugins/priority_sort/priority_sort.h"

namespace muster::plugins {

void register_all(framework::Registry& registry) {
  registry.add<PrioritySort>().add<FlavorAssigner>().add<Preemption>();
}

const std::vector<std::string>& default_plugins() {
  static const std::vector<std::string> kOrder = {std::string(PrioritySort::kName), std::string(FlavorAssigner::kName),
                                                  std::string(Preemption::kName)};
  return kOrder;
}

}  // namespace muster::plugins
