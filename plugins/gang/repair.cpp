#include "plugins/gang/repair.h"

#include "plugins/gang/diagnosis.h"
#include "plugins/gang/node_judge.h"
#include "plugins/gang/trial_slots.h"

#include <algorithm>

namespace muster::plugins::gang {
namespace {

using framework::NodeSlots;
using framework::PlacementPlan;
using framework::PodSetPlan;

using Slots = std::map<NodeName, std::int32_t>;

const PodSetPlan* of_pod_set(const PlacementPlan& plan, const std::string& name) {
  const auto it = std::find_if(plan.begin(), plan.end(), [&name](const PodSetPlan& p) { return p.name == name; });
  return it == plan.end() ? nullptr : &*it;
}

std::int32_t total(const Slots& slots) {
  std::int32_t sum = 0;
  for (const auto& [node, count] : slots) {
    sum += count;
  }
  return sum;
}

void add_to(Slots& slots, const Slots& more) {
  for (const auto& [node, count] : more) {
    slots[node] += count;
  }
}

PodSetPlan plan_of(const GangPodSet& pod_set, const Slots& slots) {
  PodSetPlan plan{.name = pod_set.name, .per_pod = pod_set.shape.footprint};
  for (const auto& [node, count] : slots) {
    plan.slots.push_back({node, count});
  }
  return plan;
}

bool nobody_waits(const std::vector<PodSetPods>& pods) {
  return std::all_of(pods.begin(), pods.end(), [](const PodSetPods& entry) { return entry.waiting.empty(); });
}

// A running gang needs slots for the pods that are there; before that, for all of them.
std::int32_t slots_needed(const PodSetPods& pods, bool started) {
  return started ? std::min(pods.open(), static_cast<std::int32_t>(pods.waiting.size())) : pods.open();
}

// Every podset with as many pods as have no slot yet.
std::vector<GangPodSet> missing_pods(const std::vector<GangPodSet>& pod_sets, const std::vector<PodSetPods>& pods,
                                     const std::vector<Slots>& open, bool started) {
  std::vector<GangPodSet> missing = pod_sets;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    missing[i].count = std::max(0, slots_needed(pods[i], started) - total(open[i]));
  }
  return missing;
}

}  // namespace

Result<Repaired> Repair::run(const framework::WorkloadState& state, const std::vector<GangPodSet>& pod_sets,
                             const std::vector<PodSetPods>& pods) const {
  const LiftedSlots lifted(transaction_, state.open_slots);
  TrialSlots kept(transaction_);
  const bool started = has_started(pods);
  std::vector<Slots> open(pod_sets.size());
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    open[i] = still_good(pod_sets[i], state.open_slots, pods[i].open());
    kept.add(plan_of(pod_sets[i], open[i]));
  }
  const Placer placer(transaction_, plugins_, policy_);
  std::vector<GangPodSet> missing = missing_pods(pod_sets, pods, open, started);
  Placement placement = placer.place(missing);
  if (!placement.complete && !started && nobody_waits(pods)) {  // no pod can be on its way to a slot: all may move
    kept.clear();
    open.assign(pod_sets.size(), Slots{});
    missing = missing_pods(pod_sets, pods, open, started);
    placement = placer.place(missing);
  }
  if (!placement.complete) {
    return Error{.code = ErrorCode::kUnavailable,
                 .message = diagnose(state.observed->meta.key(), missing, placement, transaction_, plugins_).message};
  }
  Repaired result;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    if (const PodSetPlan* fresh = of_pod_set(placement.plan, pod_sets[i].name)) {
      for (const NodeSlots& slots : fresh->slots) {
        open[i][slots.node] += slots.count;
      }
    }
    Slots all = open[i];
    add_to(all, pods[i].bound);
    result.plan.push_back(plan_of(pod_sets[i], all));
    if (!open[i].empty()) {
      result.open.push_back(plan_of(pod_sets[i], open[i]));
    }
  }
  return result;
}

// Of the open slots those whose node is there, suits, and has room for them.
Repair::Slots Repair::still_good(const GangPodSet& pod_set, const PlacementPlan& open, std::int32_t at_most) const {
  Slots good;
  const PodSetPlan* planned = of_pod_set(open, pod_set.name);
  if (planned == nullptr) {
    return good;
  }
  const NodeJudge judge(plugins_, transaction_.model().nodes());
  for (const NodeSlots& slots : planned->slots) {
    const std::optional<framework::NodeId> node = judge.nodes().find(slots.node);
    const std::int32_t wanted = std::min(slots.count, at_most);
    const Amount fit = node && wanted > 0 ? judge.fit(pod_set.shape, *node, wanted) : 0;
    if (fit > 0) {
      good.emplace(slots.node, static_cast<std::int32_t>(fit));
      at_most -= static_cast<std::int32_t>(fit);
    }
  }
  return good;
}

void adopt_pods(std::vector<GangPodSet>& pod_sets, const std::vector<PodSetPods>& pods, const PlacementPlan& plan) {
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    framework::PodShape& shape = pod_sets[i].shape;
    if (pods[i].waiting.empty()) {
      if (const PodSetPlan* planned = of_pod_set(plan, pod_sets[i].name)) {
        shape.footprint = planned->per_pod;
      }
      continue;
    }
    const auto odd = std::find_if(pods[i].waiting.begin(), pods[i].waiting.end(),
                                  [](const api::Pod* pod) { return !pod->spec.unsupported_placement_fields.empty(); });
    const api::Pod& pod = odd == pods[i].waiting.end() ? *pods[i].waiting.front() : **odd;
    pod_sets[i].own_template = std::make_shared<const api::PodTemplate>(
        api::PodTemplate{.labels = pod.meta.labels, .annotations = pod.meta.annotations, .spec = pod.spec});
    shape.pod_template = pod_sets[i].own_template.get();
    shape.footprint = {.host_ports = pod.spec.host_ports};
    for (const api::Pod* waiting : pods[i].waiting) {
      for (const auto& [resource, amount] : api::pod_requests(waiting->spec)) {
        Amount& most = shape.footprint.requests[resource];
        most = std::max(most, amount);
      }
    }
  }
}

}  // namespace muster::plugins::gang
