#include "sim/reference/trial.h"

#include "sim/reference/cycle.h"
#include "sim/reference/driver.h"

#include <algorithm>
#include <utility>

namespace muster::sim::reference {
namespace {

// Two Workloads may evict each other for ever (as in Kueue: a preemptor takes another flavor than the one it evicted
// for, where its victim finds it again): such a world is left then.
constexpr int kMostPhases = 30;

// A settle that is cut short is continued; this often in one phase means: for ever.
constexpr int kMostSettles = 5;

TimePoint at_second(int second) {
  return TimePoint(std::chrono::seconds(1767225600 + second));
}

Outcome outcome_of(framework::Outcome outcome) {
  switch (outcome) {
    case framework::Outcome::kAdmitted:
      return Outcome::kAdmitted;
    case framework::Outcome::kPreempting:
      return Outcome::kPreempting;
    case framework::Outcome::kSkipped:
      return Outcome::kSkipped;
    default:
      return Outcome::kParked;
  }
}

std::string text_of(Outcome outcome, const std::string& reason, const std::string& message) {
  constexpr const char* kNames[] = {"admitted", "preempting", "skipped", "parked"};
  std::string text = kNames[static_cast<int>(outcome)];
  return outcome == Outcome::kAdmitted ? text : text + " " + reason + " \"" + message + "\"";
}

std::string show(const Usage& usage) {
  std::string text;
  for (int fr = 0; fr < kFrs; ++fr) {
    if (usage.names(fr)) {
      text += " " + flavor_name(fr / kResources) + "/" + resource_name(fr % kResources) + "=" +
              amount_text(fr % kResources, static_cast<Units>(usage.of(fr)));
    }
  }
  return text.empty() ? " nothing" : text;
}

Usage usage_of(const std::optional<framework::Charge>& charge) {
  Usage usage;
  if (charge) {
    for (const auto& [fr, amount] : charge->usage) {
      usage.add(fr_index(fr.flavor, fr.resource), amount);
    }
  }
  return usage;
}

std::vector<PodSetAdmission> admission_of(const api::WorkloadStatus& status) {
  std::vector<PodSetAdmission> result;
  if (status.admission) {
    for (const api::PodSetAssignment& assigned : status.admission->pod_set_assignments) {
      PodSetAdmission& pod_set = result.emplace_back(PodSetAdmission{.count = assigned.count});
      for (const auto& [resource, flavor] : assigned.flavors) {
        const int fr = fr_index(flavor, resource);
        pod_set.flavors[fr % kResources] = fr / kResources;
      }
    }
  }
  return result;
}

bool same_amounts(const Usage& a, const Usage& b) {
  return a.amount == b.amount;
}

class Trial {
 public:
  Trial(const World& world, const framework::Profile& profile, std::string* story)
      : world_(world), reference_(world_), driver_(world_, profile), story_(story) {}

  TrialResult run() {
    driver_.start(time());
    int last = 0;
    for (const WorkloadDef& workload : world_.workloads) {
      last = std::max({last, workload.arrives, workload.finishes});
    }
    for (const QuotaChange& change : world_.changes) {
      last = std::max(last, change.phase);
    }
    bool busy = true;
    for (phase_ = 0; ok() && (busy || phase_ <= last); ++phase_) {
      if (phase_ > kMostPhases) {
        result_.tally.restless = 1;
        break;
      }
      busy = step();
    }
    return std::move(result_);
  }

  const Driver& driver() const { return driver_; }

 private:
  bool ok() const { return result_.difference.empty(); }

  TimePoint time() const { return at_second(second()); }

  int second() const { return 100 + phase_; }

  void fail(const std::string& what) {
    if (ok()) {
      result_.difference = "phase " + std::to_string(phase_) + ": " + what;
    }
  }

  template <class... Parts>
  void tell(const Parts&... parts) {
    if (story_ != nullptr) {
      *story_ += "# phase " + std::to_string(phase_) + ": ";
      (void)std::initializer_list<int>{(*story_ += parts, 0)...};
      *story_ += "\n";
    }
  }

  // One phase: what the world does, what the core decides about it, and what that brings about.
  bool step() {
    reference_.set_time(second());
    happen();
    bool busy = false;
    int settles = 0;
    for (bool more = true; more && ok();) {
      if (++settles > kMostSettles) {
        fail("the core decides without end");
        return busy;
      }
      const framework::Output output = driver_.settle(time());
      more = output.more;
      replay(output.trace);
      if (ok()) {
        compare_states();
      }
      busy = driver_.carry_out(output, time()) || busy;
    }
    if (ok()) {
      check_invariants();
    }
    for (const int workload : driver_.stop_evicted(time())) {
      if (!reference_.state().at(workload).evicted) {
        fail(workload_name(workload) + " is stopped, but nobody preempted it");
      }
      tell(workload_name(workload), " has stopped");
      reference_.release(workload);
      busy = true;
    }
    return busy;
  }

