#include "sim/reference/cycle.h"

#include "sim/reference/fair.h"

#include <algorithm>
#include <utility>

namespace muster::sim::reference {
namespace {

bool contains(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool overlap(const std::vector<int>& a, const std::vector<int>& b) {
  return std::any_of(a.begin(), a.end(), [&b](int value) { return contains(b, value); });
}

std::vector<int> both(std::vector<int> a, const std::vector<int>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

Reference::Reference(const World& world) {
  state_.world = &world;
  state_.workloads.resize(world.workloads.size());
}

// ---- outside cycles ----

void Reference::arrive(int workload) {
  state_.at(workload).place = Place::kPending;
  const int queue = state_.def(workload).queue;
  const bool kept = std::any_of(keepers_.begin(), keepers_.end(),
                                [&](const auto& keeper) { return state_.def(keeper.first).queue == queue; });
  if (kept && in_order(queue).front() == workload) {
    flush(queue);  // the head it overtakes keeps nothing any more
  }
}

void Reference::leave(int workload) {
  state_.at(workload) = WorkloadNow{.place = Place::kOver};
  flush(state_.def(workload).queue);
}

void Reference::release(int workload) {
  state_.at(workload) = WorkloadNow{.place = Place::kPending};
  flush(state_.def(workload).queue);
}

void Reference::quota_changed(int queue) {
  flush(queue);
}

int Reference::root_of(int queue) const {
  const QuotaState quota = state_.quota();
  int node = queue;
  while (quota.parent(node) >= 0) {
    node = quota.parent(node);
  }
  return node;
}

// Room may have come about in the tree of this queue: whoever waits there is tried again.
void Reference::flush(int queue) {
  ++state_.epoch;
  for (int i = 0; i < state_.count(); ++i) {
    if (root_of(state_.def(i).queue) == root_of(queue)) {
      state_.at(i).rejected = false;
      keepers_.erase(i);
    }
  }
}

bool Reference::is_active(int queue) const {
  for (const GroupDef& group : state_.world->queues[static_cast<std::size_t>(queue)].groups) {
    for (const FlavorQuotas& quotas : group.flavors) {
      if (!state_.world->flavors[static_cast<std::size_t>(quotas.flavor)].exists) {
        return false;
      }
    }
  }
  return true;
}

// ---- who is tried ----

std::vector<int> Reference::in_order(int queue) const {
  std::vector<int> result;
  for (int i = 0; i < state_.count(); ++i) {
    if (state_.def(i).queue == queue && state_.at(i).place == Place::kPending) {
      result.push_back(i);
    }
  }
  std::sort(result.begin(), result.end(), [this](int a, int b) {
    if (state_.at(a).sticky != state_.at(b).sticky) {
      return state_.at(a).sticky;
    }
    if (state_.def(a).priority != state_.def(b).priority) {
      return state_.def(a).priority > state_.def(b).priority;
    }
    if (state_.def(a).created != state_.def(b).created) {
      return state_.def(a).created < state_.def(b).created;
    }
    return a < b;
  });
  return result;
}

// Rejected since anything changed, or its like was (§1.8), or nothing but another flavor would help it.
bool Reference::may_be_passed_over(int workload) const {
  const WorkloadDef& def = state_.def(workload);
  for (int i = 0; i < state_.count(); ++i) {
    const WorkloadDef& other = state_.def(i);
    const WorkloadNow& now = state_.at(i);
    const bool alike =
        i == workload || (other.queue == def.queue && other.priority == def.priority && other.pod_sets == def.pod_sets);
    if (alike && now.place == Place::kPending && (now.rejected || now.reason == "NoMatchingFlavor")) {
      return true;
    }
  }
  return false;
}

std::string Reference::check_heads(const std::vector<int>& heads) const {
  for (std::size_t q = 0; q < state_.world->queues.size(); ++q) {
    const int queue = static_cast<int>(q);
    const bool strict = state_.world->queues[q].strict;
    int head = -1;
    for (const int candidate : heads) {
      if (state_.def(candidate).queue == queue) {
        if (head >= 0) {
          return queue_name(queue) + " has two heads";
        }
        head = candidate;
      }
    }
    if (head >= 0 && (state_.at(head).place != Place::kPending || !is_active(queue))) {
      return workload_name(head) + " cannot be a head";
    }
    for (const int first : is_active(queue) ? in_order(queue) : std::vector<int>{}) {
      if (first == head) {
        break;
      }
      const bool blocks = strict || state_.at(first).waits_for_victims;
      if (head >= 0 && blocks) {
        return workload_name(head) + " is tried before " + workload_name(first);
      }
      if (!may_be_passed_over(first)) {
        return workload_name(first) + " is not tried";
      }
      if (blocks) {
        break;
      }
    }
  }
  return {};
}

// Only what one can be sure of: with several podsets, or where flavors compete, more usage elsewhere may turn a
// rejection into a fit, and nothing that Kueue would call an event happens then.
std::string Reference::unfinished() const {
  for (std::size_t q = 0; q < state_.world->queues.size(); ++q) {
    const int queue = static_cast<int>(q);
    const std::vector<int> waiting = is_active(queue) ? in_order(queue) : std::vector<int>{};
    QuotaState quota = state_.quota();
    for (const Entry& keeper : keepers_beside(waiting)) {
      quota = quota.with(kept_quota(keeper, quota));
    }
    for (const int first : waiting) {
      const Entry entry = nominate(first, quota);
      const bool simple =
          entry.assignment.pod_sets.size() == 1 && state_.world->queues[q].groups.front().flavors.size() == 1;
      if (simple && entry.assignment.mode == Mode::kFit &&
          quota.without({first}).has_room(queue, entry.assignment.usage)) {
        return workload_name(first) + " is left waiting, although it fits";
      }
      if (state_.at(first).waits_for_victims || state_.world->queues[q].strict) {
        break;
      }
    }
  }
  return {};
}

// ---- the cycle ----

std::vector<Decision> Reference::run_cycle(const std::vector<int>& heads) {
  std::vector<Entry> entries;
  for (const int head : heads) {
    entries.push_back(nominate(head, state_.quota()));
  }
  for (Entry& keeper : keepers_beside(heads)) {
    entries.push_back(std::move(keeper));
  }
  Course course;
  std::vector<Decision> decisions;
  while (!entries.empty()) {
    const auto chosen = entries.begin() + static_cast<std::ptrdiff_t>(next_of(entries, course));
    Entry entry = std::move(*chosen);
    entries.erase(chosen);
    if (entry.only_keeps) {
      course.kept.push_back(kept_quota(entry, quota_in(course, -1)));
    } else {
      decisions.push_back(process(std::move(entry), course));
    }
  }
  carry_out(decisions);
  return decisions;
}

// §4.3.
std::size_t Reference::next_of(const std::vector<Entry>& entries, const Course& course) const {
  if (state_.world->fair == FairSharing::kOff) {
    const auto first = std::min_element(entries.begin(), entries.end(),
                                        [this](const Entry& a, const Entry& b) { return goes_first(a, b); });
    return static_cast<std::size_t>(first - entries.begin());
  }
  std::vector<Contestant> contestants;
  for (const Entry& entry : entries) {
    contestants.push_back({.workload = entry.workload, .usage = entry.assignment.usage});
  }
  return next_by_share(state_, quota_in(course, -1), contestants);
}

// Its own hold is not in its way.
Reference::Entry Reference::nominate(int workload, const QuotaState& quota) const {
  Question question{.workload = workload, .progress = state_.at(workload).progress};
  if (question.progress && question.progress->epoch != state_.epoch) {
    question.progress.reset();
  }
  return propose(question, quota.without({workload}));
}

// §4.4, §3.8: all its pods if that works, else the fewest steps down that do.
Reference::Entry Reference::propose(const Question& question, const QuotaState& seen) const {
  Entry full = propose_counts(question, seen);
  const std::vector<PodSetDef>& pod_sets = state_.def(question.workload).pod_sets;
  int steps = 0;
  for (const PodSetDef& pod_set : pod_sets) {
    steps += pod_set.spare();
  }
  if (full.works() || steps == 0) {
    return full;
  }
  std::map<int, Entry> found;
  int low = 0;
  for (int high = steps + 1; low < high;) {
    const int middle = (low + high) / 2;
    Question reduced = question;
    for (const PodSetDef& pod_set : pod_sets) {
      reduced.counts.push_back(pod_set.count - pod_set.spare() * middle / steps);
    }
    Entry entry = propose_counts(reduced, seen);
    if (entry.works()) {
      found[middle] = std::move(entry);
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return found.count(low) > 0 ? found.at(low) : full;
}

Reference::Entry Reference::propose_counts(const Question& question, const QuotaState& seen) const {
  Entry entry{.workload = question.workload, .assignment = assign(state_, seen, question)};
  if (entry.assignment.mode == Mode::kPreempt) {
    entry.victims = find_victims(
        state_, seen, {.workload = question.workload, .usage = entry.assignment.usage, .need = entry.assignment.need});
  }
  return entry;
}

std::vector<Reference::Entry> Reference::keepers_beside(const std::vector<int>& heads) const {
  std::vector<Entry> result;
  for (const auto& [keeper, assignment] : keepers_) {
    const bool same_tree = std::any_of(heads.begin(), heads.end(), [&, keeper = keeper](int head) {
      return root_of(state_.def(head).queue) == root_of(state_.def(keeper).queue);
    });
    if (same_tree) {
      result.push_back({.workload = keeper, .assignment = assignment, .only_keeps = true});
    }
  }
  return result;
}

bool Reference::goes_first(const Entry& a, const Entry& b) const {
  if (a.assignment.level != b.assignment.level) {
    return a.assignment.level < b.assignment.level;
  }
  const WorkloadDef& x = state_.def(a.workload);
  const WorkloadDef& y = state_.def(b.workload);
  if (x.priority != y.priority) {
    return x.priority > y.priority;
  }
  return x.created != y.created ? x.created < y.created : a.workload < b.workload;
}

// With everything that was given away in this cycle; its own hold is not in its way.
QuotaState Reference::quota_in(const Course& course, int workload) const {
  QuotaState quota = state_.quota().without(both({workload}, course.holds_spent));
  for (const std::vector<Charge>* charges : {&course.added, &course.kept}) {
    for (const Charge& charge : *charges) {
      quota = quota.with(charge);
    }
  }
  return quota;
}

bool Reference::comes_around(const Entry& entry) const {
  const std::optional<Progress>& before = state_.at(entry.workload).progress;
  if (!before || before->epoch != state_.epoch) {
    return false;
  }
  const auto& tried = entry.assignment.progress.tried;
  return std::any_of(tried.begin(), tried.end(), [&](const auto& now) {
    const auto last = before->tried.find(now.first);
    return now.second >= 0 && last != before->tried.end() && last->second < 0;
  });
}

Decision Reference::process(Entry entry, Course& course) const {
  Decision decision{.workload = entry.workload, .comes_around = comes_around(entry)};
  if (overlap(workloads_of(entry.victims), course.claimed)) {  // §4.6
    const Pins pins = pins_of(entry.assignment);
    entry =
        propose({.workload = entry.workload, .pins = &pins}, quota_in(course, entry.workload).without(course.claimed));
    entry.assignment.progress = {};
    decision.recomputed = true;
  }
  decision.assignment = entry.assignment;
  decision.message = entry.assignment.message;
  if (!entry.works()) {
    const bool lacks_victims = entry.assignment.mode == Mode::kPreempt;
    decision.reason = lacks_victims ? "WaitingForQuota" : entry.assignment.reason;
    decision.keeps_quota = lacks_victims && state_.queue_of(entry.workload).reclaim != Reclaim::kAny;
    if (decision.keeps_quota) {
      course.kept.push_back(kept_quota(entry, quota_in(course, -1)));
    }
    return decision;
  }
  const bool deferred = decision.recomputed && entry.victims.empty();
  if (!deferred && !fits(entry, course)) {
    decision.outcome = Outcome::kSkipped;
    decision.reason = "WaitingForQuota";
    decision.message = "Workload no longer fits after processing another workload";
    return decision;
  }
  course.claimed = both(course.claimed, workloads_of(entry.victims));
  course.holds_spent.push_back(entry.workload);
  const bool at_once = !deferred && entry.assignment.mode == Mode::kFit;
  course.added.push_back(
      {.queue = state_.def(entry.workload).queue, .workload = entry.workload, .usage = entry.assignment.usage});
  if (at_once) {
    decision.outcome = Outcome::kAdmitted;
    return decision;
  }
  decision.outcome = Outcome::kPreempting;
  decision.victims = entry.victims;
  decision.reason = "WaitingForPreemptedWorkloads";
  decision.message = deferred ? "Workload has overlapping preemption targets with another workload, but will fit "
                                "after these preemptions complete"
                              : decision.message + ". Pending the preemption of " +
                                    std::to_string(entry.victims.size()) + " workload(s)";
  return decision;
}

// §4.6. Room that the claimed victims will give up is as good as free for a preemptor, not for whoever is admitted now.
bool Reference::fits(const Entry& entry, const Course& course) const {
  QuotaState quota = quota_in(course, entry.workload);
  if (entry.assignment.mode == Mode::kPreempt) {
    quota = quota.without(both(workloads_of(entry.victims), course.claimed));
  }
  return quota.has_room(state_.def(entry.workload).queue, entry.assignment.usage);
}

// §4.5, step 5.
Charge Reference::kept_quota(const Entry& entry, const QuotaState& quota) const {
  const int queue = state_.def(entry.workload).queue;
  Charge kept{.queue = queue, .workload = entry.workload};
  for (int fr = 0; fr < kFrs; ++fr) {
    const Big asked = entry.assignment.usage.of(fr);
    const std::optional<Units> limit =
        entry.assignment.level > 0 ? quota.borrowing_limit(queue, fr) : std::optional<Units>(0);
    const Big most = limit ? quota.nominal(queue, fr) + *limit - quota.usage(queue, fr) : asked;
    kept.usage.add(fr, std::max(Big{0}, std::min(asked, most)));
  }
  return kept;
}

void Reference::make_sticky(int workload) {
  for (int i = 0; i < state_.count(); ++i) {
    if (state_.def(i).queue == state_.def(workload).queue) {
      state_.at(i).sticky = i == workload && !state_.queue_of(workload).strict;
    }
  }
}

void Reference::carry_out(const std::vector<Decision>& decisions) {
  const auto goes_on = [](const Decision& d) {
    const bool undecided = d.outcome == Outcome::kParked || d.outcome == Outcome::kSkipped;
    return undecided && d.assignment.progress.pending() && !d.comes_around;
  };
  const bool progress = std::any_of(decisions.begin(), decisions.end(),
                                    [&](const Decision& d) { return d.outcome != Outcome::kSkipped || goes_on(d); });
  const int epoch = state_.epoch;
  // What the rejected give up wakes whoever was rejected in this cycle: it was judged while that still counted.
  std::vector<int> freed;
  std::vector<const Decision*> others;
  for (const Decision& decision : decisions) {
    WorkloadNow& self = state_.at(decision.workload);
    self.progress.reset();
    const bool skipped = decision.outcome == Outcome::kSkipped;
    if (goes_on(decision) || (skipped && progress)) {  // it is tried again; what was freed for it stays its own
      self.waits_for_victims = false;
      self.rejected = false;
      if (goes_on(decision)) {
        self.progress = Progress{.tried = decision.assignment.progress.tried, .epoch = epoch};
      }
    } else if (skipped || decision.outcome == Outcome::kParked) {
      if (self.hold) {
        freed.push_back(state_.def(decision.workload).queue);
      }
      reject(decision);
    } else {
      others.push_back(&decision);
    }
  }
  for (const Decision* decision : others) {
    if (decision->outcome == Outcome::kAdmitted) {
      admit(*decision);
    } else {
      preempt(*decision);
    }
  }
  for (const int queue : freed) {
    flush(queue);
  }
}

void Reference::reject(const Decision& decision) {
  WorkloadNow& self = state_.at(decision.workload);
  self.hold.reset();
  self.waits_for_victims = false;
  self.rejected = true;
  self.reason = decision.reason;
  self.message = decision.message;
  if (decision.keeps_quota && state_.queue_of(decision.workload).strict) {
    keepers_[decision.workload] = decision.assignment;
  }
}

void Reference::admit(const Decision& decision) {
  if (state_.at(decision.workload).hold) {
    flush(state_.def(decision.workload).queue);
  }
  WorkloadNow now{.place = Place::kReserved, .usage = decision.assignment.usage, .reserved_at = state_.now};
  for (const PodSetPick& pod_set : decision.assignment.pod_sets) {
    PodSetAdmission& admitted = now.admission.emplace_back(PodSetAdmission{.count = pod_set.count});
    for (const auto& [resource, pick] : pod_set.flavors) {
      admitted.flavors[resource] = pick.flavor;
    }
  }
  state_.at(decision.workload) = std::move(now);
}

void Reference::preempt(const Decision& decision) {
  WorkloadNow& self = state_.at(decision.workload);
  if (self.hold && self.hold->amount != decision.assignment.usage.amount) {
    flush(state_.def(decision.workload).queue);
  }
  make_sticky(decision.workload);
  self.hold = decision.assignment.usage;
  self.waits_for_victims = true;
  self.rejected = true;
  self.reason = decision.reason;
  self.message = decision.message;
  for (const Victim& victim : decision.victims) {
    WorkloadNow& gone = state_.at(victim.workload);
    if (!gone.evicted) {
      gone.evicted = true;
      gone.preempted = victim.reason;
    }
  }
}

}  // namespace muster::sim::reference
