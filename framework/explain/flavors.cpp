#include "framework/explain/flavors.h"

#include "framework/cycle/admissible.h"

#include <algorithm>
#include <set>
#include <utility>

namespace muster::framework {
namespace {

// What somebody in the quota tree is charged with.
struct Claim {
  Holder holder{};  // amount not filled
  const Charge* charge = nullptr;
};

std::vector<Claim> claims_on(const Model& model, const WorkloadInfo& asking) {
  const auto tree = model.quota().tree_of(asking.cluster_queue);
  const std::set<ClusterQueueName> queues(tree.begin(), tree.end());
  std::vector<Claim> claims;
  for (const auto& [key, state] : model.workloads()) {
    if (key == asking.key) {
      continue;
    }
    const Holder holder{.workload = key,
                        .priority = api::effective_priority(*state.observed),
                        .leaving = api::is_true(state.status.conditions, api::kEvicted)};
    if (state.charge && queues.contains(state.charge->cluster_queue)) {
      claims.push_back({.holder = holder, .charge = &*state.charge});
      claims.back().holder.cluster_queue = state.charge->cluster_queue;
    }
    if (state.hold && queues.contains(state.hold->cluster_queue)) {
      claims.push_back({.holder = holder, .charge = &*state.hold});
      claims.back().holder.cluster_queue = state.hold->cluster_queue;
      claims.back().holder.claim = true;
    }
  }
  return claims;
}

void add_holders(const std::vector<Claim>& claims, const FlavorResource& fr, std::size_t most, FlavorAnswer& answer) {
  for (const Claim& claim : claims) {
    const auto amount = claim.charge->usage.find(fr);
    if (amount != claim.charge->usage.end() && amount->second > 0) {
      answer.holders.push_back(claim.holder);
      answer.holders.back().amount = amount->second;
    }
  }
  std::sort(answer.holders.begin(), answer.holders.end(), [](const Holder& a, const Holder& b) {
    return std::tie(b.amount, a.workload, a.claim) < std::tie(a.amount, b.workload, b.claim);
  });
  if (answer.holders.size() > most) {
    answer.more_holders = static_cast<std::int32_t>(answer.holders.size() - most);
    answer.holders.resize(most);
  }
}

FlavorAnswer answer_of(FlavorFinding finding, const QuotaTree& quota, const ClusterQueueName& queue) {
  FlavorAnswer answer{.finding = std::move(finding)};
  if (answer.finding.flavor.empty() || answer.finding.resource.empty()) {
    return answer;
  }
  const FlavorResource fr{answer.finding.flavor, answer.finding.resource};
  const Amount wanted = sat_add(answer.finding.earlier, answer.finding.requested);
  answer.available = quota.available(queue, fr);
  answer.most = quota.potential(queue, fr);
  answer.missing = std::max<Amount>(0, sat_sub(wanted, answer.available));
  answer.exceeds = wanted > answer.most;
  return answer;
}

// Every other flavor of the resource groups that offer this one.
std::vector<FlavorExclusion> all_but(const api::ClusterQueue& queue, const std::string& pod_set,
                                     const FlavorName& flavor) {
  std::vector<FlavorExclusion> others;
  for (const api::ResourceGroup& group : queue.resource_groups) {
    const bool offered = std::any_of(group.flavors.begin(), group.flavors.end(),
                                     [&](const api::FlavorQuotas& offer) { return offer.name == flavor; });
    for (const api::FlavorQuotas& offer : group.flavors) {
      if (offered && offer.name != flavor) {
        others.push_back({.pod_set = pod_set, .flavor = offer.name});
      }
    }
  }
  return others;
}

// Would the podset's pods find nodes with this flavor, had the tree all its quota free? What others hold on the nodes
// stays there.
void ask_nodes(const ExplainParts& core, const WorkloadInfo& workload, const std::vector<Claim>& claims,
               std::vector<FlavorExclusion> without, NodesAnswer answer, std::vector<NodesAnswer>& out) {
  Transaction tx(core.model);
  tx.lift_hold(workload.key);
  for (const Claim& claim : claims) {
    tx.remove_usage(claim.charge->cluster_queue, claim.charge->usage);
  }
  Findings findings;
  Attempt attempt{.exclusions = std::move(without), .findings = &findings};
  const Verdict verdict = core.cycle.filter(core.model, tx, workload, attempt, core.now);
  for (const PlacementFinding& placement : findings.placements) {
    if (placement.pod_set == answer.pod_set) {
      answer.wanted = placement.wanted;
      answer.placed = placement.placed;
      answer.text = placement.text;
      out.push_back(answer);
      return;
    }
  }
  if (attempt.assignment.wants_nodes && !verdict.ok()) {  // refused before a node was looked at
    answer.text = verdict.message();
    out.push_back(std::move(answer));
  }
}

std::string attempt_text(const Verdict& verdict, const Assignment& assignment) {
  if (!verdict.ok()) {
    return verdict.message();
  }
  return assignment.mode == FitMode::kFit ? "It fits now." : assignment.message;
}

}  // namespace

void explain_flavors(const ExplainParts& core, const WorkloadInfo& workload, const ExplainOptions& options,
                     Explanation& out) {
  const auto* queue = core.model.objects().find<api::ClusterQueue>({{}, workload.cluster_queue.str()});
  if (queue == nullptr) {
    return;
  }
  const std::vector<Claim> claims = claims_on(core.model, workload);
  {
    Transaction tx(core.model);
    tx.lift_hold(workload.key);
    Findings findings;
    Attempt attempt{.findings = &findings};
    const Verdict verdict = core.cycle.filter(core.model, tx, workload, attempt, core.now);
    const Verdict allowed = admissible(workload, core.model);
    out.attempt = allowed.ok() ? attempt_text(verdict, attempt.assignment) : allowed.message();
    for (FlavorFinding& finding : findings.flavors) {
      out.flavors.push_back(answer_of(std::move(finding), core.model.quota(), workload.cluster_queue));
      FlavorAnswer& answer = out.flavors.back();
      if (answer.missing > 0) {
        add_holders(claims, {answer.finding.flavor, answer.finding.resource}, options.holders, answer);
      }
    }
  }
  std::set<std::pair<std::string, FlavorName>> asked;
  for (const FlavorAnswer& answer : out.flavors) {
    const FlavorFinding& finding = answer.finding;
    const bool suitable = !finding.flavor.empty() && !finding.resource.empty() && !answer.exceeds;
    if (suitable && asked.insert({finding.pod_set, finding.flavor}).second) {
      ask_nodes(core, workload, claims, all_but(*queue, finding.pod_set, finding.flavor),
                {.pod_set = finding.pod_set, .flavor = finding.flavor}, out.nodes);
    }
  }
}

}  // namespace muster::framework