  void happen() {
    for (const QuotaChange& change : world_.changes) {
      if (change.phase == phase_) {
        GroupDef& group =
            world_.queues[static_cast<std::size_t>(change.queue)].groups[static_cast<std::size_t>(change.group)];
        group.flavors[static_cast<std::size_t>(change.flavor)]
            .quota[static_cast<std::size_t>(change.resource)]
            .nominal = change.nominal;
        tell("quota of ", queue_name(change.queue), " changes");
        driver_.change_queue(change.queue, time());
        reference_.quota_changed(change.queue);
        shrunk_ = true;
      }
    }
    for (int i = 0; i < static_cast<int>(world_.workloads.size()); ++i) {
      const WorkloadDef& def = world_.workloads[static_cast<std::size_t>(i)];
      if (def.arrives == phase_) {
        driver_.arrive(i, time());
        reference_.arrive(i);
      } else if (def.finishes == phase_ && reference_.state().at(i).place == Place::kReserved) {
        tell(workload_name(i), " is over");
        driver_.leave(i, time());
        reference_.leave(i);
      }
    }
  }

  // The core's cycles, one by one, by the reference.
  void replay(const framework::Trace& trace) {
    for (std::size_t begin = 0; begin < trace.size() && ok();) {
      std::size_t end = begin;
      std::vector<int> heads;
      for (; end < trace.size() && trace[end].cycle == trace[begin].cycle; ++end) {
        heads.push_back(workload_index(trace[end].workload));
        tell(where(trace[end]), trace[end].workload.name, " ",
             text_of(outcome_of(trace[end].outcome), trace[end].reason, trace[end].message));
      }
      if (const std::string wrong = reference_.check_heads(heads); !wrong.empty()) {
        fail(where(trace[begin]) + wrong);
        return;
      }
      const State before = reference_.state();
      const std::vector<Decision> decisions = reference_.run_cycle(heads);
      ++result_.tally.cycles;
      compare_cycle(
          {trace.begin() + static_cast<std::ptrdiff_t>(begin), trace.begin() + static_cast<std::ptrdiff_t>(end)},
          decisions);
      for (const Decision& decision : decisions) {
        check_victims(before, decision);
      }
      begin = end;
    }
    if (ok()) {
      if (const std::string idle = reference_.check_heads({}); !idle.empty()) {
        fail("at the end of the settle " + idle);
      }
    }
  }

  static std::string where(const framework::TraceEntry& entry) { return "cycle " + std::to_string(entry.cycle) + ": "; }

  void compare_cycle(const framework::Trace& trace, const std::vector<Decision>& decisions) {
    for (std::size_t i = 0; i < trace.size() && ok(); ++i) {
      const int core = workload_index(trace[i].workload);
      const Decision& want = decisions[i];
      if (core != want.workload) {
        fail(where(trace[i]) + "the core processes " + workload_name(core) + " where the reference has " +
             workload_name(want.workload));
        return;
      }
      const Outcome outcome = outcome_of(trace[i].outcome);
      const bool same =
          outcome == want.outcome &&
          (outcome == Outcome::kAdmitted || (trace[i].reason == want.reason && trace[i].message == want.message));
      if (!same) {
        fail(where(trace[i]) + workload_name(core) + " is " + text_of(outcome, trace[i].reason, trace[i].message) +
             ", by the reference " + text_of(want.outcome, want.reason, want.message));
      }
      count(want);
    }
  }

  void count(const Decision& decision) {
    Tally& tally = result_.tally;
    tally.admitted += decision.outcome == Outcome::kAdmitted ? 1 : 0;
    tally.preempting += decision.outcome == Outcome::kPreempting ? 1 : 0;
    tally.skipped += decision.outcome == Outcome::kSkipped ? 1 : 0;
    tally.parked += decision.outcome == Outcome::kParked ? 1 : 0;
    tally.victims += static_cast<long>(decision.victims.size());
  }

  void compare_states() {
    for (int i = 0; i < reference_.state().count() && ok(); ++i) {
      const WorkloadNow& want = reference_.state().at(i);
      const framework::WorkloadState* have = driver_.core().model().workload({"team", workload_name(i)});
      if (want.place == Place::kAbsent || want.place == Place::kOver) {
        if (have != nullptr && (have->charge || have->hold)) {
          fail(workload_name(i) + " holds quota although it is over");
        }
        continue;
      }
      const std::string different = compare(want, *have);
      if (!different.empty()) {
        fail(workload_name(i) + ": " + different);
      }
    }
  }

