// Candidates of spec/admission.md §5.2 and the classical preemption search of §5.3, word for word, without any short cut.
#pragma once

#include "sim/reference/state.h"

#include <string>
#include <vector>

namespace muster::sim::reference {

struct Victim {
  int workload = 0;
  std::string reason{};
  friend auto operator<=>(const Victim&, const Victim&) = default;
};

struct Preemptor {
  int workload = 0;
  Usage usage{};  // all it asks for
  FrSet need{};   // where something is lacking
};

// Who has to go, on this quota; empty: nobody's leaving helps. `quota` may lack charges of workloads that are removed
// already: they are no candidates.
std::vector<Victim> find_victims(const State& state, const QuotaState& quota, const Preemptor& preemptor);

std::vector<int> workloads_of(const std::vector<Victim>& victims);

// May this one be taken, by the policy of the preemptor's ClusterQueue?
bool yields(const State& state, int preemptor, int workload);
// Who of two candidates goes first, for a preemptor of this ClusterQueue.
bool yields_before(const State& state, int queue, int a, int b);

// What a set of victims must be: with all of them gone the preemptor fits, with any one put back it does not, in one of
// the two senses of `fits` (with or without borrowing).
bool is_minimal(const State& state, const QuotaState& quota, const Preemptor& preemptor,
                const std::vector<Victim>& victims);

}  // namespace muster::sim::reference
