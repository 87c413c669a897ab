#include "plugins/flavor_assigner/assigner.h"

#include "framework/status/workload_conditions.h"
#include "plugins/flavor_assigner/eligibility.h"
#include "plugins/flavor_assigner/quota_check.h"

#include <algorithm>
#include <iterator>
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

std::string_view describe(Fitness fitness) {
  switch (fitness) {
    case Fitness::kNoFit:
      return "NoFit";
    case Fitness::kNoCandidates:
      return "preemptionMode=NoCandidates";
    case Fitness::kNodesLacking:
    case Fitness::kPreempt:
      return "preemptionMode=Preempt";
    case Fitness::kReclaim:
      return "preemptionMode=Reclaim";
    case Fitness::kFit:
      break;
  }
  return "Fit";
}

std::string describe_attempt(const Grade& grade, const std::vector<std::string>& reasons) {
  std::string text = "(" + std::string(describe(grade.fitness));
  if (grade.borrow_level > 0) {
    text += ";borrow=" + std::to_string(grade.borrow_level);
  }
  for (const std::string& reason : reasons) {
    text += ";" + reason;
  }
  return text + ")";
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
  for (Run& run : runs()) {
    if (context_.findings != nullptr) {
      survey(run);
    }
    if (served) {
      assign(run);
      conclude(run);
      served = run.mode != FitMode::kNoFit;
    }
    if (!served && context_.findings == nullptr) {
      break;
    }
  }
  finish();
  return std::move(out_);
}

void Assigner::finish() {
  if (out_.mode == FitMode::kPreempt) {
    out_.reason = out_.needs_preemption.empty() ? exclusion_reason_ : std::string(framework::kWaitingForQuota);
  } else if (out_.mode == FitMode::kNoFit && out_.reason.empty()) {
    out_.reason = framework::kPendingEvaluation;
  }
  std::sort(out_.needs_preemption.begin(), out_.needs_preemption.end());
  const auto repeated = std::unique(out_.needs_preemption.begin(), out_.needs_preemption.end());
  out_.needs_preemption.erase(repeated, out_.needs_preemption.end());
  std::vector<framework::PodSetChoice> in_order;
  for (const framework::PodSetTotals& totals : context_.workload.pod_sets) {
    const auto choice = std::find_if(out_.pod_sets.begin(), out_.pod_sets.end(),
                                     [&totals](const auto& entry) { return entry.name == totals.name; });
    if (choice != out_.pod_sets.end()) {
      in_order.push_back(std::move(*choice));
    }
  }
  out_.pod_sets = std::move(in_order);
  if (out_.mode != FitMode::kFit) {
    out_.flavors_considered.clear();  // told once it is admitted
  }
}

std::vector<Assigner::Run> Assigner::runs() const {
  std::vector<Run> runs;
  std::map<std::string, std::size_t> by_group;
  for (const framework::PodSetTotals& totals : context_.workload.pod_sets) {
    const auto [at, first] = by_group.try_emplace(totals.group, runs.size());
    if (first || totals.group.empty()) {
      at->second = runs.size();
      runs.emplace_back();
    }
    Run& run = runs[at->second];
    run.members.push_back(member_of(totals));
    for (const auto& [resource, amount] : run.members.back().requests) {
      Amount& sum = run.requests[resource];
      sum = sat_add(sum, amount);
    }
  }
  return runs;
}

Assigner::Member Assigner::member_of(const framework::PodSetTotals& totals) const {
  static const api::PodSpec kPlainPod{};
  Member member{.totals = &totals,
                .pod = totals.pod_template == nullptr ? &kPlainPod : &totals.pod_template->spec,
                .requests = totals.requests};
  if (group_of(kPods) != nullptr) {
    member.requests[kPods] = totals.count;
  }
  return member;
}

void Assigner::assign(Run& run) {
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
    const bool decided_with_its_group = run.flavors.count(resource) > 0;
    if (!decided_with_its_group && !assign_group(run, resource, *group)) {
      break;
    }
  }
}

