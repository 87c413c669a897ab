// One scheduling cycle of spec/admission.md §4 over given heads, and what becomes of a Workload outside cycles. Which
// heads are tried when is the core's choice (classes woken by events, design.md §4); `Reference` says whether it was
// allowed to choose so (`check_heads`) and whether it may rest (`unfinished`).
//
// Where Muster differs from Kueue on purpose:
//  - what a preemption frees is held for the preemptor: its usage counts in every cycle, not only in its own, until it
//    is admitted or no longer preempts (decision 0006);
//  - a preemptor that waits for victims is not tried again before something it may need has changed;
//  - whoever is admitted needs room that is free now, not room that the victims of an earlier entry will give up;
//  - quota kept for a StrictFIFO head (§4.5 step 5) is kept in every cycle with heads of its tree, until anything
//    happens that may cure it or a better Workload arrives in its queue. A hold of its own counts besides;
//  - a scan is resumed (§3.4) unless anything has happened that may cure any Workload: then all flavors are looked at
//    again. While flavors are left nothing is told and a hold stays. It ends when a podset stops at a flavor after all
//    its flavors were tried: in Kueue several podsets can take turns for ever;
//  - a request of nothing asks for nothing (see Usage).
#pragma once

#include "sim/reference/assign.h"
#include "sim/reference/state.h"

#include <map>
#include <string>
#include <vector>

namespace muster::sim::reference {

enum class Outcome : std::uint8_t { kAdmitted, kPreempting, kSkipped, kParked };

struct Decision {
  int workload = 0;
  Outcome outcome = Outcome::kParked;
  Assignment assignment{};
  std::vector<Victim> victims{};  // those evicted already included
  bool recomputed = false;        // after others had claimed some of its victims (§4.6)
  bool comes_around = false;      // its scan: a podset stopped again after all its flavors were tried
  bool keeps_quota = false;       // parked: its free quota is kept from others (§4.5, step 5)
  std::string reason{};
  std::string message{};
};

class Reference {
 public:
  explicit Reference(const World& world);

  const State& state() const { return state_; }

  void set_time(int now) { state_.now = now; }

  void arrive(int workload);
  // It is over; also when it was pending.
  void leave(int workload);
  // The job of an evicted Workload has stopped: pending again.
  void release(int workload);
  // The quota of a queue changed (the world has it already).
  void quota_changed(int queue);

  // Decisions in the order of processing; carried out.
  std::vector<Decision> run_cycle(const std::vector<int>& heads);

  // Empty, or why these are not the heads of a cycle.
  std::string check_heads(const std::vector<int>& heads) const;
  // Empty, or who is left waiting although it fits: a wake-up was lost.
  std::string unfinished() const;

 private:
  struct Entry {
    int workload = 0;
    Assignment assignment{};
    std::vector<Victim> victims{};
    bool only_keeps = false;  // not a head: the blocked head of a StrictFIFO queue, whose quota is kept

    bool works() const {
      return assignment.mode == Mode::kFit || (assignment.mode == Mode::kPreempt && !victims.empty());
    }
  };

  // The cycle while it runs: what it has given away so far.
  struct Course {
    std::vector<Charge> added{};
    std::vector<Charge> kept{};
    std::vector<int> holds_spent{};  // their new usage is in `added`
    std::vector<int> claimed{};
  };

  Entry nominate(int workload, const QuotaState& quota) const;
  Entry propose(const Question& question, const QuotaState& seen) const;
  Entry propose_counts(const Question& question, const QuotaState& seen) const;
  std::vector<Entry> keepers_beside(const std::vector<int>& heads) const;
  QuotaState quota_in(const Course& course, int workload) const;
  Charge kept_quota(const Entry& entry, const QuotaState& quota) const;
  bool goes_first(const Entry& a, const Entry& b) const;
  std::size_t next_of(const std::vector<Entry>& entries, const Course& course) const;
  Decision process(Entry entry, Course& course) const;
  bool comes_around(const Entry& entry) const;
  bool fits(const Entry& entry, const Course& course) const;
  void reject(const Decision& decision);
  void carry_out(const std::vector<Decision>& decisions);
  void admit(const Decision& decision);
  void preempt(const Decision& decision);
  void make_sticky(int workload);
  void flush(int queue);
  int root_of(int queue) const;
  bool is_active(int queue) const;
  std::vector<int> in_order(int queue) const;
  bool may_be_passed_over(int workload) const;

  State state_;
  std::map<int, Assignment> keepers_{};  // blocked StrictFIFO heads whose quota is kept
};

}  // namespace muster::sim::reference
