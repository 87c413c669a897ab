#include "plugins/flavor_assigner/assigner.h"

#include "framework/status/workload_conditions.h"
#include "plugins/flavor_assigner/eligibility.h"
#include "plugins/flavor_assigner/quota_check.h"

#include <algorithm>
#include <utility>

namespace muster::plugins {
namespace {

using framework::FitMode;
using framework::FlavorChoice;
using framework::FlavorExclusion;
using framework::FlavorResource;

constexpr char kPods[] = "pods";

// Of NoFit reasons (§3.9). What a later plugin names counts as its kin, a placement that failed.
int severity(std::string_view reason_class) {
  if (reason_class.empty()) {
    return 0;
  }
  if (reason_class == framework::kWaitingForQuota) {
    return 2;
  }
  if (reason_class == framework::kExceedsMaxQuota) {
    return 3;
  }
  return reason_class == framework::kNoMatchingFlavor ? 4 : 1;
}

FitMode mode_of(Fitness fitness) {
  switch (fitness) {
    case Fitness::kNoFit:
      return FitMode::kNoFit;
    case Fitness::kFit:
      return FitMode::kFit;
    default:
      return FitMode::kPreempt;
  }
}

// For `explain`: only somebody who could be preempted makes it more than no fit.
FitMode prospect_of(Fitness fitness) {
  return fitness == Fitness::kNoCandidates ? FitMode::kNoFit : mode_of(fitness);
}

std::string unavailable_text(const std::string& resource) {
  return "resource " + resource + " unavailable in ClusterQueue";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

}  // namespace

Assigner::Assigner(const framework::FilterContext& context, const api::ClusterQueue& queue,
                   const FlavorAssignerArgs& args)
    : context_(context),
      queue_(queue),
      args_(args),
      preference_(args.fungibility ? &queue.flavor_fungibility : nullptr) {
  for (std::size_t i = 0; i < queue.resource_groups.size(); ++i) {
    for (const std::string& resource : queue.resource_groups[i].covered_resources) {
      group_of_.emplace(resource, i);
    }
  }
}

framework::Assignment Assigner::run() {
  out_.mode = context_.workload.pod_sets.empty() ? FitMode::kNoFit : FitMode::kFit;
  bool served = true;
  for (const framework::PodSetTotals& totals : context_.workload.pod_sets) {
    PodSetRun run = start(totals);
    if (context_.findings != nullptr) {
      survey(run);
    }
    if (served) {
      assign(run);
      charge(run);
      conclude(run);
      served = run.mode != FitMode::kNoFit;
    }
    if (!served && context_.findings == nullptr) {
      break;
    }
  }
  if (out_.mode == FitMode::kPreempt) {
    out_.reason = out_.needs_preemption.empty() ? exclusion_reason_ : std::string(framework::kWaitingForQuota);
  } else if (out_.mode == FitMode::kNoFit && out_.reason.empty()) {
    out_.reason = framework::kPendingEvaluation;
  }
  std::sort(out_.needs_preemption.begin(), out_.needs_preemption.end());
  const auto repeated = std::unique(out_.needs_preemption.begin(), out_.needs_preemption.end());
  out_.needs_preemption.erase(repeated, out_.needs_preemption.end());
  return std::move(out_);
}

Assigner::PodSetRun Assigner::start(const framework::PodSetTotals& totals) const {
  static const api::PodSpec kPlainPod{};
  PodSetRun run{.totals = &totals,
                .pod = totals.pod_template == nullptr ? &kPlainPod : &totals.pod_template->spec,
                .requests = totals.requests,
                .choice = {.name = totals.name, .count = totals.count}};
  if (group_of(kPods) != nullptr) {
    run.requests[kPods] = totals.count;
  }
  return run;
}

void Assigner::assign(PodSetRun& run) {
  for (const auto& [resource, amount] : run.requests) {
    const std::size_t* group = group_of(resource);
    if (group == nullptr) {
      if (amount == 0 || args_.quota_check_strategy == QuotaCheckStrategy::kIgnoreUndeclared) {
        continue;
      }
      fail(run, {unavailable_text(resource)});
      run.no_fit_classes.clear();  // nothing outweighs it
      break;
    }
    const bool decided_with_its_group = run.choice.flavors.count(resource) > 0;
    if (!decided_with_its_group && !assign_group(run, *group)) {
      break;
    }
  }
}

bool Assigner::assign_group(PodSetRun& run, std::size_t group) {
  const api::ResourceGroup& resource_group = queue_.resource_groups[group];
  Attempt best{.grade = {Fitness::kNoFit, 0}};
  std::vector<std::string> reasons;
  for (const api::FlavorQuotas& flavor : resource_group.flavors) {
    Attempt attempt = try_flavor(run, resource_group, flavor.name);
    std::move(attempt.reasons.begin(), attempt.reasons.end(), std::back_inserter(reasons));
    if (attempt.grade.fitness == Fitness::kNoFit) {
      const auto [least, first] = run.no_fit_classes.try_emplace(group, attempt.no_fit_class);
      if (!first && severity(attempt.no_fit_class) < severity(least->second)) {
        least->second = attempt.no_fit_class;
      }
    }
    const bool stop = preference_.stops_search(attempt.grade);
    if (stop || preference_.better(attempt.grade, best.grade)) {
      best = std::move(attempt);
    }
    if (stop) {
      break;
    }
  }
  if (best.grade.fitness == Fitness::kNoFit) {
    fail(run, std::move(reasons));
    return false;
  }
  run.choice.flavors.merge(best.choices);
  if (best.grade.fitness != Fitness::kFit) {
    run.mode = FitMode::kPreempt;
    run.lacks_nodes = run.lacks_nodes || best.grade.fitness == Fitness::kNodesLacking;
    std::move(reasons.begin(), reasons.end(), std::back_inserter(run.choice.reasons));
  }
  return true;
}

Assigner::Attempt Assigner::try_flavor(const PodSetRun& run, const api::ResourceGroup& group,
                                       const FlavorName& flavor) {
  Attempt attempt;
  const auto* object = context_.model().objects().find<api::ResourceFlavor>(ObjectKey{{}, flavor.str()});
  if (std::string reason = ineligible_reason(*run.pod, flavor, object); !reason.empty()) {
    unsuitable_.insert(flavor);
    attempt.grade = {Fitness::kNoFit, 0};
    attempt.no_fit_class = framework::kNoMatchingFlavor;
    attempt.reasons.push_back(std::move(reason));
    return attempt;
  }
  check_quotas(run, group, flavor, attempt);
  if (const FlavorExclusion* exclusion = exclusion_of(run.totals->name, flavor)) {
    apply_exclusion(*exclusion, attempt);
  }
  return attempt;
}

void Assigner::check_quotas(const PodSetRun& run, const api::ResourceGroup& group, const FlavorName& flavor,
                            Attempt& attempt) {
  for (const auto& [resource, amount] : run.requests) {
    if (!covers(group, resource)) {
      continue;
    }
    QuotaAnswer answer = check_quota(context_, queue_, question(run, flavor, resource));
    attempt.choices[resource] = {flavor, mode_of(answer.grade.fitness), answer.grade.borrow_level};
    attempt.grade = preference_.worse(attempt.grade, answer.grade);
    if (!answer.text.empty()) {
      quota_lacks_ = true;
      attempt.reasons.push_back(std::move(answer.text));
    }
    if (severity(answer.reason_class) > severity(attempt.no_fit_class)) {
      attempt.no_fit_class = answer.reason_class;
    }
  }
}

QuotaQuestion Assigner::question(const PodSetRun& run, const FlavorName& flavor, const std::string& resource) const {
  const FlavorResource fr{flavor, resource};
  const auto used = out_.usage.find(fr);
  return {.fr = fr, .considered = used == out_.usage.end() ? 0 : used->second, .request = run.requests.at(resource)};
}

bool Assigner::covers(const api::ResourceGroup& group, const std::string& resource) const {
  const std::size_t* index = group_of(resource);
  return index != nullptr && &queue_.resource_groups[*index] == &group;
}

void Assigner::survey(const PodSetRun& run) const {
  const bool undeclared_matters = args_.quota_check_strategy == QuotaCheckStrategy::kBlockUndeclared;
  for (const auto& [resource, amount] : run.requests) {
    if (group_of(resource) == nullptr && amount != 0 && undeclared_matters) {
      context_.findings->flavors.push_back({.pod_set = run.totals->name,
                                            .resource = resource,
                                            .requested = amount,
                                            .text = unavailable_text(resource)});
    }
  }
  for (const api::ResourceGroup& group : queue_.resource_groups) {
    const bool concerned = std::any_of(run.requests.begin(), run.requests.end(),
                                       [&](const auto& request) { return covers(group, request.first); });
    for (const api::FlavorQuotas& flavor : group.flavors) {
      if (concerned) {
        survey_flavor(run, group, flavor.name);
      }
    }
  }
}

void Assigner::survey_flavor(const PodSetRun& run, const api::ResourceGroup& group, const FlavorName& flavor) const {
  const auto* object = context_.model().objects().find<api::ResourceFlavor>(ObjectKey{{}, flavor.str()});
  if (std::string reason = ineligible_reason(*run.pod, flavor, object); !reason.empty()) {
    context_.findings->flavors.push_back({.pod_set = run.totals->name, .flavor = flavor, .text = std::move(reason)});
    return;
  }
  for (const auto& [resource, amount] : run.requests) {
    if (!covers(group, resource)) {
      continue;
    }
    const QuotaQuestion asked = question(run, flavor, resource);
    QuotaAnswer answer = check_quota(context_, queue_, asked);
    context_.findings->flavors.push_back({.pod_set = run.totals->name,
                                          .flavor = flavor,
                                          .resource = resource,
                                          .mode = prospect_of(answer.grade.fitness),
                                          .requested = amount,
                                          .earlier = asked.considered,
                                          .text = std::move(answer.text)});
  }
}

void Assigner::apply_exclusion(const FlavorExclusion& exclusion, Attempt& attempt) {
  if (attempt.grade.fitness == Fitness::kNoFit) {
    return;
  }
  exclusion_reason_ = exclusion.reason;
  attempt.reasons.push_back(exclusion.message);
  if (!exclusion.preemption_helps) {
    attempt.grade.fitness = Fitness::kNoFit;
    attempt.no_fit_class = exclusion.reason;
  } else if (attempt.grade.fitness != Fitness::kNoCandidates) {
    attempt.grade.fitness = Fitness::kNodesLacking;
  }
}

void Assigner::fail(PodSetRun& run, std::vector<std::string> reasons) const {
  run.mode = FitMode::kNoFit;
  run.choice.flavors.clear();
  run.choice.reasons = std::move(reasons);
}

// Adds the podset's choice to what the Workload would be charged with.
void Assigner::charge(PodSetRun& run) {
  for (const auto& [resource, choice] : run.choice.flavors) {
    const Amount amount = run.requests.at(resource);
    run.choice.requests.emplace(resource, amount);
    out_.borrow_level = std::max(out_.borrow_level, choice.borrow_level);
    if (amount == 0) {
      continue;
    }
    const FlavorResource fr{choice.flavor, resource};
    Amount& used = out_.usage[fr];
    used = sat_add(used, amount);
    if (choice.mode == FitMode::kPreempt) {
      out_.needs_preemption.push_back(fr);
    }
  }
}

// Adds the podset to the result: mode, message, and the reason when nothing fits.
void Assigner::conclude(const PodSetRun& run) {
  out_.mode = std::min(out_.mode, run.mode);
  out_.nodes_need_preemption = out_.nodes_need_preemption || run.lacks_nodes;
  framework::PodSetChoice choice = run.choice;
  std::sort(choice.reasons.begin(), choice.reasons.end());
  if (run.mode != FitMode::kFit) {
    out_.message += (out_.message.empty() ? "" : "; ") + ("couldn't assign flavors to pod set " + choice.name) + ": " +
                    joined(choice.reasons);
  }
  if (run.mode == FitMode::kNoFit) {
    out_.reason = run.no_fit_classes.empty() ? framework::kNoMatchingFlavor : "";
    for (const auto& [group, reason_class] : run.no_fit_classes) {
      if (severity(reason_class) > severity(out_.reason)) {
        out_.reason = reason_class;
      }
    }
  }
  out_.pod_sets.push_back(std::move(choice));
}

std::vector<framework::Wake> Assigner::wakes() const {
  using framework::WakeKind;
  const ClusterQueueName name(queue_.meta.name);
  std::vector<framework::Wake> wakes;
  if (quota_lacks_) {
    wakes.push_back({WakeKind::kQuota, context_.model().quota().root_key(name)});
  }
  wakes.push_back({WakeKind::kClusterQueue, name.str()});
  for (const FlavorName& flavor : unsuitable_) {
    wakes.push_back({WakeKind::kFlavor, flavor.str()});
  }
  if (!exclusion_reason_.empty()) {
    wakes.push_back({WakeKind::kNodes, {}});
  }
  return wakes;
}

const std::size_t* Assigner::group_of(const std::string& resource) const {
  const auto it = group_of_.find(resource);
  return it == group_of_.end() ? nullptr : &it->second;
}

// The one that rules the flavor out for good, if there are several.
const FlavorExclusion* Assigner::exclusion_of(const std::string& pod_set, const FlavorName& flavor) const {
  const FlavorExclusion* found = nullptr;
  for (const FlavorExclusion& exclusion : context_.exclusions) {
    const bool concerns = exclusion.pod_set == pod_set && exclusion.flavor == flavor;
    if (concerns && (found == nullptr || (found->preemption_helps && !exclusion.preemption_helps))) {
      found = &exclusion;
    }
  }
  return found;
}

}  // namespace muster::plugins
