#include "framework/cycle/cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "framework/cycle/admissible.h"
#include "framework/cycle/count_reduction.h"
#include "framework/status/workload_conditions.h"
#include "framework/totals.h"

namespace muster::framework {

namespace {

// A workload can be told at most this often that a flavor does not do; more means a plugin that never settles.
constexpr std::size_t kMaxExclusions = 256;

constexpr char kNoLongerFits[] = "Workload no longer fits after processing another workload";
constexpr char kOverlaps[] = "Workload has overlapping preemption targets with another workload";
constexpr char kFitsAfterOthersPreempt[] =
    "Workload has overlapping preemption targets with another workload, but will fit after these preemptions complete";

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
  ParkedReason reason{.plugin = verdict.plugin(),
                      .reason = verdict.reason().empty() ? std::string(kPendingEvaluation) : verdict.reason(),
                      .message = verdict.message(),
                      .wakes = verdict.wakes()};
  // A scan that was resumed says nothing about the flavors before: what may cure those wakes, too.
  if (reason.wakes.empty() || workload.progress != nullptr) {
    for (Wake& wake : default_wakes(workload, model, wants_nodes)) {
      if (std::find(reason.wakes.begin(), reason.wakes.end(), wake) == reason.wakes.end()) {
        reason.wakes.push_back(std::move(wake));
      }
    }
  }
  return reason;
}

// A podset stopped again, after all its flavors had been tried: everything has been looked at. Several podsets would
// otherwise take turns for ever.
bool comes_around(const ScanProgress& before, const ScanProgress& now) {
  return std::any_of(now.tried.begin(), now.tried.end(), [&](const auto& entry) {
    const auto last = before.tried.find(entry.first);
    return entry.second != ScanProgress::kExhausted && last != before.tried.end() &&
           last->second == ScanProgress::kExhausted;
  });
}

// What the next attempt should go on with, at once.
std::shared_ptr<const ScanProgress> left_to_scan(const WorkloadInfo& workload, const Assignment& assignment) {
  const ScanProgress& now = assignment.progress;
  const bool seen_all = !now.pending() || (workload.progress != nullptr && comes_around(*workload.progress, now));
  return seen_all ? nullptr : std::make_shared<const ScanProgress>(now);
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

// The plugin's order, each entry once.
class ProcessingOrder {
 public:
  ProcessingOrder(const QueueSort& sort, std::vector<const Entry*> entries, const Model& model)
      : waiting_(entries.size(), true), left_(entries.size()), order_(sort.entry_order(std::move(entries), model)) {}

  std::optional<std::size_t> next(const Model& model) {
    if (left_ == 0) {
      return std::nullopt;
    }
    const std::size_t chosen = order_->next(model);
    MUSTER_CHECK(chosen < waiting_.size() && waiting_[chosen]) << "QueueSort names an entry twice or one it was not given";
    waiting_[chosen] = false;
    --left_;
    return chosen;
  }

 private:
  std::vector<bool> waiting_;
  std::size_t left_;
  std::unique_ptr<EntryOrder> order_;
};

template <class Nominees>
std::vector<const Entry*> entries_of(const Nominees& nominees) {
  std::vector<const Entry*> entries;
  entries.reserve(nominees.size());
  for (const auto& nominee : nominees) {
    entries.push_back(&nominee.entry);
  }
  return entries;
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
    nominees.push_back(nominate(model, queue, *head, now));
  }
  std::vector<Nominee> guards = guards_beside(nominees, model, queue);
  std::move(guards.begin(), guards.end(), std::back_inserter(nominees));
  Transaction cycle(model);  // undone when the cycle ends
  std::set<ObjectKey> claimed;
  ProcessingOrder order(*profile_.queue_sort.front().plugin, entries_of(nominees), model);
  while (const std::optional<std::size_t> next = order.next(model)) {  // 3. who goes first, and after that
    Nominee& nominee = nominees[*next];  // 4. one by one, each against what those before it took
    if (nominee.only_guards) {
      protect_quota(cycle, nominee);
      continue;
    }
    Decision decision = process(cycle, model, nominee, claimed, now);
    result.trace.push_back(trace_of(number_, decision));
    result.decisions.push_back(std::move(decision));
  }
  return result;
}

// In the trees of this cycle's heads.
std::vector<Cycle::Nominee> Cycle::guards_beside(const std::vector<Nominee>& nominees, const Model& model,
                                                 const Queue& queue) const {
  std::set<std::string> trees;
  for (const Nominee& nominee : nominees) {
    trees.insert(model.quota().root_key(nominee.workload->cluster_queue));
  }
  std::vector<Nominee> guards;
  for (const std::string& tree : trees) {
    for (const Queue::Guard& guard : queue.guards_in(tree)) {
      Nominee nominee{.workload = std::make_shared<const WorkloadInfo>(*guard.workload), .only_guards = true};
      nominee.entry.workload = nominee.workload.get();
      nominee.entry.assignment = *guard.assignment;
      guards.push_back(std::move(nominee));
    }
  }
  return guards;
}

Cycle::Nominee Cycle::nominate(Model& model, const Queue& queue, const WorkloadInfo& head, TimePoint now) const {
  const auto workload = std::make_shared<WorkloadInfo>(head);
  if (workload->progress != nullptr && workload->progress->epoch != queue.epoch()) {
    workload->progress = nullptr;  // something may have cured what was passed over
  }
  Nominee nominee{.workload = workload};
  nominee.entry.workload = workload.get();
  nominee.verdict = admissible(*workload, model);
  if (nominee.verdict.ok()) {
    nominee.adopt(propose(model, *workload, nullptr, now));
    nominee.entry.assignment.progress.epoch = queue.epoch();
  }
  return nominee;
}

// With all its pods, by victims if need be; else with as many as work (spec/admission.md §3.8, §4.4).
Cycle::Proposal Cycle::propose(Model& model, const WorkloadInfo& workload, const Assignment* pinned,
                               TimePoint now) const {
  Proposal full = propose_all(model, workload, pinned, now);
  const CountReduction reduction(workload.pod_sets);
  if (full.works() || reduction.steps() == 0) {
    return full;
  }
  Proposal reduced;
  const auto found = reduction.first([&](std::int64_t step) {
    Proposal probe = propose_all(model, with_counts(workload, reduction.counts(step)), pinned, now);
    const bool works = probe.works();
    if (works) {
      reduced = std::move(probe);
    }
    return works;
  });
  return found ? std::move(reduced) : std::move(full);
}

Cycle::Proposal Cycle::propose_all(Model& model, const WorkloadInfo& workload, const Assignment* pinned,
                                   TimePoint now) const {
  Proposal proposal;
  Transaction tx(model);
  tx.lift_hold(workload.key);
  Attempt attempt{.pinned = pinned};
  proposal.verdict = filter(model, tx, workload, attempt, now);
  proposal.assignment = std::move(attempt.assignment);
  if (proposal.verdict.ok() && proposal.assignment.mode == FitMode::kPreempt) {
    proposal.victims = post_filter(model, workload, proposal.assignment, now);
    if (proposal.victims.empty() && !model.releasing().empty()) {
      remove_releasing(tx);
      proposal.room_on_its_way = passes(model, tx, workload, proposal.assignment, now);
    }
  }
  return proposal;
}

Decision Cycle::process(Transaction& cycle, Model& model, Nominee& nominee, std::set<ObjectKey>& claimed,
                        TimePoint now) const {
  Assignment& assignment = nominee.entry.assignment;
  const bool recomputed = options_.recompute_on_overlap && overlaps(nominee.entry.victims, claimed);
  if (recomputed) {
    nominee.adopt(recompute(model, nominee, claimed, now));
  }
  Decision decision{.workload = nominee.workload};
  const auto end = [&](Outcome outcome, const Verdict& why) {
    decision.outcome = outcome;
    decision.why = parked(why, *nominee.workload, model, assignment.wants_nodes);
    if (outcome == Outcome::kParked || (outcome == Outcome::kSkipped && options_.keep_progress_when_skipped)) {
      decision.progress = left_to_scan(*nominee.workload, assignment);
    }
    decision.assignment = std::move(assignment);
    return decision;
  };
  if (!nominee.verdict.ok() || assignment.mode == FitMode::kNoFit) {
    return end(Outcome::kParked, nominee.verdict.ok() ? Verdict::unschedulable(assignment.reason, assignment.message)
                                                      : nominee.verdict);
  }
  if (!nominee.works) {
    decision.guards_quota = protect_quota(cycle, nominee);
    const std::string_view lacking = assignment.nodes_need_preemption ? kTopologyPlacementFailed : kWaitingForQuota;
    return end(Outcome::kParked,
               Verdict::unschedulable(assignment.reason.empty() ? std::string(lacking) : assignment.reason,
                                      assignment.message));
  }
  const std::string waiting(kWaitingForQuota);
  if (overlaps(nominee.entry.victims, claimed)) {
    return end(Outcome::kSkipped, Verdict::unschedulable(waiting, kOverlaps));
  }
  const bool deferred = recomputed && nominee.entry.victims.empty();
  if (!deferred && !still_fits(model, nominee, claimed, now)) {
    return end(Outcome::kSkipped, Verdict::unschedulable(waiting, kNoLongerFits));
  }
  if (const Verdict reserved = reserve(cycle, nominee); !reserved.ok()) {
    return end(Outcome::kParked, reserved);
  }
  for (const Victim& victim : nominee.entry.victims) {
    claimed.insert(victim.workload);
  }
  decision.victims = std::move(nominee.entry.victims);
  if (!deferred && assignment.mode == FitMode::kFit) {
    decision.outcome = Outcome::kAdmitted;
    decision.assignment = std::move(assignment);
    return decision;
  }
  const std::string pending = deferred                   ? kFitsAfterOthersPreempt
                              : decision.victims.empty() ? assignment.message
                                                         : fmt::format("{}. Pending the preemption of {} workload(s)",
                                                                       assignment.message, decision.victims.size());
  return end(Outcome::kPreempting, Verdict::unschedulable(std::string(kWaitingForPreemptedWorkloads), pending));
}

// Some victims are taken: once more from the first flavor, as if all that were claimed had left, with the flavors as
// they were chosen.
Cycle::Proposal Cycle::recompute(Model& model, const Nominee& nominee, const std::set<ObjectKey>& claimed,
                                 TimePoint now) const {
  Transaction tx(model);
  for (const ObjectKey& key : claimed) {
    tx.remove_workload(key);
  }
  WorkloadInfo afresh = *nominee.workload;
  afresh.progress = nullptr;
  Proposal again = propose(model, afresh, &nominee.entry.assignment, now);
  again.assignment.progress = {};
  Verdict verdict = std::move(again.verdict).wakes_on({});  // the flavors that were skipped may help it, too
  again.verdict = std::move(verdict);
  return again;
}

// It needs victims and there are none. Unless it may take back whatever others borrow, its own free quota is kept from
// those after it in this cycle (spec/admission.md §4.5, step 5).
bool Cycle::protect_quota(Transaction& cycle, const Nominee& nominee) const {
  const ClusterQueueName& name = nominee.workload->cluster_queue;
  const auto* queue = cycle.model().objects().find<api::ClusterQueue>({{}, name.str()});
  const bool takes_back_all =
      queue != nullptr && queue->preemption.reclaim_within_cohort == api::ReclaimPolicy::kAny;
  if (queue == nullptr || queue->cohort.empty() || takes_back_all) {
    return false;
  }
  const QuotaTree& quota = cycle.model().quota();
  const bool borrows = nominee.entry.assignment.borrow_level > 0;
  Usage kept;
  for (const auto& [fr, amount] : nominee.entry.assignment.usage) {
    const std::optional<Amount> limit = borrows ? quota.borrowing_limit(name, fr) : std::optional<Amount>(0);
    const Amount most = limit ? sat_sub(sat_add(quota.nominal(name, fr), *limit), quota.usage(name, fr)) : amount;
    kept[fr] = std::max<Amount>(0, std::min(amount, most));
  }
  cycle.add_usage(name, kept);
  return true;
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
    FilterContext context{workload, tx, profile_.nodes, attempt.exclusions, ask, now, attempt.pinned, preemption(),
                          attempt.findings};
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
  FilterContext context{workload, tx, profile_.nodes, {}, ask, now, nullptr, preemption()};
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
