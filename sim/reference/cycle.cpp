#include "sim/reference/cycle.h"

#include <algorithm>
#include <utility>

namespace muster::sim::reference {
namespace {

std::vector<int> workloads_of(const std::vector<Victim>& victims) {
  std::vector<int> result;
  for (const Victim& victim : victims) {
    result.push_back(victim.workload);
  }
  return result;
}

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
  for (int i = 0; i < state_.count(); ++i) {
    if (root_of(state_.def(i).queue) == root_of(queue)) {
      state_.at(i).rejected = false;
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
    for (const int first : is_active(queue) ? in_order(queue) : std::vector<int>{}) {
      const Entry entry = nominate(first, state_.quota());
      const bool simple =
          entry.assignment.pod_sets.size() == 1 && state_.world->queues[q].groups.front().flavors.size() == 1;
      if (simple && entry.assignment.mode == Mode::kFit &&
          state_.quota().without({first}).has_room(queue, entry.assignment.usage)) {
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
  std::sort(entries.begin(), entries.end(), [this](const Entry& a, const Entry& b) { return goes_first(a, b); });
  Course course;
  std::vector<Decision> decisions;
  bool progress = false;
  for (Entry& entry : entries) {
    decisions.push_back(process(std::move(entry), course));
    progress = progress || decisions.back().outcome != Outcome::kSkipped;
  }
  // What the others give up wakes whoever was rejected in this cycle: it was judged while that still counted.
  std::vector<int> freed;
  for (const Decision& decision : decisions) {
    const bool rejected = decision.outcome == Outcome::kParked || (decision.outcome == Outcome::kSkipped && !progress);
    if (rejected && state_.at(decision.workload).hold) {
      freed.push_back(state_.def(decision.workload).queue);
    }
    if (rejected) {
      reject(decision);
    }
  }
  for (const Decision& decision : decisions) {
    carry_out(decision);
  }
  for (const int queue : freed) {
    flush(queue);
  }
  return decisions;
}

// Its own hold is not in its way.
Reference::Entry Reference::nominate(int workload, const QuotaState& quota) const {
  const QuotaState seen = quota.without({workload});
  Entry entry{.workload = workload, .assignment = assign(state_, seen, workload)};
  if (entry.assignment.mode == Mode::kPreempt) {
    entry.victims = find_victims(
        state_, seen, {.workload = workload, .usage = entry.assignment.usage, .need = entry.assignment.need});
  }
  return entry;
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

Decision Reference::process(Entry entry, Course& course) const {
  QuotaState quota = state_.quota().without(both({entry.workload}, course.holds_spent));
  for (const Charge& charge : course.added) {
    quota = quota.with(charge);
  }
  const bool fits = refresh(entry, quota, course);
  const Assignment& assignment = entry.assignment;
  Decision decision{.workload = entry.workload, .assignment = assignment, .message = assignment.message};
  if (assignment.mode == Mode::kNoFit) {
    decision.reason = assignment.reason;
    return decision;
  }
  if (assignment.mode == Mode::kPreempt && entry.victims.empty()) {
    decision.reason = "WaitingForQuota";
    return decision;
  }
  const bool overlapping = overlap(workloads_of(entry.victims), course.claimed);
  if (overlapping || !fits) {
    decision.outcome = Outcome::kSkipped;
    decision.reason = "WaitingForQuota";
    decision.message = overlapping ? "Workload has overlapping preemption targets with another workload"
                                   : "Workload no longer fits after processing another workload";
    return decision;
  }
  course.claimed = both(course.claimed, workloads_of(entry.victims));
  course.holds_spent.push_back(entry.workload);
  course.added.push_back(
      {.queue = state_.def(entry.workload).queue, .workload = entry.workload, .usage = assignment.usage});
  decision.outcome = assignment.mode == Mode::kFit ? Outcome::kAdmitted : Outcome::kPreempting;
  if (decision.outcome == Outcome::kPreempting) {
    decision.victims = entry.victims;
    decision.reason = "WaitingForPreemptedWorkloads";
    decision.message += ". Pending the preemption of " + std::to_string(entry.victims.size()) + " workload(s)";
  }
  return decision;
}

// §4.6. `quota`: with everything that was given away in this cycle.
bool Reference::refresh(Entry& entry, const QuotaState& quota, const Course& course) const {
  const bool preempts = entry.assignment.mode == Mode::kPreempt;
  const QuotaState left = preempts ? quota.without(both(workloads_of(entry.victims), course.claimed)) : quota;
  return left.has_room(state_.def(entry.workload).queue, entry.assignment.usage);
}

void Reference::make_sticky(int workload) {
  for (int i = 0; i < state_.count(); ++i) {
    if (state_.def(i).queue == state_.def(workload).queue) {
      state_.at(i).sticky = i == workload && !state_.queue_of(workload).strict;
    }
  }
}

void Reference::reject(const Decision& decision) {
  WorkloadNow& self = state_.at(decision.workload);
  self.hold.reset();
  self.waits_for_victims = false;
  self.rejected = true;
  self.reason = decision.reason;
  self.message = decision.message;
}

void Reference::carry_out(const Decision& decision) {
  if (decision.outcome == Outcome::kAdmitted) {
    admit(decision);
  } else if (decision.outcome == Outcome::kPreempting) {
    preempt(decision);
  } else if (decision.outcome == Outcome::kSkipped) {  // what was freed for it stays its own
    state_.at(decision.workload).waits_for_victims = false;
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
