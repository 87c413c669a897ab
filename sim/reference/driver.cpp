#include "sim/reference/driver.h"

#include "base/check.h"
#include "framework/status/workload_conditions.h"
#include "plugins/register_all.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace muster::sim::reference {
namespace {

constexpr const char* kNamespace = "team";
constexpr Amount kNanoPerThousandth = 1'000'000;

template <class T>
framework::Event upserted(T object) {
  return framework::ObjectEvent(framework::Upserted<T>{std::make_shared<const T>(std::move(object))});
}

api::ObjectMeta meta_of(const std::string& ns, const std::string& name) {
  return {.ns = ns, .name = name, .uid = Uid(name), .resource_version = "1", .generation = 1};
}

std::vector<api::ResourceGroup> groups_of(const std::vector<GroupDef>& groups) {
  std::vector<api::ResourceGroup> result;
  for (const GroupDef& group : groups) {
    api::ResourceGroup& out = result.emplace_back();
    for (const int resource : group.resources) {
      out.covered_resources.emplace_back(resource_name(resource));
    }
    for (const FlavorQuotas& quotas : group.flavors) {
      api::FlavorQuotas& flavor = out.flavors.emplace_back();
      flavor.name = FlavorName(flavor_name(quotas.flavor));
      for (const int resource : group.resources) {
        const Quota& quota = quotas.quota[static_cast<std::size_t>(resource)];
        flavor.resources.push_back({.resource = resource_name(resource),
                                    .nominal = quota.nominal,
                                    .borrowing_limit = quota.borrow,
                                    .lending_limit = quota.lend});
      }
    }
  }
  return result;
}

api::Preemption preemption_of(const QueueDef& queue) {
  api::Preemption result;
  result.within_cluster_queue = static_cast<api::WithinClusterQueuePolicy>(queue.within);
  result.reclaim_within_cohort = static_cast<api::ReclaimPolicy>(queue.reclaim);
  if (queue.borrow_while_preempting) {
    result.borrow_within_cohort = api::BorrowWithinCohortPolicy::kLowerPriority;
    if (queue.threshold) {
      result.borrow_max_priority_threshold = *queue.threshold;
    }
  }
  return result;
}

api::FlavorFungibility fungibility_of(const QueueDef& queue) {
  using Policy = api::FungibilityPolicy;
  using Preference = api::FungibilityPreference;
  return {.when_can_borrow = queue.borrow_next ? Policy::kTryNextFlavor : Policy::kMayStopSearch,
          .when_can_preempt = queue.preempt_next ? Policy::kTryNextFlavor : Policy::kMayStopSearch,
          .preference =
              queue.prefer_preemption ? Preference::kPreemptionOverBorrowing : Preference::kBorrowingOverPreemption};
}

api::ClusterQueue cluster_queue_of(const World& world, int index) {
  const QueueDef& def = world.queues[static_cast<std::size_t>(index)];
  api::ClusterQueue queue;
  queue.meta = meta_of({}, queue_name(index));
  queue.resource_groups = groups_of(def.groups);
  if (def.cohort >= 0) {
    queue.cohort = CohortName(cohort_name(def.cohort));
  }
  queue.queueing_strategy = def.strict ? api::QueueingStrategy::kStrictFifo : api::QueueingStrategy::kBestEffortFifo;
  queue.namespace_selector.emplace();
  queue.flavor_fungibility = fungibility_of(def);
  queue.preemption = preemption_of(def);
  queue.fair_weight_nano = def.weight * kNanoPerThousandth;
  return queue;
}

api::ResourceFlavor flavor_of(const FlavorDef& def, int index) {
  api::ResourceFlavor flavor;
  flavor.meta = meta_of({}, flavor_name(index));
  if (def.pool >= 0) {
    flavor.node_labels["pool"] = std::to_string(def.pool);
  }
  if (def.tainted) {
    flavor.node_taints.push_back({.key = "key", .value = "val", .effect = "NoSchedule"});
  }
  return flavor;
}

api::PodSet pod_set_of(const PodSetDef& def, std::size_t index) {
  api::PodSet pod_set{.name = pod_set_name(index), .count = def.count};
  if (def.min_count > 0) {
    pod_set.min_count = def.min_count;
  }
  api::PodSpec& spec = pod_set.pod_template.spec;
  api::Container& container = spec.containers.emplace_back(api::Container{.name = "c"});
  for (int resource = 0; resource < kResources; ++resource) {
    if (const auto& amount = def.request[static_cast<std::size_t>(resource)]) {
      container.requests[resource_name(resource)] = *amount;
    }
  }
  if (def.pool >= 0) {
    spec.node_selector["pool"] = std::to_string(def.pool);
  }
  if (def.tolerates) {
    spec.tolerations.push_back({.key = "key", .op = "Exists"});
  }
  return pod_set;
}

TimePoint at_second(int second) {
  return TimePoint(std::chrono::seconds(1767225600 + second));
}

api::Workload workload_of(const World& world, int index) {
  const WorkloadDef& def = world.workloads[static_cast<std::size_t>(index)];
  api::Workload workload;
  workload.meta = meta_of(kNamespace, workload_name(index));
  workload.meta.creation_timestamp = at_second(def.created);
  workload.queue_name = LocalQueueName(queue_name(def.queue));
  workload.priority = def.priority;
  for (std::size_t i = 0; i < def.pod_sets.size(); ++i) {
    workload.pod_sets.push_back(pod_set_of(def.pod_sets[i], i));
  }
  return workload;
}

}  // namespace

