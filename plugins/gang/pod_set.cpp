#include "plugins/gang/pod_set.h"

#include "api/constants.h"
#include "framework/model/model.h"

#include <algorithm>

namespace muster::plugins::gang {
namespace {

using framework::Objects;
using framework::PodSetTotals;

bool is_ours(const PodSetTotals& pod_set, const Flavors& flavors, const GangArgs& args) {
  return pod_set.pod_template->spec.scheduler_name == api::kSchedulerName &&
         std::none_of(flavors.begin(), flavors.end(),
                      [&args](const auto& entry) { return args.disabled_flavors.contains(entry.second); });
}

GangPodSet make_pod_set(const PodSetTotals& totals, std::int32_t count, Flavors flavors, const Objects& objects) {
  GangPodSet pod_set{.name = totals.name, .count = count, .flavors = std::move(flavors)};
  pod_set.shape.pod_template = totals.pod_template;
  pod_set.shape.footprint = totals.per_pod;
  std::set<FlavorName> seen;
  for (const auto& [resource, name] : pod_set.flavors) {
    const auto* flavor = objects.find<api::ResourceFlavor>({{}, name.str()});
    if (flavor == nullptr || !seen.insert(name).second) {
      continue;
    }
    pod_set.shape.flavor_labels.insert(flavor->node_labels.begin(), flavor->node_labels.end());
    pod_set.shape.flavor_tolerations.insert(pod_set.shape.flavor_tolerations.end(), flavor->tolerations.begin(),
                                            flavor->tolerations.end());
  }
  return pod_set;
}

template <class T>
const T* by_name(const std::vector<T>& items, const std::string& name) {
  const auto it = std::find_if(items.begin(), items.end(), [&name](const T& item) { return item.name == name; });
  return it == items.end() ? nullptr : &*it;
}

}  // namespace

std::vector<GangPodSet> gang_pod_sets(const framework::WorkloadInfo& workload, const framework::Assignment& assignment,
                                      const Objects& objects, const GangArgs& args) {
  std::vector<GangPodSet> result;
  for (const PodSetTotals& totals : workload.pod_sets) {
    std::int32_t count = totals.count;
    Flavors flavors;
    if (const auto* choice = by_name(assignment.pod_sets, totals.name)) {
      count = choice->count;
      for (const auto& [resource, flavor] : choice->flavors) {
        flavors.emplace(resource, flavor.flavor);
      }
    }
    if (is_ours(totals, flavors, args)) {
      result.push_back(make_pod_set(totals, count, std::move(flavors), objects));
    }
  }
  return result;
}

std::vector<GangPodSet> gang_pod_sets(const framework::WorkloadInfo& workload, const api::WorkloadStatus& status,
                                      const Objects& objects, const GangArgs& args) {
  std::vector<GangPodSet> result;
  for (const PodSetTotals& totals : workload.pod_sets) {
    Flavors flavors;
    if (status.admission) {
      if (const auto* assigned = by_name(status.admission->pod_set_assignments, totals.name)) {
        flavors = assigned->flavors;
      }
    }
    if (is_ours(totals, flavors, args)) {
      const std::int32_t count = framework::pods_needed(*workload.object, status, totals.name);
      result.push_back(make_pod_set(totals, count, std::move(flavors), objects));
    }
  }
  return result;
}

std::string unsupported_field(const std::vector<GangPodSet>& pod_sets) {
  for (const GangPodSet& pod_set : pod_sets) {
    const auto& fields = pod_set.shape.pod_template->spec.unsupported_placement_fields;
    if (!fields.empty()) {
      return fields.front();
    }
  }
  return {};
}

}  // namespace muster::plugins::gang
