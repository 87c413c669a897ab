#include "plugins/gang/gang.h"

#include "framework/totals.h"
#include "plugins/gang/diagnosis.h"
#include "plugins/gang/gang_pods.h"
#include "plugins/gang/placer.h"
#include "plugins/gang/pod_set.h"
#include "plugins/gang/repair.h"

#include <algorithm>

namespace muster::plugins {
namespace {

using framework::Assignment;
using framework::BindContext;
using framework::FilterContext;
using framework::FitMode;
using framework::FlavorExclusion;
using framework::PermitPhase;
using framework::PlacementPlan;
using framework::Verdict;
using framework::Wake;
using framework::WakeKind;
using framework::WorkloadState;
using gang::Diagnosis;
using gang::GangPodSet;
using gang::PodSetPods;

// An admitted gang: its podsets, and its pods as they are.
struct Running {
  framework::WorkloadInfo workload{};  // owns what pod_sets borrow
  std::vector<GangPodSet> pod_sets{};
  std::vector<PodSetPods> pods{};
};

Running observe(const WorkloadState& state, const framework::Model& model, const gang::GangArgs& args) {
  Running running;
  if (state.observed == nullptr || !state.status.admission) {
    return running;
  }
  running.workload = framework::build_info(state.observed, state.status.admission->cluster_queue, model.objects(), {});
  running.pod_sets = gang::gang_pod_sets(running.workload, state.status, model.objects(), args);
  running.pods = gang::pods_of_gang(*state.observed, running.pod_sets, model);
  gang::adopt_pods(running.pod_sets, running.pods, state.plan);
  return running;
}

// The flavor to do without: that of the resource the nodes lack, else the podset's first. Empty: it has none.
FlavorName flavor_to_blame(const GangPodSet& pod_set, const std::string& lacking_resource) {
  if (pod_set.flavors.empty()) {
    return FlavorName{};
  }
  const auto lacking = pod_set.flavors.find(lacking_resource);
  return lacking != pod_set.flavors.end() ? lacking->second : pod_set.flavors.begin()->second;
}

// Whether the flavor has been ruled out already, at least as firmly.
bool is_excluded(const FilterContext& context, const FlavorExclusion& wanted) {
  return std::any_of(context.exclusions.begin(), context.exclusions.end(), [&](const FlavorExclusion& exclusion) {
    return exclusion.pod_set == wanted.pod_set && exclusion.flavor == wanted.flavor &&
           (wanted.preemption_helps || !exclusion.preemption_helps);
  });
}

std::vector<Wake> wakes_of(const FilterContext& context, const std::vector<GangPodSet>& pod_sets) {
  std::vector<Wake> wakes = {{WakeKind::kNodes, ""},
                             {WakeKind::kQuota, context.model().quota().root_key(context.workload.cluster_queue)}};
  for (const GangPodSet& pod_set : pod_sets) {
    for (const auto& [resource, flavor] : pod_set.flavors) {
      wakes.push_back({WakeKind::kFlavor, flavor.str()});
    }
  }
  std::sort(wakes.begin(), wakes.end());
  wakes.erase(std::unique(wakes.begin(), wakes.end()), wakes.end());
  return wakes;
}

std::string unsupported_text(const std::string& field) {
  return field + " is not supported for pods of scheduler muster";
}

// Nodes suffice: what the assigner thought of them no longer counts.
void accept(Assignment& assignment, PlacementPlan plan) {
  assignment.plan = std::move(plan);
  if (assignment.nodes_need_preemption && assignment.needs_preemption.empty()) {
    assignment.mode = FitMode::kFit;
  }
  assignment.nodes_need_preemption = false;
}

void accept_without_nodes(Assignment& assignment, const Diagnosis& why) {
  assignment.plan.clear();
  assignment.mode = FitMode::kPreempt;
  assignment.nodes_need_preemption = true;
  if (assignment.message.empty()) {
    assignment.message = why.message;
  }
}

// For `explain`. `why`: null when every pod found a node.
void note(const std::vector<GangPodSet>& pod_sets, const gang::Placement& placement, const Diagnosis* why,
          framework::Findings* findings) {
  if (findings == nullptr) {
    return;
  }
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    findings->placements.push_back({.pod_set = pod_sets[i].name,
                                    .wanted = pod_sets[i].count,
                                    .placed = why == nullptr ? pod_sets[i].count : placement.fit[i],
                                    .text = why != nullptr && why->pod_set == i ? why->message : std::string()});
  }
}

// One binding for every waiting pod that has a slot: pods and slots are matched in order, so that a repetition after
// some of the bindings were made asks for the same.
void bind_waiting(const Running& running, const PlacementPlan& open, BindContext& context) {
  for (const framework::PodSetPlan& slots : open) {
    const auto pods = std::find_if(running.pods.begin(), running.pods.end(),
                                   [&slots](const PodSetPods& entry) { return entry.name == slots.name; });
    auto pod = pods->waiting.begin();
    for (const framework::NodeSlots& on_node : slots.slots) {
      for (std::int32_t i = 0; i < on_node.count && pod != pods->waiting.end(); ++i, ++pod) {
        context.effects.emplace_back(framework::BindPod{
            .pod = {.kind = framework::Kind::kPod, .key = (*pod)->meta.key(), .uid = (*pod)->meta.uid},
            .node = on_node.node,
            .workload = context.key});
      }
    }
  }
}

}  // namespace

