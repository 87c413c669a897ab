#include "plugins/testing/world.h"

#include "framework/totals.h"

namespace muster::plugins::testing {

World& World::flavors(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    add(api::testing::a_flavor(name));
  }
  return *this;
}

framework::WorkloadInfo World::pending(const api::testing::WorkloadBuilder& workload,
                                       const std::string& cluster_queue) {
  add(workload);
  return framework::build_info(std::make_shared<const api::Workload>(workload.obj()), ClusterQueueName(cluster_queue),
                               model_.objects(), framework::TotalsRules{});
}

framework::FlavorResource fr(const std::string& flavor_slash_resource) {
  const std::size_t slash = flavor_slash_resource.find('/');
  return {FlavorName(flavor_slash_resource.substr(0, slash)), flavor_slash_resource.substr(slash + 1)};
}

}  // namespace muster::plugins::testing