bool Assigner::assign_group(Run& run, const std::string& resource, std::size_t group) {
  const api::ResourceGroup& resource_group = queue_.resource_groups[group];
  const std::size_t flavors = resource_group.flavors.size();
  Attempt best{.grade = {Fitness::kNoFit, 0}};
  std::vector<std::string> reasons;
  std::size_t i = first_flavor(run, resource, flavors);
  for (bool stop = false; i < flavors && !stop; ++i) {
    Attempt attempt = try_flavor(run, resource, resource_group, resource_group.flavors[i].name);
    reasons.insert(reasons.end(), attempt.reasons.begin(), attempt.reasons.end());
    if (attempt.grade.fitness == Fitness::kNoFit && !attempt.no_fit_class.empty()) {  // not one that was only skipped
      const auto [least, first] = run.no_fit_classes.try_emplace(group, attempt.no_fit_class);
      if (!first && severity(attempt.no_fit_class) < severity(least->second)) {
        least->second = attempt.no_fit_class;
      }
    }
    run.attempts.push_back(attempt);
    stop = preference_.stops_search(attempt.grade);
    if (stop || preference_.better(attempt.grade, best.grade)) {
      best = std::move(attempt);
    }
  }
  if (best.grade.fitness == Fitness::kNoFit) {
    fail(run, std::move(reasons));
    return false;
  }
  take(run, std::move(best), std::move(reasons),
       i == flavors ? framework::ScanProgress::kExhausted : static_cast<int>(i) - 1);
  return true;
}

void Assigner::take(Run& run, Attempt best, std::vector<std::string> reasons, int tried) const {
  for (const auto& [resource, choice] : best.choices) {
    run.tried[resource] = tried;
  }
  run.flavors.merge(best.choices);
  if (best.grade.fitness != Fitness::kFit) {
    run.mode = FitMode::kPreempt;
    run.lacks_nodes = run.lacks_nodes || best.grade.fitness == Fitness::kNodesLacking;
    std::move(reasons.begin(), reasons.end(), std::back_inserter(run.reasons));
  }
}

// Where the last attempt stopped (§3.4). A list that has become shorter since is begun anew.
std::size_t Assigner::first_flavor(const Run& run, const std::string& resource, std::size_t flavors) const {
  const framework::ScanProgress* progress = context_.workload.progress.get();
  if (!args_.fungibility || progress == nullptr) {
    return 0;
  }
  const auto next = static_cast<std::size_t>(progress->next(run.members.front().totals->name, resource));
  return next < flavors ? next : 0;
}

Assigner::Attempt Assigner::try_flavor(const Run& run, const std::string& resource, const api::ResourceGroup& group,
                                       const FlavorName& flavor) {
  Attempt attempt{.flavor = flavor};
  if (is_given_up(run, resource, flavor)) {
    attempt.grade = {Fitness::kNoFit, 0};
    attempt.reasons.push_back("skipping flavor " + flavor.str() +
                              " as it is not found in the nomination mapping for resource " + resource);
    return attempt;
  }
  if (std::string reason = ineligible(run, flavor); !reason.empty()) {
    unsuitable_.insert(flavor);
    attempt.grade = {Fitness::kNoFit, 0};
    attempt.no_fit_class = framework::kNoMatchingFlavor;
    attempt.reasons.push_back(std::move(reason));
    return attempt;
  }
  check_quotas(run, group, flavor, attempt);
  if (const FlavorExclusion* exclusion = exclusion_of(run, flavor)) {
    apply_exclusion(*exclusion, attempt);
  }
  return attempt;
}

// Of the first member that cannot use the flavor.
std::string Assigner::ineligible(const Run& run, const FlavorName& flavor) const {
  const auto* object = context_.model().objects().find<api::ResourceFlavor>(ObjectKey{{}, flavor.str()});
  for (const Member& member : run.members) {
    if (std::string reason = ineligible_reason(*member.pod, flavor, object); !reason.empty()) {
      return reason;
    }
  }
  return {};
}

// The attempt is repeated with the flavors of its first run, and this is not one of them.
bool Assigner::is_given_up(const Run& run, const std::string& resource, const FlavorName& flavor) const {
  if (context_.pinned == nullptr) {
    return false;
  }
  return std::none_of(context_.pinned->pod_sets.begin(), context_.pinned->pod_sets.end(), [&](const auto& pod_set) {
    const bool concerned = std::any_of(run.members.begin(), run.members.end(), [&pod_set](const Member& member) {
      return member.totals->name == pod_set.name;
    });
    const auto choice = pod_set.flavors.find(resource);
    return concerned && choice != pod_set.flavors.end() && choice->second.flavor == flavor;
  });
}