Result<std::unique_ptr<Gang>> Gang::create(const api::Json& json, const framework::PluginDeps& /*deps*/) {
  MUSTER_TRY(args, gang::parse_gang_args(json));
  return std::make_unique<Gang>(std::move(args));
}

Verdict Gang::filter(FilterContext& context, Assignment& assignment, std::vector<FlavorExclusion>& rejected) const {
  if (assignment.mode == FitMode::kNoFit) {
    return Verdict::skip();
  }
  const auto pod_sets = gang::gang_pod_sets(context.workload, assignment, context.model().objects(), args_);
  assignment.wants_nodes = !pod_sets.empty();
  if (pod_sets.empty()) {
    return Verdict::skip();
  }
  if (const std::string field = gang::unsupported_field(pod_sets); !field.empty()) {
    return Verdict::unresolvable(std::string(kUnsupportedField), unsupported_text(field))
        .wakes_on({{WakeKind::kWorkload, to_string(context.workload.key)}});
  }
  const gang::Placer placer(context.transaction, context.node_plugins, args_.placement);
  gang::Placement placement = placer.place(pod_sets);
  if (placement.complete) {
    note(pod_sets, placement, nullptr, context.findings);
    accept(assignment, std::move(placement.plan));
    return {};
  }
  const Diagnosis why =
      gang::diagnose(context.workload.key, pod_sets, placement, context.transaction, context.node_plugins);
  note(pod_sets, placement, &why, context.findings);
  FlavorExclusion exclusion{.pod_set = pod_sets[why.pod_set].name,
                            .flavor = flavor_to_blame(pod_sets[why.pod_set], why.lacking_resource),
                            .reason = std::string(kPlacementFailed),
                            .message = why.message,
                            .preemption_helps = why.preemption_helps};
  const bool excludes = !exclusion.flavor.empty() && !is_excluded(context, exclusion);
  if (why.preemption_helps && (assignment.mode == FitMode::kPreempt || !excludes)) {
    accept_without_nodes(assignment, why);
    return {};
  }
  if (excludes) {
    rejected.push_back(std::move(exclusion));
  }
  Verdict verdict = why.preemption_helps || excludes
                        ? Verdict::unschedulable(std::string(kPlacementFailed), why.message)
                        : Verdict::unresolvable(std::string(kPlacementFailed), why.message);
  return std::move(verdict).wakes_on(wakes_of(context, pod_sets));
}

bool Gang::passes(FilterContext& context, Assignment& assignment) const {
  const auto pod_sets = gang::gang_pod_sets(context.workload, assignment, context.model().objects(), args_);
  if (pod_sets.empty()) {
    return true;
  }
  const gang::Placer placer(context.transaction, context.node_plugins, args_.placement);
  gang::Placement placement = placer.place(pod_sets);
  if (placement.complete) {
    assignment.plan = std::move(placement.plan);
  }
  return placement.complete;
}

Verdict Gang::permit(const WorkloadState& workload, const framework::Model& model, PermitPhase phase,
                     TimePoint /*now*/) const {
  if (phase != PermitPhase::kPods) {
    return Verdict::skip();
  }
  const Running running = observe(workload, model, args_);
  if (running.pod_sets.empty()) {
    return Verdict::skip();
  }
  if (gang::has_started(running.pods) || gang::is_complete(running.pods)) {
    return {};
  }
  return Verdict::wait(std::string(kWaitingForPods), gang::presence_text(running.pods))
      .wakes_on({{WakeKind::kPods, to_string(workload.observed->meta.key())}});
}

Verdict Gang::bind(BindContext& context) const {
  const Running running = observe(context.workload, context.model(), args_);
  if (running.pod_sets.empty()) {
    return Verdict::skip();
  }
  if (const std::string field = gang::unsupported_field(running.pod_sets); !field.empty()) {
    return Verdict::unresolvable(std::string(kUnsupportedField), unsupported_text(field));
  }
  const gang::Repair repair(context.transaction, context.node_plugins, args_.placement);
  Result<gang::Repaired> repaired = repair.run(context.workload, running.pod_sets, running.pods);
  if (!repaired.ok()) {
    return Verdict::unschedulable(std::string(kNoReplacement), repaired.error().message);
  }
  if (gang::has_started(running.pods) || gang::is_complete(running.pods)) {
    bind_waiting(running, repaired->open, context);
  }
  if (repaired->open != context.workload.open_slots) {
    context.new_plan = std::move(repaired->plan);
  }
  return {};
}

Result<PlacementPlan> Gang::plan_for(const WorkloadState& workload, framework::Transaction& transaction,
                                     const framework::NodePlugins& plugins) const {
  const Running running = observe(workload, transaction.model(), args_);
  if (running.pod_sets.empty()) {
    return PlacementPlan{};
  }
  MUSTER_TRY(repaired,
             gang::Repair(transaction, plugins, args_.placement).run(workload, running.pod_sets, running.pods));
  return std::move(repaired.plan);
}

}  // namespace muster::plugins