Profiles::Profiles() {
  const std::string final_share = "LessThanOrEqualToFinalShare";
  const std::string initial_share = "LessThanInitialShare";
  const std::map<FairSharing, std::vector<std::string>> strategies = {
      {FairSharing::kOff, {}},
      {FairSharing::kBoth, {final_share, initial_share}},
      {FairSharing::kFinalShare, {final_share}},
      {FairSharing::kInitialShare, {initial_share}}};
  framework::Registry registry;
  plugins::register_all(registry);
  for (const auto& [kind, names] : strategies) {
    framework::PluginDeps deps;
    if (kind != FairSharing::kOff) {
      deps.fair_sharing = api::FairSharingConfig{.preemption_strategies = names};
    }
    auto profile = framework::make_profile("", registry, plugins::default_plugins(deps), deps);
    MUSTER_CHECK(profile.ok()) << to_string(profile.error());
    by_kind_.emplace(kind, *std::move(profile));
  }
}

std::vector<framework::Event> cluster_objects(const World& world) {
  std::vector<framework::Event> events;
  api::Namespace ns;
  ns.meta = meta_of({}, kNamespace);
  events.push_back(upserted(std::move(ns)));
  for (int i = 0; i < static_cast<int>(world.flavors.size()); ++i) {
    if (const FlavorDef& def = world.flavors[static_cast<std::size_t>(i)]; def.exists) {
      events.push_back(upserted(flavor_of(def, i)));
    }
  }
  for (int i = 0; i < static_cast<int>(world.cohorts.size()); ++i) {
    const CohortDef& def = world.cohorts[static_cast<std::size_t>(i)];
    if (def.object) {
      api::Cohort cohort;
      cohort.meta = meta_of({}, cohort_name(i));
      cohort.parent = def.parent < 0 ? CohortName{} : CohortName(cohort_name(def.parent));
      cohort.resource_groups = groups_of(def.groups);
      cohort.fair_weight_nano = def.weight * kNanoPerThousandth;
      events.push_back(upserted(std::move(cohort)));
    }
  }
  for (int i = 0; i < static_cast<int>(world.queues.size()); ++i) {
    events.push_back(upserted(cluster_queue_of(world, i)));
    api::LocalQueue local;
    local.meta = meta_of(kNamespace, queue_name(i));
    local.cluster_queue = ClusterQueueName(queue_name(i));
    events.push_back(upserted(std::move(local)));
  }
  return events;
}

int workload_index(const ObjectKey& key) {
  return std::stoi(key.name.substr(1));
}

int fr_index(const FlavorName& flavor, const std::string& resource) {
  return std::stoi(flavor.str().substr(1)) * kResources + (resource == "cpu"    ? kCpu
                                                           : resource == "pods" ? kPods
                                                                                : kGpu);
}

Driver::Driver(const World& world, const framework::Profile& profile)
    : world_(&world), core_({.cycles_per_settle = 40}, profile, {}) {}

void Driver::start(TimePoint now) {
  for (const framework::Event& event : cluster_objects(*world_)) {
    core_.apply(now, event);
  }
  core_.apply(now, framework::Synced{});
}

void Driver::store(int workload, api::Workload object, TimePoint now) {
  object.meta.resource_version = std::to_string(++version_);
  stored_[workload] = object;
  core_.apply(now, upserted(std::move(object)));
}

void Driver::arrive(int workload, TimePoint now) {
  store(workload, workload_of(*world_, workload), now);
}

void Driver::leave(int workload, TimePoint now) {
  api::Workload object = stored_.at(workload);
  framework::set_finished(object.status, "Succeeded", "", framework::stamp_of(object, now));
  store(workload, std::move(object), now);
}

void Driver::change_queue(int queue, TimePoint now) {
  api::ClusterQueue changed = cluster_queue_of(*world_, queue);
  changed.meta.generation = 1 + ++queue_generation_[queue];
  changed.meta.resource_version = std::to_string(++version_);
  core_.apply(now, upserted(std::move(changed)));
}

// Half of the time the watch is faster than the answer, half of the time slower.
bool Driver::carry_out(const framework::Output& output, TimePoint now) {
  bool any = false;
  for (const framework::Effect& effect : output.effects) {
    const auto* patch = std::get_if<framework::PatchWorkloadStatus>(&effect.body);
    if (patch == nullptr) {
      continue;
    }
    any = true;
    const int index = workload_index(patch->workload.key);
    api::Workload object = stored_.at(index);
    object.status = patch->status;
    object.meta.resource_version = std::to_string(++version_);
    stored_[index] = object;
    const auto shared = std::make_shared<const api::Workload>(std::move(object));
    const framework::Event seen = framework::ObjectEvent(framework::Upserted<api::Workload>{shared});
    const framework::Event done = framework::EffectDone{.id = effect.id, .workload = shared};
    const bool watch_first = effect.id % 2 == 0;
    core_.apply(now, watch_first ? seen : done);
    core_.apply(now, watch_first ? done : seen);
  }
  return any;
}

std::vector<int> Driver::stop_evicted(TimePoint now) {
  std::vector<int> stopped;
  for (const auto& [index, workload] : stored_) {
    if (api::is_evicted(workload) && api::has_quota_reservation(workload) && !api::is_finished(workload)) {
      stopped.push_back(index);
    }
  }
  for (const int index : stopped) {
    api::Workload object = stored_.at(index);
    framework::release_evicted(object.status, framework::Requeue::kAtOnce, framework::stamp_of(object, now));
    store(index, std::move(object), now);
  }
  return stopped;
}

std::vector<framework::Event> Driver::all_objects() const {
  std::vector<framework::Event> events = cluster_objects(*world_);
  for (const auto& [index, workload] : stored_) {
    events.push_back(upserted(workload));
  }
  return events;
}

}  // namespace muster::sim::reference