void Assigner::check_quotas(const Run& run, const api::ResourceGroup& group, const FlavorName& flavor,
                            Attempt& attempt) {
  for (const auto& [resource, amount] : run.requests) {
    if (!covers(group, resource)) {
      continue;
    }
    QuotaAnswer answer = check_quota(context_, queue_, question(run.requests, flavor, resource));
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

QuotaQuestion Assigner::question(const api::ResourceAmounts& requests, const FlavorName& flavor,
                                 const std::string& resource) const {
  const FlavorResource fr{flavor, resource};
  const auto used = out_.usage.find(fr);
  return {.fr = fr, .considered = used == out_.usage.end() ? 0 : used->second, .request = requests.at(resource)};
}

bool Assigner::covers(const api::ResourceGroup& group, const std::string& resource) const {
  const std::size_t* index = group_of(resource);
  return index != nullptr && &queue_.resource_groups[*index] == &group;
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

void Assigner::fail(Run& run, std::vector<std::string> reasons) const {
  run.mode = FitMode::kNoFit;
  run.flavors.clear();
  run.tried.clear();
  run.reasons = std::move(reasons);
}

// Gives the member its part of the choice, and adds that to what the Workload would be charged with.
void Assigner::charge(const Run& run, const Member& member, framework::PodSetChoice& choice) {
  for (const auto& [resource, amount] : member.requests) {
    const auto flavor = run.flavors.find(resource);
    if (flavor == run.flavors.end()) {
      continue;
    }
    choice.flavors.emplace(resource, flavor->second);
    choice.requests.emplace(resource, amount);
    out_.borrow_level = std::max(out_.borrow_level, flavor->second.borrow_level);
    out_.progress.tried[{member.totals->name, resource}] = run.tried.at(resource);
    if (amount == 0) {
      continue;
    }
    const FlavorResource fr{flavor->second.flavor, resource};
    Amount& used = out_.usage[fr];
    used = sat_add(used, amount);
    if (flavor->second.mode == FitMode::kPreempt) {
      out_.needs_preemption.push_back(fr);
    }
  }
}

// Adds the podsets to the result: mode, message, and the reason when nothing fits.
void Assigner::conclude(Run& run) {
  out_.mode = std::min(out_.mode, run.mode);
  out_.nodes_need_preemption = out_.nodes_need_preemption || run.lacks_nodes;
  std::sort(run.reasons.begin(), run.reasons.end());
  for (const Member& member : run.members) {
    framework::PodSetChoice choice{
        .name = member.totals->name, .count = member.totals->count, .reasons = run.reasons};
    charge(run, member, choice);
    if (run.mode != FitMode::kFit) {
      out_.message += (out_.message.empty() ? "" : "; ") + ("couldn't assign flavors to pod set " + choice.name) +
                      ": " + joined(choice.reasons);
    }
    out_.pod_sets.push_back(std::move(choice));
  }
  if (run.mode == FitMode::kNoFit) {
    out_.reason = run.no_fit_classes.empty() ? framework::kNoMatchingFlavor : "";
    for (const auto& [group, reason_class] : run.no_fit_classes) {
      if (severity(reason_class) > severity(out_.reason)) {
        out_.reason = reason_class;
      }
    }
  }
  describe(run);
}

// `podset: flavor(mode;borrow=n;reason…), …` of the flavors that were not simply taken (§3.9).
void Assigner::describe(const Run& run) {
  std::vector<std::pair<FlavorName, std::string>> texts;
  for (const Attempt& attempt : run.attempts) {
    if (attempt.grade.fitness != Fitness::kFit || attempt.grade.borrow_level > 0) {
      texts.emplace_back(attempt.flavor, attempt.flavor.str() + describe_attempt(attempt.grade, attempt.reasons));
    }
  }
  if (texts.empty() || out_.mode != FitMode::kFit) {
    return;
  }
  std::sort(texts.begin(), texts.end());
  std::vector<std::string> parts;
  for (auto& [flavor, text] : texts) {
    parts.push_back(std::move(text));
  }
  for (const Member& member : run.members) {
    out_.flavors_considered +=
        (out_.flavors_considered.empty() ? "" : " | ") + member.totals->name + ": " + joined(parts);
  }
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
const FlavorExclusion* Assigner::exclusion_of(const Run& run, const FlavorName& flavor) const {
  const FlavorExclusion* found = nullptr;
  for (const FlavorExclusion& exclusion : context_.exclusions) {
    const bool concerns =
        exclusion.flavor == flavor && std::any_of(run.members.begin(), run.members.end(), [&](const Member& member) {
          return member.totals->name == exclusion.pod_set;
        });
    if (concerns && (found == nullptr || (found->preemption_helps && !exclusion.preemption_helps))) {
      found = &exclusion;
    }
  }
  return found;
}

}  // namespace muster::plugins