  std::string compare(const WorkloadNow& want, const framework::WorkloadState& have) const {
    const api::Conditions& conditions = have.status.conditions;
    const bool reserved = api::is_true(conditions, api::kQuotaReserved);
    if (reserved != (want.place == Place::kReserved)) {
      return reserved ? "is reserved, not by the reference" : "is not reserved, but by the reference";
    }
    if (const Usage hold = usage_of(have.hold); !same_amounts(hold, want.hold.value_or(Usage{}))) {
      return "holds" + show(hold) + ", by the reference" + show(want.hold.value_or(Usage{}));
    }
    if (!reserved) {
      const api::Condition* pending = api::find_condition(conditions, api::kQuotaReserved);
      const bool told = want.reason.empty() || !want.rejected ||
                        (pending != nullptr && pending->reason == want.reason && pending->message == want.message);
      return told ? std::string{}
                  : "shows " + (pending == nullptr ? "nothing" : pending->reason + " \"" + pending->message + "\"") +
                        ", by the reference " + want.reason + " \"" + want.message + "\"";
    }
    if (admission_of(have.status) != want.admission) {
      return "other flavors or counts than the reference";
    }
    if (const Usage usage = usage_of(have.charge); !same_amounts(usage, want.usage)) {
      return "is charged" + show(usage) + ", by the reference" + show(want.usage);
    }
    if (api::is_true(conditions, api::kEvicted) != want.evicted) {
      return want.evicted ? "is not evicted, but by the reference" : "is evicted, not by the reference";
    }
    const api::Condition* preempted = api::find_condition(conditions, api::kPreempted);
    if (want.evicted && (preempted == nullptr || preempted->reason != want.preempted)) {
      return "is preempted for another reason than " + want.preempted;
    }
    return {};
  }

  // None of the victims could have stayed. What was admitted before in the same cycle is not looked at: the reference's
  // own decision has been compared already, this asks whether it was a good one. Nor is a decision whose victims depend
  // on what others had claimed.
  void check_victims(const State& before, const Decision& decision) {
    if (!ok() || decision.outcome != Outcome::kPreempting || decision.recomputed) {
      return;
    }
    const Preemptor preemptor{
        .workload = decision.workload, .usage = decision.assignment.usage, .need = decision.assignment.need};
    if (!is_minimal(before, before.quota().without({decision.workload}), preemptor, decision.victims)) {
      fail(workload_name(decision.workload) + " takes more victims than it needs");
    }
  }

  void check_invariants() {
    for (const std::string& drift : driver_.core().model().audit()) {
      fail("ledger: " + drift);
    }
    if (const std::string lost = reference_.unfinished(); !lost.empty()) {
      fail(lost);
    }
    if (!shrunk_) {
      check_over_quota();
    }
  }

  // By sums alone: a tree never holds more than it has, a queue never more than it may ever have.
  void check_over_quota() {
    std::vector<Charge> charges;
    const QuotaState now = reference_.state().quota();
    for (const Charge& charge : now.charges()) {
      if (reference_.state().at(charge.workload).place == Place::kReserved) {
        charges.push_back(charge);
      }
    }
    const QuotaState quota(world_, std::move(charges));
    const int nodes = quota.cohort_node(static_cast<int>(world_.cohorts.size()));
    for (int node = 0; node < nodes; ++node) {
      for (int fr = 0; fr < kFrs; ++fr) {
        if (quota.usage(node, fr) > quota.potential(node, fr)) {
          fail("node " + std::to_string(node) + " uses more than it can have of " + std::to_string(fr));
        }
      }
    }
  }

  World world_;
  Reference reference_;
  Driver driver_;
  std::string* story_;
  int phase_ = 0;
  bool shrunk_ = false;  // quota was taken away from under what runs
  TrialResult result_{};
};

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  cycles += other.cycles;
  admitted += other.admitted;
  preempting += other.preempting;
  victims += other.victims;
  skipped += other.skipped;
  parked += other.parked;
  restless += other.restless;
  return *this;
}

TrialResult run_trial(const World& world, const Profiles& profiles, std::string* story) {
  return Trial(world, profiles.of(world), story).run();
}

namespace {

// What counts where, as text: equal for equal ledgers.
std::string ledger_of(const framework::Model& model) {
  std::string text;
  for (const auto& [key, state] : model.workloads()) {
    if (state.charge) {
      text += to_string(key) + " in " + state.charge->cluster_queue.str() + show(usage_of(state.charge)) + "\n";
    }
  }
  for (const std::string& drift : model.audit()) {
    text += "drift: " + drift + "\n";
  }
  return text;
}

}  // namespace

std::string check_event_order(const World& world, const Profiles& profiles) {
  const framework::Profile& profile = profiles.of(world);
  Trial trial(world, profile, nullptr);
  trial.run();
  const framework::Model& orderly = trial.driver().core().model();
  std::vector<framework::Event> events = trial.driver().all_objects();
  Random random(world.seed);
  const std::size_t objects = events.size();
  for (std::size_t i = 0; i < objects; ++i) {
    if (random.chance(30)) {
      events.push_back(events[i]);
    }
  }
  for (std::size_t i = events.size(); i > 1; --i) {
    std::swap(events[i - 1], events[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
  }
  framework::Core shuffled({}, profile, {});
  for (const framework::Event& event : events) {
    shuffled.apply(at_second(0), event);
  }
  const std::string want = ledger_of(orderly);
  const std::string have = ledger_of(shuffled.model());
  return want == have ? std::string{} : "in order:\n" + want + "shuffled:\n" + have;
}

}  // namespace muster::sim::reference
