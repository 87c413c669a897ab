#include "framework/cycle/cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "framework/cycle/admissible.h"
#include "framework/status/workload_conditions.h"

namespace muster::framework {

namespace {

// A workload can be told at most this often that a flavor does not do; more means a plugin that never settles.
constexpr std::size_t kMaxExclusions = 256;

// What may cure any rejection of an assignment: the quota of the tree, the ClusterQueue and its flavors, and nodes where
// a plan is needed. Plugins narrow it by naming their own wakes.
std::vector<Wake> default_wakes(const WorkloadInfo& workload, const Model& model, bool wants_nodes) {
  std::vector<Wake> wakes = {{WakeKind::kQuota, model.quota().root_key(workload.cluster_queue)},
                             {WakeKind::kClusterQueue, workload.cluster_queue.str()}};
  for (const FlavorResource& fr : model.quota().resources_of(workload.cluster_queue)) {
    const Wake wake{WakeKind::kFlavor, fr.flavor.str()};
    if (std::find(wakes.begin(), wakes.end(), wake) == wakes.end()) {
      wakes.push_back(wake);
    }
  }
  if (wants_nodes) {
    wakes.push_back({WakeKind::kNodes, ""});
  }
  return wakes;
}

ParkedReason parked(const Verdict& verdict, const WorkloadInfo& workload, const Model& model, bool wants_nodes) {
  return ParkedReason{
      .plugin = verdict.plugin(),
      .reason = verdict.reason().empty() ? std::string(kPendingEvaluation) : verdict.reason(),
      .message = verdict.message(),
      .wakes = verdict.wakes().empty() ? default_wakes(workload, model, wants_nodes) : verdict.wakes()};
}

bool overlaps(const std::vector<Victim>& victims, const std::set<ObjectKey>& claimed) {
  return std::any_of(victims.begin(), victims.end(), [&](const Victim& v) { return claimed.count(v.workload) > 0; });
}

// As if what is being given up were free already.
void remove_releasing(Transaction& tx) {
  for (const ObjectKey& key : tx.model().releasing()) {
    tx.remove_workload(key);
  }
}

TraceEntry trace_of(std::uint64_t cycle, const Decision& decision) {
  return TraceEntry{.cycle = cycle,
                    .workload = decision.workload->key,
                    .cluster_queue = decision.workload->cluster_queue,
                    .outcome = decision.outcome,
                    .plugin = decision.why.plugin,
                    .reason = decision.why.reason,
                    .message = decision.why.message,
                    .wakes = decision.why.wakes};
}

}  // namespace

CycleResult Cycle::run(Model& model, const Queue& queue, TimePoint now) {
  CycleResult result;
  const std::vector<const WorkloadInfo*> heads = queue.heads();  // 1. who is next in each ClusterQueue
  if (heads.empty()) {
    return result;
  }
  ++number_;
  std::vector<Nominee> nominees;
  for (const WorkloadInfo* head : heads) {  // 2. flavors, nodes and victims for each, as if it were alone
    nominees.push_back(nominate(model, *head, now));
  }
  const QueueSort& sort = *profile_.queue_sort.front().plugin;  // 3. who goes first
  std::stable_sort(nominees.begin(), nominees.end(),
                   [&](const Nominee& a, const Nominee& b) { return sort.entry_less(a.entry, b.entry); });
  Transaction cycle(model);  // 4. one by one, each against what those before it took; undone when the cycle ends
  std::set<ObjectKey> claimed;
  for (Nominee& nominee : nominees) {
    Decision decision = process(cycle, model, nominee, claimed, now);
    result.trace.push_back(trace_of(number_, decision));
    result.decisions.push_back(std::move(decision));
  }
  return result;
}

Cycle::Nominee Cycle::nominate(Model& model, const WorkloadInfo& head, TimePoint now) const {
  Nominee nominee{.workload = std::make_shared<const WorkloadInfo>(head)};
  nominee.entry.workload = nominee.workload.get();
  const WorkloadInfo& workload = *nominee.workload;
  nominee.verdict = admissible(workload, model);
  if (!nominee.verdict.ok()) {
    return nominee;
  }
  Transaction tx(model);
  tx.lift_hold(workload.key);
  Attempt attempt;
  nominee.verdict = filter(model, tx, workload, attempt, now);
  nominee.entry.assignment = std::move(attempt.assignment);
  if (nominee.verdict.ok() && nominee.entry.assignment.mode == FitMode::kPreempt) {
    nominee.entry.victims = post_filter(model, workload, nominee.entry.assignment, now);
    if (nominee.entry.victims.empty() && !model.releasing().empty()) {
      remove_releasing(tx);
      nominee.room_on_its_way = passes(model, tx, workload, nominee.entry.assignment, now);
    }
  }
  return nominee;
}

Decision Cycle::process(Transaction& cycle, Model& model, Nominee& nominee, std::set<ObjectKey>& claimed,
                        TimePoint now) const {
  Assignment& assignment = nominee.entry.assignment;
  Decision decision{.workload = nominee.workload};
  const auto end = [&](Outcome outcome, const Verdict& why) {
    decision.outcome = outcome;
    decision.why = parked(why, *nominee.workload, model, assignment.wants_nodes);
    decision.assignment = std::move(assignment);
    return decision;
  };
  if (!nominee.verdict.ok() || assignment.mode == FitMode::kNoFit) {
    return end(Outcome::kParked, nominee.verdict.ok() ? Verdict::unschedulable(assignment.reason, assignment.message)
                                                      : nominee.verdict);
  }
  const bool preempts = assignment.mode == FitMode::kPreempt;
  if (preempts && nominee.entry.victims.empty() && !nominee.room_on_its_way) {
    const std::string_view lacking = assignment.nodes_need_preemption ? kTopologyPlacementFailed : kWaitingForQuota;
    return end(Outcome::kParked,
               Verdict::unschedulable(assignment.reason.empty() ? std::string(lacking) : assignment.reason,
                                      assignment.message));
  }
  const std::string waiting(kWaitingForQuota);
  if (overlaps(nominee.entry.victims, claimed)) {
    return end(Outcome::kSkipped, Verdict::unschedulable(
                                      waiting, "Workload has overlapping preemption targets with another workload"));
  }
  if (!still_fits(model, nominee, claimed, now)) {
    return end(Outcome::kSkipped,
               Verdict::unschedulable(waiting, "Workload no longer fits after processing another workload"));
  }
  if (const Verdict reserved = reserve(cycle, nominee); !reserved.ok()) {
    return end(Outcome::kParked, reserved);
  }
  for (const Victim& victim : nominee.entry.victims) {
    claimed.insert(victim.workload);
  }
  decision.victims = std::move(nominee.entry.victims);
  if (!preempts) {
    decision.outcome = Outcome::kAdmitted;
    decision.assignment = std::move(assignment);
    return decision;
  }
  const std::string pending =
      decision.victims.empty() ? assignment.message
                               : fmt::format("{}. Pending the preemption of {} workload(s)", assignment.message,
                                             decision.victims.size());
  return end(Outcome::kPreempting, Verdict::unschedulable(std::string(kWaitingForPreemptedWorkloads), pending));
}

// spec/admission.md §4.6: with everything claimed so far gone, and the usage of those before it counted.
bool Cycle::still_fits(Model& model, Nominee& nominee, const std::set<ObjectKey>& claimed, TimePoint now) const {
  Transaction tx(model);
  tx.lift_hold(nominee.workload->key);
  // Whoever is admitted at once needs room that is free now; only a preemptor may count on what is leaving.
  if (nominee.entry.assignment.mode == FitMode::kPreempt) {
    remove_releasing(tx);
    for (const ObjectKey& key : claimed) {
      tx.remove_workload(key);
    }
  }
  for (const Victim& victim : nominee.entry.victims) {
    tx.remove_workload(victim.workload);
  }
  return passes(model, tx, *nominee.workload, nominee.entry.assignment, now);
}

// Counts the entry for those after it, and asks the Reserve plugins; every failure unreserves all, in reverse.
Verdict Cycle::reserve(Transaction& cycle, const Nominee& nominee) const {
  const Assignment& assignment = nominee.entry.assignment;
  for (std::size_t i = 0; i < profile_.reserve.size(); ++i) {
    Verdict verdict = profile_.reserve[i].plugin->reserve(*nominee.workload, assignment, cycle);
    if (verdict.ok()) {
      continue;
    }
    verdict.stamp(profile_.reserve[i].name);
    for (auto it = profile_.reserve.rbegin(); it != profile_.reserve.rend(); ++it) {
      it->plugin->unreserve(*nominee.workload, assignment, cycle);
    }
    return verdict;
  }
  cycle.lift_hold(nominee.workload->key);
  cycle.add_usage(nominee.workload->cluster_queue, assignment.usage);
  cycle.add_slots(assignment.plan);
  return {};
}

// ---- plugin stages ----

Verdict Cycle::filter(Model& model, Transaction& tx, const WorkloadInfo& workload, Attempt& attempt,
                      TimePoint now) const {
  const auto ask = [&](const FlavorResource& fr, Amount amount) { return outlook(model, workload, fr, amount, now); };
  const std::size_t most = attempt.exclusions.size() + kMaxExclusions;
  while (attempt.exclusions.size() < most) {
    attempt.assignment = Assignment{};
    std::vector<FlavorExclusion> rejected;
    FilterContext context{workload, tx, profile_.nodes, attempt.exclusions, ask, now, attempt.findings};
    for (const Enabled<Filter>& entry : profile_.filter) {
      Verdict verdict = entry.plugin->filter(context, attempt.assignment, rejected);
      if (!rejected.empty()) {
        break;  // a flavor is ruled out: start over without it
      }
      if (!verdict.ok()) {
        verdict.stamp(entry.name);
        return verdict;
      }
    }
    if (rejected.empty()) {
      return {};
    }
    std::move(rejected.begin(), rejected.end(), std::back_inserter(attempt.exclusions));
    attempt.findings = nullptr;  // the first round told everything
  }
  return Verdict::error("the filter plugins did not agree on flavors");
}

bool Cycle::passes(Model& model, Transaction& tx, const WorkloadInfo& workload, Assignment& assignment,
                   TimePoint now) const {
  const auto ask = [&](const FlavorResource& fr, Amount amount) { return outlook(model, workload, fr, amount, now); };
  FilterContext context{workload, tx, profile_.nodes, {}, ask, now};
  return std::all_of(profile_.filter.begin(), profile_.filter.end(),
                     [&](const Enabled<Filter>& entry) { return entry.plugin->passes(context, assignment); });
}

Outlook Cycle::outlook(Model& model, const WorkloadInfo& workload, const FlavorResource& fr, Amount amount,
                       TimePoint now) const {
  for (const Enabled<PostFilter>& entry : profile_.post_filter) {
    Transaction tx(model);
    PostFilterContext context{workload, tx, [](Assignment&) { return false; }, now};
    const Outlook found = entry.plugin->outlook(context, fr, amount);
    if (found.outlook != PreemptionOutlook::kNoCandidates) {
      return found;
    }
  }
  return {.borrow_level = model.quota().borrow_level(workload.cluster_queue, fr, amount).level};
}

std::vector<Victim> Cycle::post_filter(Model& model, const WorkloadInfo& workload, Assignment& assignment,
                                       TimePoint now) const {
  for (const Enabled<PostFilter>& entry : profile_.post_filter) {
    Transaction tx(model);
    remove_releasing(tx);
    if (!model.releasing().empty() && passes(model, tx, workload, assignment, now)) {
      return {};  // room is on its way: nobody has to go
    }
    PostFilterContext context{workload, tx, [&](Assignment& a) { return passes(model, tx, workload, a, now); }, now};
    std::vector<Victim> victims = entry.plugin->post_filter(context, assignment);
    if (!victims.empty()) {
      return victims;
    }
  }
  return {};
}

}  // namespace muster::framework
