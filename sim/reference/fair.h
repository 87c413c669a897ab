// Fair sharing of spec/admission.md §4.3, §5.4 and §5.5: dominant resource shares as fractions, compared by cross
// product; the tournament among the heads of a tree; the choice of victims by shares.
#pragma once

#include "sim/reference/preempt.h"
#include "sim/reference/state.h"

#include <optional>
#include <vector>

namespace muster::sim::reference {

struct Share {
  Big borrowed = 0;  // of the dominant resource
  Big lendable = 1;
  Units weight = 1000;   // thousandths
  bool borrows = false;  // anything at all

  bool infinite() const { return borrowed > 0 && weight == 0; }
};

// Less than 0: `a` is smaller; 0: equal.
int compare(const Share& a, const Share& b);
Share share_of(const QuotaState& quota, int node);

struct Contestant {
  int workload = 0;
  Usage usage{};  // what it would be charged with
};

// Which of them goes next, on this quota. Trees are emptied one after the other, by the name of the root.
std::size_t next_by_share(const State& state, const QuotaState& quota, const std::vector<Contestant>& all);

// As find_victims.
std::vector<Victim> find_victims_by_share(const State& state, const QuotaState& quota, const Preemptor& preemptor);

}  // namespace muster::sim::reference
