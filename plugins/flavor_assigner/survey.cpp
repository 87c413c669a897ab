// What every flavor would answer, for `explain`.
#include "framework/findings.h"
#include "plugins/flavor_assigner/assigner.h"
#include "plugins/flavor_assigner/eligibility.h"
#include "plugins/flavor_assigner/quota_check.h"

#include <algorithm>

namespace muster::plugins {
namespace {

using framework::FitMode;

// Only somebody who could be preempted makes it more than no fit.
FitMode prospect_of(Fitness fitness) {
  return fitness == Fitness::kNoCandidates ? FitMode::kNoFit : mode_of(fitness);
}

}  // namespace

void Assigner::survey(const Run& run) const {
  for (const Member& member : run.members) {
    survey(member);
  }
}

void Assigner::survey(const Member& member) const {
  const bool undeclared_matters = args_.quota_check_strategy == QuotaCheckStrategy::kBlockUndeclared;
  for (const auto& [resource, amount] : member.requests) {
    if (group_of(resource) == nullptr && amount != 0 && undeclared_matters) {
      context_.findings->flavors.push_back({.pod_set = member.totals->name,
                                            .resource = resource,
                                            .requested = amount,
                                            .text = unavailable_text(resource)});
    }
  }
  for (const api::ResourceGroup& group : queue_.resource_groups) {
    const bool concerned = std::any_of(member.requests.begin(), member.requests.end(),
                                       [&](const auto& request) { return covers(group, request.first); });
    for (const api::FlavorQuotas& flavor : group.flavors) {
      if (concerned) {
        survey_flavor(member, group, flavor.name);
      }
    }
  }
}

void Assigner::survey_flavor(const Member& member, const api::ResourceGroup& group, const FlavorName& flavor) const {
  const auto* object = context_.model().objects().find<api::ResourceFlavor>(ObjectKey{{}, flavor.str()});
  if (std::string reason = ineligible_reason(*member.pod, flavor, object); !reason.empty()) {
    context_.findings->flavors.push_back({.pod_set = member.totals->name, .flavor = flavor, .text = std::move(reason)});
    return;
  }
  for (const auto& [resource, amount] : member.requests) {
    if (!covers(group, resource)) {
      continue;
    }
    const QuotaQuestion asked = question(member.requests, flavor, resource);
    QuotaAnswer answer = check_quota(context_, queue_, asked);
    context_.findings->flavors.push_back({.pod_set = member.totals->name,
                                          .flavor = flavor,
                                          .resource = resource,
                                          .mode = prospect_of(answer.grade.fitness),
                                          .requested = amount,
                                          .earlier = asked.considered,
                                          .text = std::move(answer.text)});
  }
}

}  // namespace muster::plugins
