// One scheduling cycle of spec/admission.md §4 over given heads, and what becomes of a Workload outside cycles. Which
// heads are tried when is the core's choice (classes woken by events, design.md §4); `Reference` says whether it was
// allowed to choose so (`check_heads`) and whether it may rest (`unfinished`).
//
// Where Muster differs from Kueue on purpose:
//  - what a preemption frees is held for the preemptor: its usage counts in every cycle, not only in its own, until it
//    is admitted or no longer preempts (decision 0006);
//  - a preemptor that waits for victims is not tried again before something it may need has changed;
//  - whoever is admitted needs room that is free now, not room that the victims of an earlier entry will give up;
//  - a request of nothing asks for nothing (see Usage).
#pragma once

#include "sim/reference/assign.h"
#include "sim/reference/state.h"

#include <string>
#include <vector>

namespace muster::sim::reference {

enum class Outcome : std::uint8_t { kAdmitted, kPreempting, kSkipped, kParked };

struct Decision {
  int workload = 0;
  Outcome outcome = Outcome::kParked;
  Assignment assignment{};
  std::vector<Victim> victims{};  // those evicted already included
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
  };

  // The cycle while it runs: what it has given away so far.
  struct Course {
    std::vector<Charge> added{};
    std::vector<int> holds_spent{};  // their new usage is in `added`
    std::vector<int> claimed{};
  };

  Entry nominate(int workload, const QuotaState& quota) const;
  bool goes_first(const Entry& a, const Entry& b) const;
  Decision process(Entry entry, Course& course) const;
  bool refresh(Entry& entry, const QuotaState& quota, const Course& course) const;
  void reject(const Decision& decision);
  void carry_out(const Decision& decision);
  void admit(const Decision& decision);
  void preempt(const Decision& decision);
  void make_sticky(int workload);
  void flush(int queue);
  int root_of(int queue) const;
  bool is_active(int queue) const;
  std::vector<int> in_order(int queue) const;
  bool may_be_passed_over(int workload) const;

  State state_;
};

}  // namespace muster::sim::reference
