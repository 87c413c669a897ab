// The podsets of a Workload that Muster binds, as the placer sees them. Values; templates are borrowed from the
// Workload unless `own_template` holds one.
#pragma once

#include "framework/model/objects.h"
#include "framework/points.h"
#include "plugins/gang/gang_args.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace muster::plugins::gang {

using Flavors = std::map<std::string, FlavorName>;  // by resource

struct GangPodSet {
  std::string name{};
  std::int32_t count = 0;  // pods that need a node
  framework::PodShape shape{};
  Flavors flavors{};
  std::shared_ptr<const api::PodTemplate> own_template{};
};

// Those whose template names our scheduler and that have no disabled flavor. Before admission: as assigned.
std::vector<GangPodSet> gang_pod_sets(const framework::WorkloadInfo& workload, const framework::Assignment& assignment,
                                      const framework::Objects& objects, const GangArgs& args);
// After admission: as many pods as are still needed.
std::vector<GangPodSet> gang_pod_sets(const framework::WorkloadInfo& workload, const api::WorkloadStatus& status,
                                      const framework::Objects& objects, const GangArgs& args);

// A placement field of one of the templates that we do not implement; empty when there is none.
std::string unsupported_field(const std::vector<GangPodSet>& pod_sets);

}  // namespace muster::plugins::gang
