// Finds victims so that shares become fairer (spec/admission.md §5.5). Lives for one decision; its destructor leaves
// the model as it was.
#pragma once

#include "framework/preemption/victim_set.h"
#include "plugins/fair_preemption/target_queues.h"

#include <functional>
#include <vector>

namespace muster::plugins {

// When a preemptor's side may take from another: P is its share with what is incoming, T the other's.
enum class FairStrategy {
  kLessThanOrEqualToFinalShare,  // P <= T once the victim has left
  kLessThanInitialShare,         // P < T as it is
};

struct FairRules {
  std::vector<FairStrategy> strategies = {FairStrategy::kLessThanOrEqualToFinalShare,
                                          FairStrategy::kLessThanInitialShare};
  bool reclaim_within_nominal = true;  // gate FairSharingPreemptWithinNominal
};

class FairSearch {
 public:
  // `fits`: would the preemptor be admitted, with the model as it stands? Monotone. Borrows everything.
  FairSearch(framework::Transaction& transaction, const framework::Preemptor& preemptor, const FairRules& rules,
             std::function<bool()> fits)
      : transaction_(transaction), preemptor_(preemptor), rules_(rules), fits_(std::move(fits)) {}

  // The victims are removed from the model until this object dies. False: there is no set of victims.
  // O(candidates · (depth + children on the way down)), plus O(log candidates + victims) questions to `fits`.
  bool run();

  const std::vector<const FairCandidate*>& victims() const { return victims_.all(); }

 private:
  using NodeIndex = framework::QuotaTree::NodeIndex;

  // Where the ways of preemptor and target to the root part.
  struct Fork {
    NodeIndex preemptor = 0;
    NodeIndex target = 0;
  };

  void collect();
  bool first_strategy();
  bool second_strategy();
  void ask(TargetQueues& targets, TargetQueues::Target& target);
  void ask_by_share(TargetQueues& targets, TargetQueues::Target& target);
  void preempt(FairCandidate& candidate, std::string_view reason);
  bool fits_without_incoming();
  Fork fork_with(NodeIndex target) const;

  const framework::QuotaTree& quota() const { return transaction_.model().quota(); }

  framework::Transaction& transaction_;
  const framework::Preemptor& preemptor_;
  const FairRules& rules_;
  std::function<bool()> fits_;
  std::vector<FairCandidate> candidates_{};
  std::vector<FairCandidate*> retry_{};
  framework::VictimSet<FairCandidate> victims_{transaction_};
};

}  // namespace muster::plugins
